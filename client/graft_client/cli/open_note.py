"""`graft open`: a note in a pager."""

import shutil

import click

from graft_client.cli.foreground import page, words_of
from graft_client.cli.options import GraftCommand
from graft_client.cli.rendered import markdown_of, render
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import talk_notices
from graft_client.results import Note

LESS = "FRX"
"""How less is called where nobody says: end where all is on one screen, keep colours."""


@click.command("open", cls=GraftCommand)
@click.argument("note_id", metavar="ID")
@with_session
def open_note(session: Session, note_id: str) -> None:
    """Show one note in a pager, its Markdown set for the terminal.

    The pager is $PAGER, else less; PAGER= shows it without one. In a pipe it is Markdown, as of
    graft get --markdown.

    \b
    Example:
        graft open 1f3a9c04
    """
    note = session.graft.get(note_id)
    output = session.output
    if output.as_json:
        output.record(note)
    elif output.terminal:
        show(session, note)
    else:
        output.text(markdown_of(note))
    talk_notices(output, note.notices)


def show(session: Session, note: Note, *, less: str = "") -> bool:
    """Show *note* on the terminal; tell whether that was in the person's pager.

    *less* is how less is called in any case; empty: as the person says, else as `LESS`.
    """
    columns = shutil.get_terminal_size().columns
    text = render(note, columns=columns, color=session.output.color)
    environ = {"LESS": LESS, **session.environ} | ({"LESS": less} if less else {})
    command = pager_of(session)
    if command and page(text, command, environ):
        return True
    session.output.rendered(text)
    return False


def pager_of(session: Session) -> list[str]:
    """Give the command of the person's pager; empty for none."""
    if session.environ.get("TERM") == "dumb":
        return []
    return words_of("PAGER", session.environ.get("PAGER", "less"))
