"""`graft verify`: by what a note was checked."""

import os
import sys

import click

from graft_client.authority import Oracle
from graft_client.cli.as_reviewer import reviewer_of
from graft_client.cli.options import GraftCommand
from graft_client.cli.session import Session, with_session
from graft_client.errors import InputError
from graft_client.oracles import CheckFailedError, commit_that_touches, run_command
from graft_client.results import Changed, short_id


@click.command(cls=GraftCommand)
@click.argument("note_id", metavar="ID")
@click.option("--commit", metavar="SHA", help="A commit here that touches one of its files.")
@click.option("--run", "command", metavar="COMMAND", help="A command that must end with 0.")
@click.option("--reason", default="", help="Why; kept in the log.")
@with_session
def verify(
    session: Session, note_id: str, commit: str | None, command: str | None, reason: str
) -> None:
    """Say by what a note was checked.

    With neither --commit nor --run the reviewer vouches for it: the passphrase is asked for on
    the terminal, and from then on no agent can take the note away. A commit or a command is what
    its caller claims: it is shown as such, and protects nothing. The command is run here; its exit
    code and the digest of what it prints are recorded.

    \b
    Example:
        graft verify 1f3a9c04 --run "make test"
    """
    if commit is not None and command is not None:
        raise InputError("--commit and --run cannot both be meant; leave one out")
    if commit is None and command is None:
        with reviewer_of(session) as graft:
            changed = graft.verify(
                note_id, Oracle(kind="reviewer"), reason=reason or "checked by the reviewer"
            )
        _write(session, changed, "by the reviewer: an agent can only propose to change it")
        return
    note = session.graft.get(note_id)
    directory = session.configuration.directory
    if commit is not None:
        files = [each.locator for each in note.sources if each.kind == "file"]
        found = commit_that_touches(directory, commit, files)
        oracle = Oracle(kind="commit", commit=found)
        how = f"by commit {found[:12]}, as claimed"
    else:
        assert command is not None, "one of the two was given"
        run = run_command(command, directory, lambda piece: _show(session, piece))
        if run.exit_code != 0:
            raise CheckFailedError(
                f"the command ended with {run.exit_code}, so nothing was verified; where that "
                f"speaks against the note: graft dispute {short_id(note.id)}"
            )
        oracle = Oracle(kind="run", command=command, output_digest=run.output_digest)
        how = "by a command that ended with 0, as claimed"
    changed = session.graft.verify(note.id, oracle, reason=reason or how)
    _write(session, changed, how)


def _show(session: Session, piece: bytes) -> None:
    """Pass on what the command prints: talk, since data is what we print."""
    if not session.output.quiet:
        sys.stderr.flush()
        os.write(sys.stderr.fileno(), piece)


def _write(session: Session, changed: Changed, how: str) -> None:
    output = session.output
    if output.as_json:
        output.record(changed)
        return
    output.line(f"verified {short_id(changed.id)} {how}")
    output.say(f"graft: event {changed.event}; graft undo {changed.event} takes it back")
