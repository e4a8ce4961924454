"""`graft reviewer`: who may decide in this home."""

import click

from graft_client.cli.keyboard import ask_passphrase
from graft_client.cli.options import GraftGroup
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, full_time
from graft_client.errors import InputError


@click.group(cls=GraftGroup)
def reviewer() -> None:
    """Set up who decides: whoever knows one passphrase.

    \b
    Example:
        graft reviewer init
    """


@reviewer.command()
@with_session
def init(session: Session) -> None:
    """Set the reviewer's passphrase; where there is one, the old one is asked for first.

    It is typed twice on the terminal, and cannot come from anywhere else. It holds for every
    profile of the home, which keeps a salted hash of it in audit/reviewer.json.

    \b
    Example:
        graft reviewer init
    """
    graft = session.graft
    old = ask_passphrase("Present passphrase: ") if graft.reviewer().exists else ""
    passphrase = ask_passphrase("New passphrase (8 characters or more): ")
    if ask_passphrase("The same again: ") != passphrase:
        raise InputError("the two differ; nothing was changed")
    status = graft.set_reviewer(passphrase, old=old)
    if session.output.as_json:
        session.output.record(status)
        return
    session.output.line(f"the reviewer's passphrase is set (event {status.event})")
    session.output.say("graft: nobody can tell it to you again; graft review asks for it")


@reviewer.command()
@with_session
def status(session: Session) -> None:
    """Show whether a reviewer has been set up, and wrong passphrases since the last right one.

    \b
    Example:
        graft reviewer status
    """
    found = session.graft.reviewer()
    output = session.output
    if output.as_json:
        output.record(found)
        return
    if found.since is None:
        output.line("no reviewer has been set up; do it with: graft reviewer init")
        return
    output.line(f"set up {full_time(found.since)} (event {found.event} of {found.profile})")
    if found.failures:
        output.line(f"{count_of(found.failures, 'wrong passphrase')} since the last right one")
    if found.problem:
        output.line(found.problem, fg="red")
