"""Profiles that nobody uses are closed, and opened again by their next use."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room

from graft_memstore.deadline import Deadline
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.closer import UNUSED_SECONDS, Closer
from graft_memstore.upkeep.reindex import ask_for_reindex

UNUSED_MS = int(UNUSED_SECONDS * 1_000)
NEVER_SECONDS = 3_600.0


@pytest.fixture
def closer(room: Room) -> Iterator[Closer[VectorIndex]]:
    """One that looks when the test says so."""
    made = Closer(room.profiles, look_seconds=NEVER_SECONDS)
    yield made
    made.stop()


def wait_until(came_true: Callable[[], bool], what: str) -> None:
    deadline = Deadline(WAIT_SECONDS)
    while not came_true():
        assert deadline.left() > 0, what
        deadline.wait(0.01)


def settle(room: Room) -> None:
    wait_until(lambda: not room.upkeep.busy(), "upkeep is still busy")


def open_names(room: Room) -> list[str]:
    return [profile.name for profile in room.profiles.opened()]


def threads_of(room: Room, name: str) -> list[str]:
    """Return the threads of a profile that run."""
    names = {f"writer-{room.profiles.path(name)}", f"vectors-{name}", f"housekeeper-{name}"}
    return sorted(each.name for each in threading.enumerate() if each.name in names)


def test_what_nobody_uses_is_closed_with_its_threads_and_opened_by_its_next_use(
    room: Room, closer: Closer[VectorIndex]
) -> None:
    room.profiles.add("work")
    room.insert("before", wait=True)
    settle(room)
    before = threads_of(room, "default")
    room.clock.ms += UNUSED_MS // 2
    room.profiles.open("work")
    closer.look()
    too_early = open_names(room)
    room.clock.ms += UNUSED_MS // 2

    closer.look()
    closed = (open_names(room), threads_of(room, "default"))
    room.insert("after", wait=True)

    assert len(before) == 3
    assert too_early == ["default", "work"]
    assert closed == (["work"], [])
    assert threads_of(room, "default") == before
    assert room.count("SELECT count(*) FROM notes") == 2


def test_it_looks_by_itself(room: Room) -> None:
    room.insert("a title", wait=True)
    settle(room)
    room.clock.ms += UNUSED_MS

    closer = Closer(room.profiles, look_seconds=0.001)

    wait_until(lambda: not open_names(room), "the profile is still open")
    closer.stop()


def test_what_is_in_use_stays_open_and_counts_as_used_when_it_is_given_back(
    room: Room, closer: Closer[VectorIndex]
) -> None:
    with room.profiles.use("") as profile:
        settle(room)
        room.clock.ms += UNUSED_MS
        closer.look()
        profile.write(lambda _: None)
    closer.look()

    assert open_names(room) == ["default"]


def test_texts_that_wait_keep_their_profile_open(room: Room, closer: Closer[VectorIndex]) -> None:
    room.embedder.away["fake"] = "no file; pull it"
    room.insert("a title")
    settle(room)
    room.clock.ms += UNUSED_MS

    closer.look()
    waiting = open_names(room)
    room.embedder.away.clear()
    room.wait_until_embedded()
    settle(room)
    room.clock.ms += UNUSED_MS
    closer.look()

    assert (waiting, open_names(room)) == (["default"], [])


def test_a_reindex_that_waits_keeps_its_profile_open(
    room: Room, closer: Closer[VectorIndex]
) -> None:
    room.insert("a title", wait=True)
    room.embedder.away["new"] = "no file; pull it"
    ask_for_reindex(room.profile, "new")
    settle(room)
    room.clock.ms += UNUSED_MS

    closer.look()

    assert open_names(room) == ["default"]


def test_who_comes_while_a_profile_is_closed_gets_it_opened_anew(room: Room) -> None:
    room.insert("a title", wait=True)
    settle(room)
    room.clock.ms += UNUSED_MS
    old = room.profile
    room.clock.ms += UNUSED_MS
    begun, go_on = threading.Event(), threading.Event()

    def hold(profile: Profile[VectorIndex]) -> None:
        begun.set()
        assert go_on.wait(WAIT_SECONDS)
        room.upkeep.forget(profile)

    room.on_close = hold
    with ThreadPoolExecutor(2) as pool:
        closing = pool.submit(room.profiles.close_unused, UNUSED_SECONDS, spare=lambda _: False)
        assert begun.wait(WAIT_SECONDS)
        opening = pool.submit(room.profiles.open, "", WAIT_SECONDS)
        go_on.set()
        closing.result(WAIT_SECONDS)
        new = opening.result(WAIT_SECONDS)

    assert new is not old
    assert new.write(lambda _: "written") == "written"
