"""`graft get`, `list`, `delete` and `stats`: the notes that are there."""

from datetime import datetime
from itertools import islice

import click

from graft_client.cli.as_reviewer import acting
from graft_client.cli.bulk_delete import Bulk, delete_by_keyword
from graft_client.cli.inputs import TIME, confirm, looking_back
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import printable
from graft_client.cli.rendered import markdown_of
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import (
    day_and_time,
    size,
    talk_given_to,
    talk_notices,
    used,
    where_searched,
    write_fact,
    write_facts,
)
from graft_client.requests import AsOfFields
from graft_client.results import STATES, Note, State, short_id

_OUTCOMES = {
    "erased": "erased {id}: its text is gone from the file",
    "erasing": "erased {id}; cleaning the file goes on in the background (graft status counts it)",
    "retired": "retired {id}: hidden from every search until a reviewer decides",
}


@click.command(cls=GraftCommand)
@click.argument("note_id", metavar="ID")
@click.option("--markdown", is_flag=True, help="Print title and body alone, as Markdown.")
@looking_back
@with_session
def get(session: Session, note_id: str, markdown: bool, instants: AsOfFields) -> None:
    """Show one note by its id.

    ID is the whole id, or 8 or more of its first or last digits.

    \b
    Example:
        graft get 1f3a9c04
    """
    note = session.graft.get(note_id, **instants)
    output = session.output
    if output.as_json:
        output.record(note)
    elif markdown:
        output.text(markdown_of(note))
    else:
        output.quote(note.title, bold=True)
        write_facts(output, note)
        write_fact(output, "used", used(note.uses))
        if note.body:
            output.line()
            output.quote(note.body)
    talk_notices(output, note.notices)


@click.command("list", cls=GraftCommand)
@click.option("--keyword", "keywords", multiple=True, help="Only notes with this keyword.")
@click.option(
    "--state",
    type=click.Choice(STATES),
    default=STATES[0],
    show_default=True,
    help="Only notes in this state.",
)
@click.option("--since", type=TIME, metavar="TIME", help="Only notes saved at TIME or later.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Notes to show at most; 0: all.",
)
@looking_back
@with_session
def list_notes(
    session: Session,
    keywords: tuple[str, ...],
    state: State,
    since: datetime | None,
    limit: int,
    instants: AsOfFields,
) -> None:
    """List notes, newest first.

    \b
    Example:
        graft list --keyword ci --since 2026-01-01T00:00:00Z
    """
    notes = session.graft.list(
        keywords=keywords, state=state, since=since, scope=session.read_scope, **instants
    )
    shown = islice(notes, limit) if limit else notes
    if session.output.as_json:
        for note in shown:
            session.output.record(note)
        return
    session.output.table(
        ("id", "saved", "scope", "title", "applies to"), (_row(note) for note in shown)
    )


@click.command(cls=GraftCommand)
@click.argument("note_id", metavar="ID", required=False, default="")
@click.option(
    "--keyword", "keywords", multiple=True, help="Instead of ID: active notes with this keyword."
)
@click.option("--reason", required=True, help="Why; kept in the log.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted and do nothing.")
@with_session
def delete(
    session: Session,
    note_id: str,
    keywords: tuple[str, ...],
    reason: str,
    yes: bool,
    dry_run: bool,
) -> None:
    """Erase a note, or all that carry a keyword. This cannot be undone.

    Its text, vectors and words go; the log keeps that it was there and why it was erased. With
    --keyword, several of which must all be carried, the notes of one scope go: that of --scope,
    else the working directory's project and user; how many there are is shown before. Where a
    reviewer has been set up, the passphrase is asked for on the terminal.

    \b
    Example:
        graft delete 1f3a9c04 --reason "holds a password" --yes
    """
    if bool(note_id) == bool(keywords):
        raise click.UsageError("name either the ID of a note or --keyword, and not both")
    if keywords:
        delete_by_keyword(session, keywords, Bulk(reason=reason, yes=yes, dry_run=dry_run))
        return
    output = session.output
    note = session.graft.get(note_id)
    if dry_run:
        if output.as_json:
            output.record(
                {"id": note.id, "title": note.title, "scope": note.scope, "dry_run": True}
            )
        else:
            output.line(f"would delete {_title(note)}")
        return
    if not yes:
        confirm(output, verb="delete", what=_title(note))
    # Where there is a reviewer, nobody else erases.
    with acting(session, as_reviewer=session.graft.reviewer().exists) as graft:
        deleted = graft.delete(note.id, reason=reason)
    if output.as_json:
        output.record(deleted)
    else:
        output.line(_OUTCOMES[deleted.outcome].format(id=short_id(deleted.id)))
        talk_given_to(output, deleted.given_to)


@click.command(cls=GraftCommand)
@with_session
def stats(session: Session) -> None:
    """Count what the profile holds.

    \b
    Example:
        graft stats --all-scopes
    """
    counts = session.graft.stats(scope=session.read_scope)
    output = session.output
    if output.as_json:
        output.record(counts)
        return
    rows = [
        ("notes", f"{counts.notes:,}"),
        *((f"  {scope}", f"{notes:,}") for scope, notes in counts.scopes.items()),
        ("not active", f"{counts.inactive_notes:,}"),
        ("keywords", f"{counts.keywords:,}"),
        ("vectors", f"{counts.vectors:,}"),
        ("still to embed", f"{counts.pending:,}"),
        ("events", f"{counts.events:,}"),
        ("size", size(counts.file_bytes)),
        ("model", counts.model or "none yet"),
    ]
    output.table(("what", "how many"), rows)
    if counts.notes_elsewhere:
        output.say(f"graft: {where_searched(tuple(counts.scopes), counts.notes_elsewhere)}")


def _row(note: Note) -> tuple[str, ...]:
    saved = day_and_time(note.recorded_at)
    return (short_id(note.id), saved, note.scope, note.title, ", ".join(note.applies_to))


def _title(note: Note) -> str:
    return f'{short_id(note.id)} "{printable(note.title)}" in {printable(note.scope)}'
