"""Profiles: names, making one, opening one, and files that are in the way."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room, open_room

from graft.wire.errors import (
    BadFieldError,
    BusyError,
    DatabaseDamagedError,
    ProfileExistsError,
    ProfileNotFoundError,
    StoppingError,
)
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile, peek_model
from graft_memstore.store.profiles import OPEN_WAITERS_MAX


def test_the_default_profile_is_made_by_its_first_use(still_room: Room) -> None:
    before = still_room.profiles.names()

    profile = still_room.profiles.open("")

    assert before == []
    assert profile.name == "default"
    assert still_room.profiles.names() == ["default"]


def test_any_other_profile_must_be_made_first(still_room: Room) -> None:
    with pytest.raises(ProfileNotFoundError, match="graft profile add work"):
        still_room.profiles.open("work")

    still_room.profiles.add("work")

    assert still_room.profiles.open("work").name == "work"


def test_a_profile_is_made_once(still_room: Room) -> None:
    still_room.profiles.add("work")

    with pytest.raises(ProfileExistsError):
        still_room.profiles.add("work")


@pytest.mark.parametrize("name", ["a", "0", "acpt-probe", "A_b-9", "x" * 64])
def test_a_legal_name_is_taken(still_room: Room, name: str) -> None:
    assert still_room.profiles.add(name).name == name


@pytest.mark.parametrize("name", ["-a", "_a", "a b", "a/b", "..", "é", "x" * 65, "a\n"])
def test_any_other_name_is_refused(still_room: Room, name: str) -> None:
    with pytest.raises(BadFieldError):
        still_room.profiles.add(name)
    with pytest.raises(BadFieldError):
        still_room.profiles.open(name)


def test_folders_are_private(still_room: Room) -> None:
    path = still_room.profile.path

    modes = [
        stat.S_IMODE(folder.stat().st_mode)
        for folder in (path.parent, path.parent.parent, still_room.root / "audit")
    ]

    assert modes == [0o700, 0o700, 0o700]


def test_profiles_do_not_see_each_other_s_notes(still_room: Room) -> None:
    still_room.insert("in the default profile")
    other = still_room.profiles.add("other")

    with other.snapshot() as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(0,)]


def test_a_damaged_file_is_named_and_does_not_stop_the_others(still_room: Room) -> None:
    path = still_room.profiles.path("broken")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, whatever its name says. " * 200)

    with pytest.raises(DatabaseDamagedError, match="broken"):
        still_room.profiles.open("broken")

    assert still_room.insert("in the default profile").event == 1


def test_a_profile_that_is_slow_to_open_is_in_nobody_s_way_but_its_own(still_room: Room) -> None:
    profiles = still_room.profiles
    profiles.add("slow")
    profiles.add("other")
    profiles.close()
    with open_room(still_room.root, watched=False) as room, ThreadPoolExecutor(4) as pool:
        begun, go_on = threading.Event(), threading.Event()
        room.on_open = lambda profile: hold(profile.name, begun, go_on)

        waiting = [pool.submit(room.profiles.open, "slow", WAIT_SECONDS) for _ in range(2)]
        assert begun.wait(WAIT_SECONDS)
        others = [
            pool.submit(room.profiles.open, "other").result(WAIT_SECONDS).name,
            pool.submit(room.profiles.add, "new").result(WAIT_SECONDS).name,
        ]
        with pytest.raises(BusyError, match="profile slow is still being opened"):
            room.profiles.open("slow", 0.01)
        open_meanwhile = [profile.name for profile in room.profiles.opened()]
        go_on.set()
        first, second = (each.result(WAIT_SECONDS) for each in waiting)

    assert (others, open_meanwhile) == (["other", "new"], ["new", "other"])
    assert first is second


def test_no_more_wait_for_one_profile_than_leave_room_for_others(still_room: Room) -> None:
    still_room.profiles.add("slow")
    still_room.profiles.close()
    with (
        open_room(still_room.root, watched=False) as room,
        ThreadPoolExecutor(OPEN_WAITERS_MAX + 8) as pool,
    ):
        begun, go_on = threading.Event(), threading.Event()
        room.on_open = lambda profile: hold(profile.name, begun, go_on)

        tries = [
            pool.submit(room.profiles.open, "slow", WAIT_SECONDS)
            for _ in range(OPEN_WAITERS_MAX + 8)
        ]
        refused = [type(each.exception()) for each in islice(as_completed(tries, WAIT_SECONDS), 8)]
        go_on.set()
        opened = {each.result(WAIT_SECONDS) for each in tries if each.exception() is None}

    assert refused == [BusyError] * 8
    assert len(opened) == 1


def hold(name: str, begun: threading.Event, go_on: threading.Event) -> None:
    if name == "slow":
        begun.set()
        assert go_on.wait(WAIT_SECONDS)


def test_a_profile_that_could_not_be_opened_is_tried_anew(still_room: Room) -> None:
    path = still_room.profiles.path("broken")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, whatever its name says. " * 200)
    with ThreadPoolExecutor(4) as pool:
        tries = [pool.submit(still_room.profiles.open, "broken") for _ in range(4)]
        problems = {type(each.exception(WAIT_SECONDS)) for each in tries}

    path.unlink()
    path.touch()

    assert problems == {DatabaseDamagedError}
    assert still_room.profiles.open("broken").name == "broken"


def test_what_is_opened_while_everything_is_closed_is_closed_too(still_room: Room) -> None:
    still_room.profiles.add("slow")
    still_room.profiles.close()
    with open_room(still_room.root, watched=False) as room, ThreadPoolExecutor(1) as pool:
        begun, go_on = threading.Event(), threading.Event()
        seen: list[Profile[VectorIndex]] = []

        def opened(profile: Profile[VectorIndex]) -> None:
            seen.append(profile)
            hold(profile.name, begun, go_on)

        room.on_open = opened
        waiting = pool.submit(room.profiles.open, "slow", WAIT_SECONDS)
        assert begun.wait(WAIT_SECONDS)
        room.profiles.close()
        go_on.set()
        problem = waiting.exception(WAIT_SECONDS)

        with pytest.raises(StoppingError):
            seen[0].write(lambda _: None)

    assert isinstance(problem, StoppingError)


def test_looking_at_a_closed_profile_opens_nothing(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a title")
        path = room.profile.path

    model = peek_model(path)

    assert model is not None
    assert model.name == "fake"


def test_a_copy_of_a_profile_keeps_its_site(tmp_path: Path) -> None:
    sites = []
    for _ in range(2):
        with open_room(tmp_path, watched=False) as room, room.profile.snapshot() as connection:
            rows = connection.execute("SELECT value FROM meta WHERE name = 'site'").fetchall()
            sites += rows

    assert len(set(sites)) == 1
