"""`graft sources`: what notes rest on, and whether that is still as it was."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.options import GraftCommand, GraftGroup
from graft_client.cli.output import Output
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, day_and_time
from graft_client.filing_reports import LookedAtSource
from graft_client.requests import parse_source
from graft_client.results import SOURCE_KINDS, Source, short_id

_NOTE = click.argument("note_id", metavar="[ID]", default="")
_SHOWN_DIGITS = 12


def complete_source(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the kinds of sources."""
    kinds = (f"{kind}:" for kind in SOURCE_KINDS)
    return [CompletionItem(kind) for kind in kinds if kind.startswith(incomplete)]


@click.group(cls=GraftGroup)
def sources() -> None:
    """Show what notes rest on, and whether that is still as it was.

    \b
    Example:
        graft sources diff
    """


@sources.command("list", cls=GraftCommand)
@_NOTE
@with_session
def list_sources(session: Session, note_id: str) -> None:
    """List the sources of a note, or of all notes that searches show.

    \b
    Example:
        graft sources list 1f3a9c04
    """
    found = session.graft.filing.sources(note_id, scope=session.read_scope)
    if session.output.as_json:
        for each in found:
            session.output.record(each)
        return
    session.output.table(
        ("note", "source", "looked at", "fingerprint"),
        (
            (short_id(each.note_id), _named(each.source), _when(each.source), _digits(each.source))
            for each in found
        ),
    )


@sources.command("diff", cls=GraftCommand)
@_NOTE
@with_session
def diff(session: Session, note_id: str) -> None:
    """Look at the files and commits of this project that notes rest on.

    Says which are the same, changed or gone since they were looked at. What has changed or is
    gone waits for the reviewer; graft sources refresh says that the notes hold all the same.

    \b
    Example:
        graft sources diff
    """
    told = session.graft.filing.diff_sources(note_id, scope=session.read_scope)
    _write(session.output, told.sources)
    if told.waiting:
        session.output.say(
            f"graft: {count_of(told.waiting, 'source')} put before the reviewer (graft review list)"
        )


@sources.command("refresh", cls=GraftCommand)
@_NOTE
@click.option(
    "--reason",
    default="the notes hold for the sources as they are",
    show_default=True,
    help="Why; kept in the log.",
)
@as_reviewer_option
@with_session
def refresh(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Take the files and commits of this project as they are for what notes rest on.

    Say so after you have seen that the notes still hold. What they were stays on record.

    \b
    Example:
        graft sources refresh 1f3a9c04 --reason "read the new version"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        done = graft.filing.refresh_sources(note_id, reason=reason, scope=session.read_scope)
    _write(session.output, done.sources)
    for event in done.events:
        session.output.say(f"graft: event {event}")


@sources.command("add", cls=GraftCommand)
@click.argument("note_id", metavar="ID")
@click.argument(
    "named", metavar="KIND:LOCATOR...", nargs=-1, required=True, shell_complete=complete_source
)
@click.option("--reason", default="", help="Why; kept in the log.")
@as_reviewer_option
@with_session
def add(
    session: Session, note_id: str, named: tuple[str, ...], reason: str, as_reviewer: bool
) -> None:
    """Give a note further sources, as they are now.

    Kinds are file, url, commit, test, conversation and manual. A source that the note has gets
    the fingerprint that it has now.

    \b
    Example:
        graft sources add 1f3a9c04 file:src/pool.py commit:4be1c2a
    """
    given = [parse_source(each) for each in named]
    with acting(session, as_reviewer=as_reviewer) as graft:
        added = graft.filing.add_sources(note_id, given, reason=reason)
    if session.output.as_json:
        session.output.record(added)
        return
    session.output.line(
        f"{short_id(added.id)} rests on {count_of(len(added.sources), 'source')}, "
        f"{added.added} of them new"
    )


def _write(output: Output, looked_at: Iterable[LookedAtSource]) -> None:
    if output.as_json:
        for each in looked_at:
            output.record(each)
        return
    output.table(
        ("state", "source", "note", "title"),
        (
            (each.state, _named(each.source), short_id(each.note_id), each.title)
            for each in looked_at
        ),
    )


def _named(source: Source) -> str:
    return f"{source.kind}:{source.locator}"


def _when(source: Source) -> str:
    return day_and_time(source.observed_at) if source.observed_at else ""


def _digits(source: Source) -> str:
    kind, _, digits = source.fingerprint.partition(":")
    return f"{kind}:{digits[:_SHOWN_DIGITS]}" if digits else ""
