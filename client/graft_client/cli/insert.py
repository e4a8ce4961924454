"""`graft insert`: saving one note, or many from lines of JSON."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import click

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.batch import read_notes
from graft_client.cli.inputs import STDIN, TIME, complete_file, read_text
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import ProgressLine, printable
from graft_client.cli.saved import say_pending, write_saved
from graft_client.cli.secrets_asked import FoundSecrets, secrets_options
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import model_shown
from graft_client.cli.words import count_of
from graft_client.errors import GraftError, InputError
from graft_client.limits import BODY_BYTES_MAX
from graft_client.requests import NewNote, SecretsWish, parse_source
from graft_client.results import KINDS, Inserted, Kind


@click.command(cls=GraftCommand)
@click.option("--title", help="What the note is about, one line.")
@click.option("--body", help="The note itself, Markdown.")
@click.option(
    "--body-file",
    metavar="FILE",
    shell_complete=complete_file,
    help="File to read the body from; - is stdin.",
)
@click.option("--keyword", "keywords", multiple=True, help="A keyword; may be given again.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="KIND:LOCATOR",
    help="Where it comes from (file, url, commit, test, conversation, manual); may be given again.",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default=KINDS[0],
    show_default=True,
    help="What it tells; a dead-end was tried and does not work.",
)
@click.option("--valid-from", type=TIME, metavar="TIME", help="True from this instant.")
@click.option("--valid-to", type=TIME, metavar="TIME", help="True until just before this instant.")
@click.option("--expires-at", type=TIME, metavar="TIME", help="Not shown from this instant on.")
@click.option(
    "--applies-to",
    multiple=True,
    metavar="SPEC",
    help="What it applies to, such as pypi:django>=4.2,<5, npm:react@^18, tool:git>=2.39 or"
    " os:linux|macos; may be given again.",
)
@click.option(
    "--supersedes",
    metavar="ID",
    default="",
    help="The note that it replaces, in the same step; it is saved to that one's scope.",
)
@click.option(
    "--restore", is_flag=True, help="Where a retired note says the same, bring that back."
)
@click.option(
    "--candidate",
    is_flag=True,
    help="Nobody has looked at it: at most a WEAK answer until a reviewer approves; with --jsonl"
    " all of them.",
)
@click.option("--reason", default="", help="Why it replaces the other, or comes back.")
@click.option("--author", help="Who writes it.  [env: GRAFT_AUTHOR]")
@click.option("--wait", is_flag=True, help="Wait until every passage is embedded.")
@click.option(
    "--jsonl",
    metavar="FILE",
    shell_complete=complete_file,
    help="Save many notes instead: a file with one JSON object a line; - is stdin.",
)
@secrets_options
@as_reviewer_option
@with_session
def insert(
    session: Session,
    /,
    *,
    wait: bool,
    jsonl: str | None,
    secrets: SecretsWish,
    as_reviewer: bool,
    **options: Any,
) -> None:
    """Save a note.

    Times are RFC 3339 with an offset, such as 2026-01-31T09:30:00+09:00.

    \b
    Example:
        graft insert --title "CI needs Node 20" --body "Node 18 lacks fetch." --keyword ci
    """
    session.refuse_all_scopes()
    if jsonl is None:
        note = _note(**options)
        with acting(session, as_reviewer=as_reviewer) as graft, model_shown(session):
            inserted = graft.insert_note(note, wait=wait, secrets=secrets)
        write_saved(session.output, inserted, secrets)
        return
    if any(options[name] for name in options if name not in {"kind", "candidate"}):
        raise InputError("--jsonl takes everything from its lines; leave the other options out")
    with (
        _opened(jsonl) as file,
        acting(session, as_reviewer=as_reviewer) as graft,
        model_shown(session),
    ):
        notes = read_notes(file)
        if options["candidate"]:
            notes = (replace(note, candidate=True) for note in notes)
        batches = graft.insert_batches(notes, wait=wait, secrets=secrets)
        _insert_lines(session, batches, FoundSecrets(secrets))


def _note(
    *,
    title: str | None,
    body: str | None,
    body_file: str | None,
    kind: Kind,
    sources: tuple[str, ...],
    reason: str,
    **rest: Any,
) -> NewNote:
    if title is None:
        raise InputError("a note needs a title; give it with --title, or many notes with --jsonl")
    if body is not None and body_file is not None:
        raise InputError("--body and --body-file cannot both be meant; leave one out")
    if body_file is not None:
        body = read_text("body", body_file, BODY_BYTES_MAX)
    return NewNote(
        title=title,
        body=body or "",
        kind=kind,
        sources=[parse_source(each) for each in sources],
        author=rest.pop("author") or "",
        reason=reason or _reason(**rest),
        **rest,
    )


def _reason(*, supersedes: str, restore: bool, **_: Any) -> str:
    """Say what the command itself knows of why a note is replaced or comes back."""
    if supersedes:
        return "replaced by a new note"
    return "saved again" if restore else ""


def _insert_lines(
    session: Session, batches: Iterator[tuple[Inserted, ...]], found: FoundSecrets
) -> None:
    stored = duplicates = answers = pending = 0
    scopes: dict[str, None] = {}
    line = ProgressLine(session.output)
    try:
        for batch in batches:
            for inserted in batch:
                if session.output.as_json:
                    session.output.record(inserted)
                scopes[inserted.scope] = None
                found.add(inserted)
                duplicates += inserted.duplicate
                answers += inserted.answers
                pending += inserted.pending
            stored += len(batch)
            line.draw(f"graft: {count_of(stored, 'note')} saved")
    except GraftError as error:
        if stored:
            error.message += f" ({count_of(stored, 'note')} of the lines before are saved)"
            error.details["saved"] = str(stored)
        raise
    finally:
        line.clear()
        found.say(session.output)
    if not session.output.as_json:
        where = f" to {printable(', '.join(scopes))}" if scopes else ""
        there = f", {duplicates:,} of them there already" if duplicates else ""
        session.output.line(f"saved {count_of(stored, 'note')}{where}{there}")
        if answers:
            session.output.line(f"  answers {count_of(answers, 'earlier question')} (graft misses)")
        say_pending(session.output, pending)


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if source == STDIN:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(source).open("rb"))
        except OSError as error:
            raise InputError(f"{source} cannot be read: {error.strerror}") from error
        yield file
