"""`graft import-md`: notes from Markdown files."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.exits import REFUSED
from graft_client.cli.file_report import FileReport
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output
from graft_client.cli.saved import say_pending
from graft_client.cli.secrets_asked import FoundSecrets, secrets_options
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import model_shown
from graft_client.cli.words import count_of, where_saved
from graft_client.errors import (
    BadFieldError,
    GraftError,
    InputError,
    NotAllowedError,
    ProposedError,
    WrongStateError,
)
from graft_client.requests import NewNote, SecretsWish
from graft_client.results import Inserted, short_id

if TYPE_CHECKING:
    from graft_client.client import Graft
    from graft_client.markdown.files import MarkdownFile
    from graft_client.markdown.note_text import ReadNote

_OF_THE_NOTE = (BadFieldError, WrongStateError, NotAllowedError, ProposedError, InputError)
"""Refusals that lie with one note; after any other no note could be stored."""

IMPORTED = "imported"


@click.command("import-md", cls=GraftCommand)
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Read the files, show what they hold, save nothing.")
@secrets_options
@as_reviewer_option
@with_session
def import_md(
    session: Session, folder: Path, dry_run: bool, secrets: SecretsWish, as_reviewer: bool
) -> None:
    """Save the Markdown files of DIR and its folders as notes; DIR may be one file.

    Front matter is read as graft export-md writes it; a file without a title there is called by
    its first heading, else by its name, and tags count as keywords. Notes enter as candidates: at
    most a WEAK answer until a reviewer approves. A note is saved to --scope, else to the scope
    that its file names, else to the directory's own. What is there already stays as it is. Hidden
    files and symbolic links are not read. A file that cannot be saved stops none of the others;
    the command then ends with 1.

    \b
    Example:
        graft import-md notes --dry-run
    """
    session.refuse_all_scopes()
    # PyYAML and the Markdown parser, which no other command needs.
    from graft_client.markdown.files import find_files  # noqa: PLC0415

    files = find_files(folder)
    if not files:
        session.output.say(f"graft: there is no Markdown file in {folder}")
        return
    report = FileReport(session.output, doing="importing", total=len(files))
    found = FoundSecrets(secrets)
    readable = _read_all(session, files, report)
    try:
        if dry_run:
            for file, read in readable:
                _tell_read(report, file, read)
        else:
            with acting(session, as_reviewer=as_reviewer) as graft, model_shown(session):
                saving = partial(_save, graft, secrets=secrets, found=found)
                _save_all(session.output, readable, report, saving)
    finally:
        report.end()
        found.say(session.output)
    if report.outcomes["refused"]:
        session.context.exit(REFUSED)


def _read_all(
    session: Session, files: Sequence["MarkdownFile"], report: FileReport
) -> Iterator[tuple["MarkdownFile", "ReadNote"]]:
    """Read the files one by one; those that hold no note are told of and left out."""
    from graft_client.markdown.files import read_text  # noqa: PLC0415
    from graft_client.markdown.note_text import read_note  # noqa: PLC0415

    for file in files:
        try:
            if file.path.is_symlink():
                report.tell(file.name, "skipped", "it is a symbolic link", why="symbolic link")
                continue
            text = read_text(file.path)
            if not text.strip():
                report.tell(file.name, "skipped", "it is empty", why="empty")
                continue
            read = read_note(text, file.path.stem)
        except GraftError as error:
            _tell_refused(report, file, error)
            continue
        scope = session.chosen_scope or read.note.scope
        yield file, replace(read, note=replace(read.note, scope=scope, candidate=True))


def _save_all(
    output: Output,
    readable: Iterator[tuple["MarkdownFile", "ReadNote"]],
    report: FileReport,
    saving: Callable[[Sequence[NewNote]], Iterator[Inserted | GraftError]],
) -> None:
    # gRPC, which a dry run does without.
    from graft_client.calls import batches  # noqa: PLC0415

    waiting: deque[tuple[MarkdownFile, ReadNote]] = deque()
    pending = 0

    def notes() -> Iterator[NewNote]:
        for file, read in readable:
            waiting.append((file, read))
            yield read.note

    try:
        for batch in batches(notes()):
            for became in saving(batch):
                file, read = waiting.popleft()
                if isinstance(became, Inserted):
                    pending += became.pending
                    _tell_saved(report, file, read, became)
                else:
                    _tell_refused(report, file, became)
    except GraftError as error:
        saved = report.outcomes[IMPORTED]
        error.message += f" ({count_of(saved, 'note')} of the files before are saved)"
        error.details["saved"] = str(saved)
        raise
    say_pending(output, pending)
    if report.outcomes[IMPORTED]:
        output.say("graft: what was imported is at most a WEAK answer until a reviewer approves")


def _save(
    graft: "Graft", batch: Sequence[NewNote], secrets: SecretsWish, found: FoundSecrets
) -> Iterator[Inserted | GraftError]:
    """Save *batch* in one step, or note by note where one of them is refused."""
    try:
        for inserted in graft.insert_many(batch, secrets=secrets):
            found.add(inserted)
            yield inserted
    except _OF_THE_NOTE:
        for note in batch:
            try:
                inserted = graft.insert_note(note, secrets=secrets)
                found.add(inserted)
                yield inserted
            except _OF_THE_NOTE as error:
                yield error


def _tell_saved(
    report: FileReport, file: "MarkdownFile", read: "ReadNote", inserted: Inserted
) -> None:
    name = short_id(inserted.id)
    if inserted.recalled:
        outcome, words = "recalled", f"a piece of {name}, which this session was given"
    elif inserted.duplicate:
        outcome, words = "duplicate", f"{name} in {inserted.scope}"
    elif inserted.trust == "held":
        outcome, words = "held", f"{name}: its words are those of a rejected note"
    else:
        outcome, words = IMPORTED, f"{name} to {where_saved(inserted.scope)}"
    report.tell(
        file.name,
        outcome,
        words + _passed_over(read),
        id=inserted.id,
        title=read.note.title,
        scope=inserted.scope,
        trust=inserted.trust,
        event=inserted.event,
        findings=inserted.findings,
        findings_more=inserted.findings_more,
        passed_over=read.passed_over,
    )


def _tell_read(report: FileReport, file: "MarkdownFile", read: "ReadNote") -> None:
    title, scope = read.note.title, read.note.scope
    words = f'"{title}"' + (f" in {scope}" if scope else "") + _passed_over(read)
    report.tell(
        file.name,
        "readable",
        words,
        title=title,
        scope=scope or None,
        passed_over=read.passed_over,
        dry_run=True,
    )


def _tell_refused(report: FileReport, file: "MarkdownFile", error: GraftError) -> None:
    told = {"reason": error.reason, "message": error.message, "details": error.details}
    report.tell(file.name, "refused", error.message, **told)


def _passed_over(read: "ReadNote") -> str:
    return f"; passed over: {', '.join(read.passed_over)}" if read.passed_over else ""
