"""What a person sees on a terminal: tables, colours, progress, a question before erasing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from tests.terminals import run_on_terminal
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import daemon_service_pb2, note_pb2, profiles_service_pb2, recall_service_pb2

Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(home: Path, place: Path) -> Terminal:
    """Run ``graft`` on a terminal of 100 columns, typing *typed*; return exit code and screen.

    What goes to stdout goes to the file *out*, if there is one.
    """

    def run(
        *arguments: str, typed: str = "", out: IO[bytes] | None = None, **environ: str
    ) -> tuple[int, str]:
        around = {"PATH": "/usr/bin:/bin", **environ}
        return run_on_terminal(
            *arguments, "--home", str(home), at=place, around=around, typed=typed, out=out
        )

    return run


def store(memstore: FakeState, title: str) -> str:
    note = note_pb2.Note(
        id=f"0193a7a0{len(memstore.notes):024x}",
        title=title,
        scope="user",
        lifecycle=note_pb2.LIFECYCLE_ACTIVE,
        trust=note_pb2.TRUST_OBSERVED,
        recorded_at_ms=1,
    )
    memstore.notes[note.id] = note
    return note.id


def test_a_listing_is_a_table_with_its_markup_shown_as_it_is(
    terminal: Terminal, memstore: FakeState
) -> None:
    store(memstore, "[red]not[/red] a colour \x1b[2J :smile:")

    code, screen = terminal("list")

    assert code == 0
    assert "saved" in screen
    assert "[red]not[/red] a colour \\x1b[2J :smile:" in screen


def test_colours_are_for_terminals_that_want_them(terminal: Terminal, memstore: FakeState) -> None:
    memstore.query_reply = recall_service_pb2.QueryResponse(hit=recall_service_pb2.HIT_MISS)

    _, colored = terminal("query", "x")
    _, plain = terminal("query", "x", NO_COLOR="1")
    _, dumb = terminal("query", "x", TERM="dumb")

    assert "\x1b[31m\x1b[1mMISS" in colored
    assert "\x1b[" not in plain + dumb


def test_json_stays_json_on_a_terminal(terminal: Terminal, memstore: FakeState) -> None:
    store(memstore, "t")

    _, screen = terminal("list", "--json")

    assert screen.startswith("{")
    assert "\x1b" not in screen


@pytest.mark.parametrize(("typed", "erased"), [("yes\n", True), ("y\n", False), ("\n", False)])
def test_erasing_wants_the_whole_word(
    terminal: Terminal, memstore: FakeState, typed: str, *, erased: bool
) -> None:
    note_id = store(memstore, "a secret")

    code, screen = terminal("delete", note_id, "--reason", "r", typed=typed)

    assert 'Delete 00000000 "a secret" in user? It cannot be undone.' in screen
    assert (note_id not in memstore.notes) is erased
    assert code == (0 if erased else 1)


def test_the_model_s_progress_is_drawn_while_an_answer_waits_for_it(
    terminal: Terminal, memstore: FakeState
) -> None:
    memstore.slow_query = True
    memstore.status_reply.embedders.append(
        daemon_service_pb2.EmbedderStatus(model="starter", state="converting", percent=43)
    )

    code, screen = terminal("query", "x")

    assert code == 0
    assert "graft: writing the model starter 43 %" in screen
    assert screen.rstrip().endswith("MISS\x1b[0m\r\ngraft: searched user")


def test_a_reindex_draws_its_bar(terminal: Terminal, memstore: FakeState) -> None:
    memstore.reindex_replies = [
        profiles_service_pb2.GetReindexResponse(
            state=profiles_service_pb2.REINDEX_STATE_RUNNING, target_model="m", done=1, total=4
        ),
        profiles_service_pb2.GetReindexResponse(
            state=profiles_service_pb2.REINDEX_STATE_NONE, serving_model="m"
        ),
    ]

    code, screen = terminal("reindex", "--model", "m")

    assert code == 0
    assert "moving to m ━━━━━━──────────────────  25%" in screen
    assert screen.rstrip().endswith("the profile answers with m")


def test_a_measurement_draws_its_bar_on_the_terminal_alone(
    terminal: Terminal, memstore: FakeState, tmp_path: Path
) -> None:
    memstore.gate_replies = [
        daemon_service_pb2.MeasureGateResponse(done=1, total=4),
        daemon_service_pb2.MeasureGateResponse(
            done=4, total=4, report=daemon_service_pb2.GateReport(notes=20)
        ),
    ]

    with (tmp_path / "out").open("wb") as out:
        code, screen = terminal("doctor", "--gate", out=out)
    _, as_json = terminal("doctor", "--gate", "--json")

    assert code == 0
    assert "graft: asking ━━━━━━──────────────────  25%" in screen
    data = (tmp_path / "out").read_text()
    assert data.startswith("false STRONG")
    assert "\x1b" not in data
    assert json.loads(as_json)["notes"] == 20
    assert len(as_json.splitlines()) == 1
