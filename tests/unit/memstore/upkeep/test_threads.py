"""The threads behind a profile: busy while they can work, quiet otherwise, gone at the end."""

import threading
from pathlib import Path

import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room, open_room

from graft.wire.errors import BusyError
from graft_memstore.deadline import Deadline
from graft_memstore.store.database import Connection
from graft_memstore.store.requests import RECEIPT_MS
from graft_memstore.upkeep.back_off import LONGEST_SECONDS, BackOff


def wait_until_quiet(room: Room) -> None:
    deadline = Deadline(WAIT_SECONDS)
    while room.upkeep.busy():
        assert deadline.left() > 0, "upkeep is still busy"
        deadline.wait(0.01)


def test_it_is_busy_until_everything_is_embedded(room: Room) -> None:
    go_on = threading.Event()
    room.insert("a title")
    wait_until_quiet(room)

    def wait(_: str) -> None:
        go_on.wait(WAIT_SECONDS)

    room.embedder.before = wait
    inserted = threading.Thread(target=lambda: room.insert("another title", "a body"))
    inserted.start()
    go_on.set()
    inserted.join(WAIT_SECONDS)

    room.wait_until_embedded()
    wait_until_quiet(room)

    assert not room.upkeep.busy()


def test_a_model_that_cannot_be_had_is_no_reason_to_stay_awake(room: Room) -> None:
    room.embedder.away["fake"] = "no file; pull it"
    room.insert("a title")

    wait_until_quiet(room)

    worker = room.upkeep.worker("default")
    assert worker is not None
    assert worker.problem == "no file; pull it"


def test_a_bug_in_joining_notes_is_told_and_holds_up_nothing_else(room: Room) -> None:
    room.insert("a title", wait=True)
    room.wait_until_joined()
    room.profile.run(lambda connection: connection.execute("DROP TABLE edges_pending"))
    worker = room.upkeep.worker("default")
    assert worker is not None

    room.profile.changes.notify()
    deadline = Deadline(WAIT_SECONDS)
    while not worker.edges_problem:
        assert deadline.left() > 0, "nobody has tried to join notes"
        deadline.wait(0.01)
    wait_until_quiet(room)

    assert worker.edges_problem == "internal error; see the log"
    assert worker.problem == ""


def test_the_index_takes_in_what_is_written(room: Room) -> None:
    for number in range(3):
        room.insert(f"note {number}", wait=True)

    deadline = Deadline(WAIT_SECONDS)
    while (index := room.profile.index) is None or index.view is None or index.view.count < 3:
        assert deadline.left() > 0, "the index is still behind"
        deadline.wait(0.01)

    assert index.state == "int8"


def test_receipts_older_than_a_day_are_forgotten(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a title")

    with open_room(tmp_path, watched=False) as room:
        room.clock.ms += RECEIPT_MS
        room.upkeep.watch(room.profile)
        deadline = Deadline(WAIT_SECONDS)
        while room.count("SELECT count(*) FROM requests"):
            assert deadline.left() > 0, "receipts are still there"
            room.profile.changes.wait(room.profile.changes.count, 0.05)


def test_housekeeping_that_fails_is_tried_again_soon(room: Room) -> None:
    room.insert("a title", wait=True)
    index = room.profile.index
    assert index is not None
    tries: list[int] = []

    def fail_once(connection: Connection) -> None:
        tries.append(connection.changes())
        if len(tries) == 1:
            raise BusyError("too many reads")

    index.refresh = fail_once  # type: ignore[method-assign] # stands for a pool that is empty
    deadline = Deadline(WAIT_SECONDS)
    while not tries:
        # It may still be loading the index, after which it refreshes when it is woken.
        room.profile.changes.notify()
        assert deadline.left() > 0, "nobody tried"
        deadline.wait(0.01)
    while len(tries) < 2:
        assert deadline.left() > 0, "nobody tried again"
        deadline.wait(0.01)


def test_stopping_interrupts_a_step_that_waits(tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()
    with open_room(tmp_path) as room:
        room.embedder.away["fake"] = "not yet"
        room.insert("a title")
        wait_until_quiet(room)

        def block(_: str) -> None:
            reached.set()
            go_on.wait(WAIT_SECONDS)

        room.embedder.before = block
        room.profile.changes.notify()
        assert reached.wait(WAIT_SECONDS)
        go_on.set()

    assert not [each for each in threading.enumerate() if each.name.startswith("vectors-")]
    assert not [each for each in threading.enumerate() if each.name.startswith("housekeeper-")]
    assert not [each for each in threading.enumerate() if each.name.startswith("writer-")]


@pytest.fixture
def seconds() -> list[float]:
    """A clock that is moved by hand."""
    return [100.0]


def test_each_failure_doubles_the_pause_up_to_a_limit(seconds: list[float]) -> None:
    back_off = BackOff(lambda: seconds[0])
    pauses = []
    for _ in range(9):
        back_off.failed("away")
        pauses.append(back_off.left())

    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == LONGEST_SECONDS


def test_a_success_ends_the_pause(seconds: list[float]) -> None:
    back_off = BackOff(lambda: seconds[0])
    back_off.failed("away")

    back_off.succeeded()

    assert (back_off.left(), back_off.problem) == (0.0, "")


def test_a_pause_passes(seconds: list[float]) -> None:
    back_off = BackOff(lambda: seconds[0])
    back_off.failed("away")

    seconds[0] += 0.5

    assert back_off.left() == 0.0
