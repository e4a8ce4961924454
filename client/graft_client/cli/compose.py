"""`graft note` and `graft edit`: notes that are written in an editor."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import click

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.drafts import NothingSavedError, kept, last_draft, new_draft
from graft_client.cli.foreground import edit as edit_file
from graft_client.cli.inputs import complete_file
from graft_client.cli.options import GraftCommand
from graft_client.cli.saved import write_saved
from graft_client.cli.secrets_asked import secrets_options
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import model_shown
from graft_client.errors import GraftError, InputError
from graft_client.history import GotNote
from graft_client.requests import NewNote, SecretsWish
from graft_client.results import short_id

TEMPLATE = """\
---
title:
keywords:
sources:
-
# title: one line, what the note is about. keywords: with commas between.
# sources: one a line, such as - file:src/app.py or - url:https://example.org/page
# More, if need be: kind: dead-end, scope, author, applies_to, valid_from, valid_to, expires_at.
# The note goes below the next ---, as Markdown. Left as it is, nothing is saved.
---

"""
_REMARKS = (
    "What you change becomes a new note, which supersedes this one; left as it is, it stays.",
)
_REASON = "replaced by a new note"


class _How(TypedDict):
    """How a note is saved that was written."""

    wait: bool
    as_reviewer: bool
    secrets: SecretsWish


@click.command(cls=GraftCommand)
@click.option(
    "--resume",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    shell_complete=complete_file,
    help="Go on with a draft that was kept: FILE, else the last one.",
)
@click.option("--wait", is_flag=True, help="Wait until every passage is embedded.")
@secrets_options
@as_reviewer_option
@with_session
def note(session: Session, /, *, resume: str | None, **how: Unpack[_How]) -> None:
    """Write a note in an editor and save it.

    The editor is $VISUAL, else $EDITOR; one with windows of its own must wait until the file is
    closed (code --wait). A note that cannot be saved stays as a draft, in the home, until it is.

    \b
    Example:
        EDITOR=vi graft note
    """
    session.refuse_all_scopes()
    with _edited(session, _draft(session, resume), fresh=resume is None) as written:
        if not (written.title or written.body or written.keywords or written.sources):
            raise NothingSavedError("nothing was saved: the draft was left empty")
        _save(session, written, **how)


@click.command(cls=GraftCommand)
@click.argument("note_id", metavar="ID")
@click.option("--reason", default="", help="Why; kept in the log.  [asked for on a terminal]")
@click.option("--wait", is_flag=True, help="Wait until every passage is embedded.")
@secrets_options
@as_reviewer_option
@with_session
def edit(session: Session, /, *, note_id: str, reason: str, **how: Unpack[_How]) -> None:
    """Change a note in an editor: saves a new note, which supersedes it.

    All that is known of the old one is there to be changed as well. Keywords and times alone are
    changed with graft set.

    \b
    Example:
        graft edit 1f3a9c04 --reason "the port was moved"
    """
    session.refuse_all_scopes()
    old = session.graft.get(note_id)
    _refuse_hidden(old)
    text = _draft_of(old, reason)
    before = _read(text)
    draft = new_draft(session.home, text)
    with _edited(session, draft, fresh=True) as written:
        if replace(written, reason="") == replace(before, reason=""):
            raise NothingSavedError("nothing was saved: the note was left as it is")
        if _said(written) == _said(before) and written.supersedes == before.supersedes:
            raise InputError(
                "title, text and kind are what they were, so it is the same note; change its"
                f" keywords and times with: graft set {short_id(old.id)}"
            )
        _save(session, written, **how)


def _draft(session: Session, resume: str | None) -> Path:
    if resume is None:
        return new_draft(session.home, TEMPLATE)
    draft = Path(resume) if resume else last_draft(session.home)
    if not draft.is_file():
        raise InputError(f"there is no file {draft} to go on with")
    return draft


@contextmanager
def _edited(session: Session, draft: Path, *, fresh: bool) -> Iterator[NewNote]:
    """Lend what a person made of a draft, which is kept where the block fails."""
    # The same that the command does with files, and with it PyYAML.
    from graft_client.markdown.files import read_text  # noqa: PLC0415

    with kept(session.home, draft, session.output, fresh=fresh):
        edit_file(draft, session.environ)
        yield _read(read_text(draft))


def _read(text: str) -> NewNote:
    from graft_client.markdown.note_text import read_note  # noqa: PLC0415

    return read_note(text, "", draft=True).note


def _draft_of(old: GotNote, reason: str) -> str:
    from graft_client.markdown.front_matter import join  # noqa: PLC0415
    from graft_client.markdown.note_text import head_of  # noqa: PLC0415

    head = head_of(old) | {"supersedes": old.id, "reason": reason}
    return join(head, old.body or "", remarks=_REMARKS)


def _refuse_hidden(old: GotNote) -> None:
    """Say so before somebody writes what cannot be saved."""
    name = short_id(old.id)
    if old.superseded_by:
        head = short_id(old.superseded_by)
        raise GraftError(f"{name} was superseded by {head}; change that one: graft edit {head}")
    if old.state != "active":
        raise GraftError(f"{name} is {old.state}; bring it back first: graft restore {name}")


def _said(written: NewNote) -> tuple[str, str, str]:
    return written.title, written.body, written.kind


def _save(session: Session, written: NewNote, **how: Unpack[_How]) -> None:
    if not written.title:
        raise InputError("the note has no title; write one behind title:, or a heading above it")
    if written.supersedes and not written.reason:
        written = replace(written, reason=_ask_reason(session))
    with acting(session, as_reviewer=how["as_reviewer"]) as graft, model_shown(session):
        inserted = graft.insert_note(written, wait=how["wait"], secrets=how["secrets"])
    write_saved(session.output, inserted, how["secrets"])
    if inserted.recalled:
        raise GraftError("it was not saved")


def _ask_reason(session: Session) -> str:
    if session.output.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return _REASON
    return str(click.prompt("Why? It is kept in the log", default=_REASON, err=True))
