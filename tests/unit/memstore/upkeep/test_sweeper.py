from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import Room, open_room

from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import REVIEWER, Verb
from graft_memstore.model import Caller, NewNote, NoteId
from graft_memstore.upkeep.sweeper import Sweeper

EXPIRIES = "SELECT count(*) FROM events WHERE action = 'expire' AND actor = 'system'"
DAY_MS = 24 * 60 * 60 * 1000
BY_REVIEWER = Caller(actor=REVIEWER, door="cli")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with open_room(tmp_path, sweep=False) as made:
        yield made


def sweep(room: Room) -> None:
    Sweeper(room.profile, lambda: 0.0).sweep()


def is_there(room: Room, note_id: NoteId) -> bool:
    return room.count(f"SELECT count(*) FROM notes WHERE id = '{note_id}'") == 1  # noqa: S608


def retired(room: Room, title: str, caller: Caller) -> NoteId:
    note_id = room.insert(title).id
    room.change(Verb.RETIRE, note_id, caller=caller)
    return note_id


def test_what_a_reviewer_retired_is_purged_after_thirty_days_and_not_before(room: Room) -> None:
    note_id = retired(room, "a secret word: xylophone", BY_REVIEWER)
    room.clock.ms += 30 * DAY_MS - 1
    sweep(room)
    early = is_there(room, note_id)
    room.clock.ms += 1

    sweep(room)

    assert early
    assert not is_there(room, note_id)
    assert room.count("SELECT count(*) FROM events WHERE action = 'purge'") == 1


def test_what_an_agent_retired_stays(room: Room) -> None:
    note_id = retired(room, "a note", Caller())
    room.clock.ms += 90 * DAY_MS

    sweep(room)

    assert is_there(room, note_id)


def test_what_was_restored_stays(room: Room) -> None:
    note_id = retired(room, "a note", BY_REVIEWER)
    room.clock.ms += 20 * DAY_MS
    room.change(Verb.RESTORE, note_id, caller=BY_REVIEWER)
    room.clock.ms += 20 * DAY_MS

    sweep(room)

    assert is_there(room, note_id)


def test_a_clock_that_ran_ahead_and_went_back_purges_nothing(room: Room) -> None:
    note_id = retired(room, "a note", BY_REVIEWER)
    room.clock.ms += 400 * DAY_MS
    room.insert("written while the clock was a year ahead")
    room.clock.ms -= 399 * DAY_MS

    sweep(room)

    assert is_there(room, note_id)


def test_expiry_is_recorded_by_the_system_and_once(room: Room) -> None:
    room.insert(note=NewNote(title="n", expires_at_ms=room.clock.ms + DAY_MS))
    room.clock.ms += 2 * DAY_MS

    sweep(room)
    sweep(room)

    assert room.count(EXPIRIES) == 1


def recorded(root: Path, *, sweeps: bool, until: int) -> int:
    """Open a profile with a note that has expired; return how often that was recorded."""
    with open_room(root, sweep=False) as room:
        room.insert(note=NewNote(title="n", expires_at_ms=room.clock.ms + DAY_MS))
    with open_room(root, sweep=sweeps) as room:
        room.clock.ms += 2 * DAY_MS  # before the profile is opened
        room.insert("another")
        room.wait_until_joined()
        deadline = Deadline(20.0)
        while (count := room.count(EXPIRIES)) < until and deadline.left() > 0:
            room.profile.changes.wait(room.profile.changes.count, 0.1)
        return count


def test_it_is_done_in_the_background_unless_it_is_switched_off(tmp_path: Path) -> None:
    assert recorded(tmp_path / "on", sweeps=True, until=1) == 1
    assert recorded(tmp_path / "off", sweeps=False, until=0) == 0
