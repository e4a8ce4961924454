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


def show(session: Session, note: Note) -> None:
    """Show *note* on the terminal, in the person's pager where there is one."""
    columns = shutil.get_terminal_size().columns
    text = render(note, columns=columns, color=session.output.color)
    environ = {"LESS": LESS, **session.environ}
    command = words_of("PAGER", environ.get("PAGER", "less"))
    dumb = environ.get("TERM") == "dumb"
    if not command or dumb or not page(text, command, environ):
        session.output.rendered(text)
