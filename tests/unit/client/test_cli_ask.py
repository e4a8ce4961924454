"""`graft ask`: searches as somebody types, gives up on what is old, opens what is chosen."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.terminals import run_at_keyboard
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState
from tests.unit.client.markdown.notes import RECORDED, note

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft_client.cli.ask_screen import AskScreen
from graft_client.cli.ask_view import CHOSEN, AskView
from graft_client.errors import GraftError
from graft_client.history import GotNote, Uses
from graft_client.notices import Notice
from graft_client.results import Retrieved, RetrievedNote

ENTER, DOWN, END = "\r", "\x1b[B", "\x03"
SECONDS = 20


def found(*titles: str, degraded: tuple[str, ...] = ()) -> Retrieved:
    results = tuple(
        RetrievedNote(
            id=f"{number:032x}",
            title=title,
            score=1.0,
            arms={},
            trust="observed",
            trust_reason="",
            keywords=("k",),
            scope="user",
            kind="note",
            applies_to=(),
        )
        for number, title in enumerate(titles)
    )
    return Retrieved(
        results=results,
        degraded=degraded,
        scopes=("user",),
        notes_elsewhere=2,
        service_ms=1.0,
        embed_ms=1.0,
    )


class FakeMemory:
    """Searches that wait until they are let go, and tell what became of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.given_up: list[str] = []
        self.opened: list[str] = []
        self.slow = asyncio.Event()
        self.answer: Callable[[str], Retrieved] = lambda text: found(f"about {text}", "another")

    async def search(self, text: str) -> Retrieved:
        self.asked.append(text)
        try:
            if text.startswith("slow"):
                await self.slow.wait()
        except asyncio.CancelledError:
            self.given_up.append(text)
            raise
        return self.answer(text)

    async def fetch(self, note_id: str) -> GotNote:
        fields = {name: getattr(note("t"), name) for name in note("t").__slots__}
        rest = {"id": note_id, "uses": Uses(strong=0, got=0, last_used=None), "notices": ()}
        return GotNote(**(fields | rest))

    def open_note(self, opened: GotNote) -> None:
        self.opened.append(opened.id)

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not true():  # noqa: ASYNC110 - what a screen shows sets no event
                await asyncio.sleep(0.01)


Scene = Callable[[AskScreen, FakeMemory, PipeInput], Awaitable[None]]


@contextmanager
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


def play(scene: Scene) -> FakeMemory:
    """Let a person do what *scene* says, until they end it."""

    async def played() -> FakeMemory:
        memory = FakeMemory()
        screen = AskScreen(memory.search, memory.fetch, memory.open_note, color=False)
        running = asyncio.create_task(screen.run())
        await scene(screen, memory, keys)
        keys.send_text(END)
        await asyncio.wait_for(running, SECONDS)
        return memory

    with keyboard() as keys:
        return asyncio.run(played())


def test_nothing_is_asked_until_the_typing_rests() -> None:
    async def scene(screen: AskScreen, memory: FakeMemory, keys: PipeInput) -> None:
        for letter in "crane":
            keys.send_text(letter)
        await memory.until(lambda: bool(memory.asked))
        await memory.until(lambda: screen._view.found is not None)

    assert play(scene).asked == ["crane"]


def test_an_older_question_is_given_up_and_never_shown() -> None:
    async def scene(screen: AskScreen, memory: FakeMemory, keys: PipeInput) -> None:
        keys.send_text("slow")
        await memory.until(lambda: memory.asked == ["slow"])
        keys.send_text("\x7f" * 4 + "fast")
        await memory.until(lambda: screen._view.found is not None)
        memory.slow.set()
        (first, _) = screen._view.rows()
        assert "about fast" in first[1]

    memory = play(scene)
    assert memory.asked == ["slow", "fast"]
    assert memory.given_up == ["slow"]


