"""What is remembered of sessions is private, bounded, and forgotten rather than in the way."""

import os
from pathlib import Path

import pytest

from graft_client.hooks.sessions import SESSIONS_MAX, TOLD_MAX, SessionState, SessionStates


def test_what_is_written_is_read_again_and_is_private(tmp_path: Path) -> None:
    states = SessionStates(tmp_path / "hooks")
    states.write("../../s \0 ü\udc80", SessionState(told=["1"], met_ms=7, solved=True, asked=True))

    (file,) = (tmp_path / "hooks").iterdir()
    assert states.read("../../s \0 ü\udc80") == SessionState(
        told=["1"], met_ms=7, solved=True, asked=True
    )
    assert states.read("another") == SessionState()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"told": 7}', '{"told": [], "met_ms": "x"}'])
def test_what_cannot_be_read_is_forgotten(tmp_path: Path, content: str) -> None:
    states = SessionStates(tmp_path)
    states.write("s", SessionState(asked=True))
    (file,) = tmp_path.iterdir()
    file.write_text(content)

    assert states.read("s") == SessionState()


def test_where_there_is_no_home_none_is_made(tmp_path: Path) -> None:
    states = SessionStates(tmp_path / "no" / "hooks")

    states.write("s", SessionState(asked=True))

    assert list(tmp_path.iterdir()) == []
    assert states.read("s") == SessionState()


def test_the_oldest_sessions_and_the_oldest_notes_make_room(tmp_path: Path) -> None:
    states = SessionStates(tmp_path)
    for number in range(SESSIONS_MAX + 5):
        states.write(str(number), SessionState(asked=True))
        newest = max(tmp_path.iterdir(), key=lambda each: each.stat().st_ino)
        os.utime(newest, ns=(number, number))
    state = SessionState()
    state.tell(str(number) for number in range(TOLD_MAX + 5))

    assert len(list(tmp_path.iterdir())) == SESSIONS_MAX
    assert states.read(str(SESSIONS_MAX + 4)).asked
    assert (len(state.told), state.told[-1]) == (TOLD_MAX, str(TOLD_MAX + 4))
