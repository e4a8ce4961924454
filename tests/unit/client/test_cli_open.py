"""`graft open`: rendered in a pager for a person, Markdown in a pipe, JSON for programs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.terminals import run_on_terminal
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState
from tests.unit.client.markdown.notes import note

from graft.memory.v1 import note_pb2
from graft_client.cli.rendered import RENDERED_CHARS_MAX, render

BODY = """\
# A heading

Some *words* and a [link](https://example.org/evil), `code`:

```python
print("hello")
```

| a | b |
| - | - |
| 1 | 2 |
\x1b[2J\x1b]0;owned\x07 STRONG 99%
"""

Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(home: Path, place: Path) -> Terminal:
    """Run ``graft`` on a terminal of 100 columns; return exit code and screen."""

    def run(*arguments: str, **environ: str) -> tuple[int, str]:
        around = {"PATH": "/usr/bin:/bin", **environ}
        return run_on_terminal(*arguments, "--home", str(home), at=place, around=around)

    return run


@pytest.fixture
def note_id(memstore: FakeState) -> str:
    """The id of a note that is there."""
    stored = note_pb2.Note(
        id="0193a7a0" + "0" * 24,
        title="a \x1b[31mtitle",
        body=BODY,
        scope="user",
        keywords=["k"],
        lifecycle=note_pb2.LIFECYCLE_ACTIVE,
        trust=note_pb2.TRUST_OBSERVED,
        recorded_at_ms=1,
    )
    memstore.notes[stored.id] = stored
    return stored.id


def test_a_person_sees_it_rendered_in_the_pager_of_their_choice(
    terminal: Terminal, note_id: str, place: Path
) -> None:
    pager = place / "my pager"
    pager.write_text('#!/bin/sh\ncat > seen\necho "$1 $LESS" > how\n')
    pager.chmod(0o700)

    code, screen = terminal("open", note_id[-8:], PAGER=f"'{pager}' --flag")

    seen = (place / "seen").read_text()
    assert (code, screen) == (0, "")
    assert (place / "how").read_text() == "--flag FRX\n"
    assert "\x1b[1m" in seen
    assert "a \\x1b[31mtitle" in seen
    assert "keywords:   k" in seen
    assert "https://example.org/evil" in seen
    assert "```" not in seen
    assert "\x1b[2J" not in seen
    assert "\x1b]" not in seen


@pytest.mark.parametrize(
    "environ", [{"PAGER": ""}, {"PAGER": "/no/such/pager"}, {"TERM": "dumb"}, {"PAGER": "cat"}]
)
def test_without_a_pager_it_is_shown_all_the_same(
    terminal: Terminal, note_id: str, environ: dict[str, str]
) -> None:
    code, screen = terminal("open", note_id, **environ)

    assert code == 0
    assert "A heading" in screen
    assert "\\x1b[2J" in screen


def test_no_color_is_heard(terminal: Terminal, note_id: str) -> None:
    _, screen = terminal("open", note_id, PAGER="cat", NO_COLOR="1")

    assert "A heading" in screen
    assert "\x1b" not in screen


def test_a_pager_that_is_left_early_is_no_failure(
    terminal: Terminal, memstore: FakeState, note_id: str
) -> None:
    memstore.notes[note_id].body = "word " * 200_000

    code, screen = terminal("open", note_id, PAGER="head -n 3")

    assert code == 0
    assert screen.count("\n") == 3


def test_a_pipe_gets_markdown_and_a_program_json(
    command: Command, note_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "false")

    piped = command("open", note_id)

    assert piped.out == command("get", note_id, "--markdown").out == f"# a \x1b[31mtitle\n\n{BODY}"
    assert command("open", note_id, "--json").json()["body"] == BODY


@pytest.mark.parametrize("columns", [20, 40, 300])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    shown = render(note("word " * 30, BODY), columns=columns, color=False)

    assert max(map(len, shown.splitlines())) <= min(columns, 100)
    assert "\x1b" not in shown


def test_a_body_that_is_very_long_is_shown_as_it_stands() -> None:
    shown = render(note("t", "*x*\n" * (RENDERED_CHARS_MAX // 2)), columns=80, color=False)

    assert shown.count("    *x*") == RENDERED_CHARS_MAX // 2
