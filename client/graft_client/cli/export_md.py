"""`graft export-md`: notes as Markdown files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graft_client.cli.exits import REFUSED
from graft_client.cli.file_report import FileReport
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.results import Note

if TYPE_CHECKING:
    from graft_client.markdown.folder import Folder

_KEPT = "something else wrote it, or it was changed since; --force overwrites it"


@click.command("export-md", cls=GraftCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--keyword", "keywords", multiple=True, help="Only notes with this keyword.")
@click.option(
    "--force", is_flag=True, help="Overwrite files that graft did not write, or that were changed."
)
@click.option(
    "--prune",
    is_flag=True,
    help="Remove the unchanged files of earlier exports whose notes are not exported now.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done and do nothing.")
@with_session
def export_md(
    session: Session,
    /,
    *,
    folder: Path,
    keywords: tuple[str, ...],
    force: bool,
    prune: bool,
    dry_run: bool,
) -> None:
    """Write notes to DIR, each as a Markdown file with its title and the like as front matter.

    The notes are those that graft list shows: of the directory's project and user, of --scope, or
    of --all-scopes. A file is named by its note's title and by what it says, and stays the same
    until the note changes; one that was changed since it was written is kept, and named. The files
    are yours alone (mode 0600). graft import-md reads them back.

    \b
    Example:
        graft export-md notes --all-scopes
    """
    # PyYAML and the Markdown parser, which no other command needs.
    from graft_client.markdown.folder import Folder  # noqa: PLC0415

    found = _notes(session, keywords)
    total = 0 if keywords else session.graft.stats(scope=session.read_scope).notes
    place = Folder(folder) if dry_run else Folder.make(folder)
    report = FileReport(session.output, doing="exporting", total=total)
    try:
        _write(place, report, found, force=force, dry_run=dry_run)
        _settle(session, place, report, prune=prune, dry_run=dry_run)
    finally:
        report.end()
        if not dry_run:
            place.remember()
    if report.outcomes["kept"]:
        session.context.exit(REFUSED)


def _notes(session: Session, keywords: tuple[str, ...]) -> Iterator[Note]:
    return session.graft.list(keywords=keywords, scope=session.read_scope, bodies=True)


def _write(
    place: "Folder", report: FileReport, notes: Iterator[Note], *, force: bool, dry_run: bool
) -> None:
    from graft_client.markdown.names import Names  # noqa: PLC0415
    from graft_client.markdown.note_text import write_note  # noqa: PLC0415

    names = Names()
    for note in notes:
        name = names.give(note)
        content = write_note(note).encode()
        outcome = place.put(name, content, force=force, dry_run=dry_run)
        told = {"id": note.id, "title": note.title, "scope": note.scope, "dry_run": dry_run}
        report.tell(name, outcome, _KEPT if outcome == "kept" else "", **told)


def _settle(
    session: Session, place: "Folder", report: FileReport, *, prune: bool, dry_run: bool
) -> None:
    """See to the files of earlier exports whose notes are not among those of now."""
    left = place.left()
    if not prune:
        if left:
            session.output.say(
                f"graft: {count_of(len(left), 'file')} of earlier exports hold what is not exported"
                f" now, such as {printable(left[0])}; --prune removes them"
            )
        return
    for name in left:
        outcome = place.prune(name, dry_run=dry_run)
        report.tell(name, outcome, _KEPT if outcome == "kept" else "", dry_run=dry_run)