def test_enter_opens_the_note_that_is_chosen() -> None:
    async def scene(screen: AskScreen, memory: FakeMemory, keys: PipeInput) -> None:
        keys.send_text(ENTER)  # nothing is there yet
        keys.send_text("crane")
        await memory.until(lambda: screen._view.found is not None)
        keys.send_text(DOWN + DOWN + ENTER)
        await memory.until(lambda: bool(memory.opened))

    assert play(scene).opened == [f"{1:032x}"]


def test_what_an_answer_tells_once_is_kept_for_the_end() -> None:
    told = Notice(id="0" * 32, title="t", happened="rejected", event=7, at=RECORDED, successor=None)
    screens: list[AskScreen] = []

    async def scene(screen: AskScreen, memory: FakeMemory, keys: PipeInput) -> None:
        screens.append(screen)
        memory.answer = lambda _: replace(found("a"), notices=(told,))
        keys.send_text("crane")
        await memory.until(lambda: screen._view.found is not None)

    play(scene)

    assert screens[0].notices == [told]


def test_a_search_that_fails_says_why_and_the_next_one_is_made() -> None:
    async def scene(screen: AskScreen, memory: FakeMemory, keys: PipeInput) -> None:
        def fails(_: str) -> Retrieved:
            raise GraftError("no store answers; start it with: graft start")

        good, memory.answer = memory.answer, fails
        keys.send_text("a")
        await memory.until(lambda: "graft start" in screen._view.talk)
        memory.answer = good
        keys.send_text("b")
        await memory.until(lambda: screen._view.found is not None)
        keys.send_text("\x7f\x7f")
        await memory.until(lambda: screen._view.found is None)

    assert play(scene).asked == ["a", "ab"]


def test_what_is_found_is_shown_as_data_and_the_list_has_ends() -> None:
    view = AskView()
    view.show(found("a \x1b[2Jtitle\n", "b"))
    view.move(-1)
    first = view.rows()
    view.move(5)

    assert first == [(CHOSEN, "00000000  a \\x1b[2Jtitle   (k)\n"), ("", "00000001  b  (k)\n")]
    assert view.chosen_note() is not None
    assert view.rows()[1][0] == CHOSEN
    view.show(found(degraded=("vector",)))
    assert view.chosen_note() is None
    assert "answered without vector" in view.talk
    view.show(found())
    assert "2 notes lie elsewhere" in view.talk


def test_a_person_types_reads_and_ends_it_on_a_terminal(
    home: Path, place: Path, memstore: FakeState
) -> None:
    stored = note_pb2.Note(
        id="0193a7a0" + "0" * 23 + "9",
        title="the quay crane",
        body="Oil it.",
        lifecycle=note_pb2.LIFECYCLE_ACTIVE,
        trust=note_pb2.TRUST_OBSERVED,
    )
    memstore.notes[stored.id] = stored
    result = recall_service_pb2.RetrievedNote(id=stored.id, title=stored.title)
    memstore.retrieve_reply = recall_service_pb2.RetrieveResponse(results=[result])

    code, screen = run_at_keyboard(
        *("ask", "--home", str(home), "--scope", "user"),
        at=place,
        around={"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "PAGER": "cat"},
        typed=[
            ("ask:", "crane"),
            ("00000009  the quay crane", ""),
            ("Enter goes back", ""),
            ("ask:", "\x04"),
        ],
    )

    assert code == 0
    assert "    Oil it." in screen
    (asked,) = memstore.requests("Retrieve")
    assert isinstance(asked, recall_service_pb2.RetrieveRequest)
    assert (asked.text, asked.top_k, list(asked.scope.scopes)) == ("crane", 20, ["user"])


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_without_a_terminal_it_says_what_to_do_instead(
    command: Command, memstore: FakeState, arguments: tuple[str, ...]
) -> None:
    done = command("ask", *arguments)

    assert done.code == 2
    assert "without one ask with: graft query TEXT" in done.err
    assert memstore.received == []
