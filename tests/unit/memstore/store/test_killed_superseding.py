"""Killed between any two statements, a superseding has happened whole, or not at all."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlite_vec
from tests.unit.memstore.room import open_room
from tests.unit.memstore.store.killed_superseding import WAYS, prepare

from graft_memstore.model import Lifecycle, NewNote
from graft_memstore.upkeep.check import check_profile

pytestmark = pytest.mark.timeout(300)

REPOSITORY = Path(__file__).parents[4]
Content = dict[str, list[tuple[Any, ...]]]


def content_of(home: Path) -> Content:
    """Return every row of every table, those below the indexes of words and vectors too."""
    path = home / "profiles" / "default" / "graft.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [str(name) for (name,) in named.fetchall()]
        return {
            name: list(connection.execute(f'SELECT * FROM "{name}"'))  # noqa: S608
            for name in names
        }


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_superseding_is_done_or_not_begun(tmp_path: Path, way: str) -> None:
    prepared, copies = tmp_path / "prepared", tmp_path / "copies"
    old, new = prepare(prepared).values()
    before = content_of(prepared)
    script = Path(__file__).with_name("killed_superseding.py")

    run = subprocess.run(
        [sys.executable, str(script), prepared, copies, way, old, new],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY)},
        timeout=200,
        check=True,
    )

    statements = int(run.stdout)
    after = content_of(copies / str(statements))
    assert after != before, "where nothing was killed it was done"
    found = [content_of(copies / str(killed)) for killed in range(statements + 1)]
    done = [each == after for each in found]
    assert [each == before for each in found] == [not each for each in done]
    assert done == sorted(done), "what is done once stays done"
    assert done.count(False) > 20, "the statements of the transaction were among them"
    for killed in range(statements + 1):
        goes_on(copies / str(killed), old, done=done[killed])


def goes_on(home: Path, old: str, *, done: bool) -> None:
    """See that a home agrees with itself, and that the next change can be made in it."""
    with open_room(home, watched=False) as room:
        findings = check_profile(room.profile, "", "")
        state = room.note(old).state
        head = room.note(old).superseded_by if done else old
        assert head is not None
        note = NewNote(title="the pooler is gone", supersedes=head, reason="shut down")
        room.insert(note=note)

        assert [each for each in findings if not each.ok] == []
        assert state.lifecycle is (Lifecycle.SUPERSEDED if done else Lifecycle.ACTIVE)
        assert room.verify().ok
