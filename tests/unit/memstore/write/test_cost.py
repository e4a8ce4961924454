"""What a write costs does not grow with the notes that are there."""

from collections.abc import Callable

import apsw
from tests.unit.memstore.room import Room

from graft_memstore.model import NewNote

STEPS_PER_CALLBACK = 10
NOTES_PER_BATCH = 100


def steps_of(room: Room, action: Callable[[], object]) -> int:
    """Return how many instructions of SQLite's the writer ran meanwhile, give or take a few."""
    counted = 0

    def count() -> bool:
        nonlocal counted
        counted += STEPS_PER_CALLBACK
        return False

    def watch(connection: apsw.Connection) -> None:
        connection.set_progress_handler(count, STEPS_PER_CALLBACK)

    def leave(connection: apsw.Connection) -> None:
        connection.set_progress_handler(None)

    room.profile.run(watch)
    action()
    room.profile.run(leave)
    return counted


def test_storing_and_deleting_cost_the_same_however_many_notes_there_are(
    still_room: Room,
) -> None:
    first = still_room.insert("the first of all")
    few = steps_of(still_room, lambda: still_room.insert("stored among few", "text"))
    for number in range(8):
        still_room.insert_all(
            [NewNote(title=f"{number} {each}", body="text") for each in range(NOTES_PER_BATCH)]
        )

    many = steps_of(still_room, lambda: still_room.insert("stored among many", "text"))
    delete = steps_of(still_room, lambda: still_room.delete(first.id))

    assert few > 0
    assert many < 2 * few
    assert delete < 5 * few
