"""`graft ask`: finds notes while a question is typed."""

import sys
from functools import partial
from pathlib import Path

import click

from graft_client.cli.open_note import pager_of, show
from graft_client.cli.options import GraftCommand
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import talk_notices
from graft_client.errors import InputError
from graft_client.history import GotNote

RESULTS = 20


@click.command(cls=GraftCommand)
@with_session
def ask(session: Session) -> None:
    """Find notes while a question is typed, and open them.

    What is typed is searched for as graft retrieve does, a moment after the last key. Enter opens
    the chosen note in the pager, Up and Down choose another, Ctrl-C or Ctrl-D ends.

    \b
    Example:
        graft ask --all-scopes
    """
    drawn_on = session.environ.get("TERM") != "dumb"
    if not (sys.stdin.isatty() and session.output.terminal and drawn_on):
        raise InputError("graft ask needs a terminal; without one ask with: graft query TEXT")
    import asyncio  # noqa: PLC0415 - 40 ms, which --help does without

    asyncio.run(_ask(session))


async def _ask(session: Session) -> None:
    # gRPC's asyncio face and prompt_toolkit, which no other command needs.
    from graft_client.async_client import AsyncGraft  # noqa: PLC0415
    from graft_client.cli.ask_screen import AskScreen  # noqa: PLC0415

    async with AsyncGraft(configuration=session.configuration) as graft:
        search = partial(graft.retrieve, top_k=RESULTS, scope=session.read_scope)
        screen = AskScreen(search, graft.get, partial(_open, session), color=session.output.color)
        await screen.run()
    talk_notices(session.output, screen.notices)


def _open(session: Session, note: GotNote) -> None:
    """Show a note until its reader goes on: the screen would hide it at once."""
    # less waits for a key, unless it may end where all is on one screen.
    waits = Path(next(iter(pager_of(session)), "")).name == "less"
    shown = show(session, note, less="RX")
    if not (waits and shown):
        click.prompt("Enter goes back", default="", show_default=False, err=True)
