"""The screen of `graft ask`: searches while a question is typed, and gives up on older ones."""

import asyncio
from collections.abc import Awaitable, Callable

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from graft_client.cli.ask_view import AskView
from graft_client.errors import GraftError
from graft_client.history import GotNote
from graft_client.notices import Notice
from graft_client.results import Retrieved

PAUSE_SECONDS = 0.15
"""Nothing is asked until nothing was typed for so long."""

Search = Callable[[str], Awaitable[Retrieved]]
Fetch = Callable[[str], Awaitable[GotNote]]
Open = Callable[[GotNote], None]


class AskScreen:
    """A line to type in, and below it what is found.

    Args:
        search: finds notes; its call is given up when more is typed.
        fetch: fetches one note whole.
        open_note: shows it, on the terminal that the screen has left meanwhile.
        color: whether the terminal may have colours.

    Attributes:
        notices: what the answers told besides, each of which is told once.
    """

    def __init__(self, search: Search, fetch: Fetch, open_note: Open, *, color: bool) -> None:
        self._search, self._fetch, self._open_note = search, fetch, open_note
        self._view = AskView()
        self.notices: list[Notice] = []
        self._searching: asyncio.Task[None] | None = None
        self._typed = Buffer(multiline=False, on_text_changed=self._changed)
        self._application: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            full_screen=True,
            style=Style([("dim", "ansibrightblack")]),
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        )

    async def run(self) -> None:
        """Show the screen until the person ends it."""
        try:
            await self._application.run_async()
        finally:
            if self._searching is not None:
                self._searching.cancel()

    def _layout(self) -> Layout:
        line = BufferControl(self._typed, input_processors=[BeforeInput("ask: ")])
        rows = FormattedTextControl(lambda: [*self._view.rows()])
        talk = FormattedTextControl(lambda: [*self._view.talk_row()])
        typing = Window(line, height=1)
        return Layout(
            HSplit([typing, Window(height=1), Window(rows), Window(talk, height=1)]),
            focused_element=typing,
        )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        keys.add("c-c")(lambda event: event.app.exit())
        keys.add("c-d")(lambda event: event.app.exit())
        for up, down in (("up", "down"), ("c-p", "c-n")):
            keys.add(up)(lambda _: self._view.move(-1))
            keys.add(down)(lambda _: self._view.move(1))
        keys.add("enter")(self._enter)
        return keys

    def _changed(self, _: Buffer) -> None:
        """Give up on what was asked before and ask anew."""
        if self._searching is not None:
            self._searching.cancel()
        text = self._typed.text.strip()
        if not text:
            self._view.clear()
            return
        self._searching = self._application.create_background_task(self._answer(text))

    async def _answer(self, text: str) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        self._view.talk = "searching …"
        self._application.invalidate()
        try:
            found = await self._search(text)
            self.notices += found.notices
            self._view.show(found)
        except GraftError as error:
            self._view.talk = error.message
        self._application.invalidate()

    def _enter(self, event: KeyPressEvent) -> None:
        chosen = self._view.chosen_note()
        if chosen is not None:
            # The application keeps it, and ends it with itself.
            _ = event.app.create_background_task(self._open(chosen.id))

    async def _open(self, note_id: str) -> None:
        try:
            note = await self._fetch(note_id)
            self.notices += note.notices
            await run_in_terminal(lambda: self._open_note(note))
        except GraftError as error:
            self._view.talk = error.message
            self._application.invalidate()
