"""One writer, many snapshots: order, isolation, bounds, ends."""

import contextlib
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.unit.memstore.room import Room, open_room

from graft.wire.errors import BusyError, DatabaseLockedError, StoppingError
from graft_memstore.deadline import Deadline
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store import meta
from graft_memstore.store.database import LOCK_WAIT_MS
from graft_memstore.store.profile import Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.writer import WRITES_WAITING_MAX

WAIT_SECONDS = 20.0


def write_until_refused(
    profile: Profile[VectorIndex], change: Callable[[Transaction], None]
) -> None:
    """Ask again while the threads that fill the queue are still on their way."""
    while True:
        with contextlib.suppress(DatabaseLockedError):
            profile.write(change, 0.01)


def test_a_change_that_raises_leaves_nothing_behind(still_room: Room) -> None:
    def change(transaction: Transaction) -> None:
        meta.write(transaction.connection, "half", "done")
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        still_room.profile.write(change)

    with still_room.profile.snapshot() as connection:
        assert meta.read(connection, "half") is None


def test_many_threads_change_one_after_another_and_nothing_is_lost(still_room: Room) -> None:
    def add_one(transaction: Transaction) -> None:
        before = int(meta.read(transaction.connection, "count") or 0)
        meta.write(transaction.connection, "count", str(before + 1))

    profile = still_room.profile
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(profile.write, add_one) for _ in range(200)]:
            future.result(WAIT_SECONDS)

    with profile.snapshot() as connection:
        assert meta.read(connection, "count") == "200"


def test_a_snapshot_is_of_one_instant_from_its_first_moment(still_room: Room) -> None:
    profile = still_room.profile
    profile.write(lambda transaction: meta.write(transaction.connection, "word", "old"))

    with profile.snapshot() as connection:
        profile.write(lambda transaction: meta.write(transaction.connection, "word", "new"))
        inside = meta.read(connection, "word")
    with profile.snapshot() as connection:
        after = meta.read(connection, "word")

    assert (inside, after) == ("old", "new")


def test_a_snapshot_that_fails_gives_its_connection_back_clean(still_room: Room) -> None:
    profile = still_room.profile
    with pytest.raises(apsw.SQLError), profile.snapshot() as connection:
        connection.execute("SELECT nothing FROM nowhere")

    with profile.snapshot() as connection:
        assert meta.read(connection, "nothing") is None


def test_more_changes_than_may_wait_are_refused_as_busy(still_room: Room) -> None:
    profile = still_room.profile
    started, go_on = threading.Event(), threading.Event()

    def block(_: Transaction) -> None:
        started.set()
        assert go_on.wait(WAIT_SECONDS)

    def nothing(_: Transaction) -> None:
        return

    with ThreadPoolExecutor(WRITES_WAITING_MAX + 1) as pool:
        blocked = pool.submit(profile.write, block)
        assert started.wait(WAIT_SECONDS)
        waiting = [pool.submit(profile.write, nothing) for _ in range(WRITES_WAITING_MAX)]
        with pytest.raises(BusyError) as refusal:
            write_until_refused(profile, nothing)
        go_on.set()
        blocked.result(WAIT_SECONDS)
        for future in waiting:
            future.result(WAIT_SECONDS)

    assert refusal.value.retry_after_ms is not None


def test_a_change_whose_turn_does_not_come_is_taken_back(still_room: Room) -> None:
    profile = still_room.profile
    started, go_on = threading.Event(), threading.Event()

    def block(_: Transaction) -> None:
        started.set()
        assert go_on.wait(WAIT_SECONDS)

    def late(transaction: Transaction) -> None:
        meta.write(transaction.connection, "late", "yes")

    with ThreadPoolExecutor(1) as pool:
        blocked = pool.submit(profile.write, block)
        assert started.wait(WAIT_SECONDS)
        with pytest.raises(DatabaseLockedError):
            profile.write(late, 0.01)
        go_on.set()
        blocked.result(WAIT_SECONDS)

    with profile.snapshot() as connection:
        assert meta.read(connection, "late") is None


def test_another_program_s_lock_is_named_as_soon_as_a_change_s_time_is_over(
    still_room: Room,
) -> None:
    profile = still_room.profile
    still_room.insert("before the lock")
    limit = Deadline(LOCK_WAIT_MS / 1000)

    with closing(apsw.Connection(str(profile.path))) as foreign, ThreadPoolExecutor(1) as pool:
        foreign.execute("BEGIN IMMEDIATE")
        refusals = [refusal_of_change(profile, 0.2) for _ in range(3)]
        patient = pool.submit(profile.write, lambda _: "written at last", WAIT_SECONDS)
        refusals += [refusal_of_change(profile, 0.2) for _ in range(3)]
        read = still_room.count("SELECT count(*) FROM notes")
        in_time = limit.left() > 0
        foreign.execute("ROLLBACK")
        written = patient.result(WAIT_SECONDS)

    told = f"another program holds the lock of {profile.path}.* fuser {profile.path}"
    assert [re.match(told, each) is not None for each in refusals] == [True] * 6
    assert (read, written, in_time) == (1, "written at last", True)


def refusal_of_change(profile: Profile[VectorIndex], seconds: float) -> str:
    with pytest.raises(DatabaseLockedError) as raised:
        profile.write(lambda _: None, seconds)
    return raised.value.message


def test_a_profile_is_opened_and_read_while_another_program_holds_its_lock(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("before the lock")
        path = room.profile.path

    with closing(apsw.Connection(str(path))) as foreign, open_room(tmp_path, watched=False) as room:
        foreign.execute("BEGIN IMMEDIATE")

        read = room.count("SELECT count(*) FROM notes")
        refused = refusal_of_change(room.profile, 0.2)

    assert read == 1
    assert str(path) in refused


def test_closing_finishes_what_waits_and_refuses_what_comes(still_room: Room) -> None:
    profile = still_room.profile
    still_room.insert("the last one")

    profile.close()

    with pytest.raises(StoppingError):
        profile.write(lambda _: None)
    with pytest.raises(StoppingError), profile.snapshot():
        pass


def test_the_time_of_changes_never_goes_back(still_room: Room) -> None:
    first = still_room.note(still_room.insert("by the right clock").id)
    still_room.clock.ms -= 3_600_000

    second = still_room.note(still_room.insert("by a clock that was put back").id)

    assert second.recorded_at_ms == first.recorded_at_ms
    with still_room.profile.snapshot() as connection:
        assert still_room.profile.now_ms(connection) == first.recorded_at_ms


def test_every_change_has_its_own_place_in_the_order_of_all_sites(still_room: Room) -> None:
    for number in range(5):
        still_room.insert(f"note {number}")

    with still_room.profile.snapshot() as connection:
        found = [row[0] for row in connection.execute("SELECT hlc FROM notes ORDER BY seq")]

    assert found == sorted(set(found))
