"""A profile works where its write-ahead log would not be safe, or cannot be had at all."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from tests.unit.memstore.room import Room, open_room

from graft_memstore.store.filesystem import read_mounts
from graft_memstore.upkeep.check import check_profile

NETWORK = "21 1 0:30 / / rw,relatime - nfs4 server:/export rw\n"


def of_a_network(_: Path) -> Callable[[], str]:
    return lambda: NETWORK


def with_a_pipe(shared_memory: Path) -> Callable[[], str]:
    os.mkfifo(shared_memory)  # opens, but cannot be given a size
    return read_mounts


def with_a_link(shared_memory: Path) -> Callable[[], str]:
    shared_memory.symlink_to("/nowhere/at/all")  # cannot be opened
    return read_mounts


def with_a_folder(shared_memory: Path) -> Callable[[], str]:
    shared_memory.mkdir()  # can be read at most
    return read_mounts


UNSAFE = pytest.mark.parametrize(
    "make_unsafe", [of_a_network, with_a_pipe, with_a_link, with_a_folder]
)


def journal_of(room: Room) -> str:
    with room.profile.snapshot() as connection:
        return str(connection.pragma("journal_mode"))


def findings(room: Room) -> dict[str, tuple[bool, str]]:
    found = check_profile(room.profile, "", "")
    return {each.name: (each.ok, each.detail) for each in found}


def shared_memory_of(root: Path) -> Path:
    folder = root / "profiles" / "default"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "graft.db-shm"


@UNSAFE
def test_a_new_profile_takes_everything_by_the_rollback_journal(
    tmp_path: Path, make_unsafe: Callable[[Path], Callable[[], str]]
) -> None:
    mounts = make_unsafe(shared_memory_of(tmp_path))

    with open_room(tmp_path, mounts=mounts) as room, ThreadPoolExecutor(8) as pool:
        stored = pool.map(lambda number: room.insert(f"note {number}", "a body").id, range(40))
        ids = list(stored)
        gone = room.delete(ids[0])
        room.wait_until_embedded()
        found = findings(room)
        journal = journal_of(room)
        log = room.profile.path.with_name("graft.db-wal").exists()

    with open_room(tmp_path, watched=False, mounts=mounts) as room:
        kept = room.count("SELECT count(*) FROM notes")
        vectors = room.count("SELECT count(*) FROM chunks WHERE part = 0")

    assert (journal, log, gone.id) == ("delete", False, ids[0])
    assert found["journal"] == (
        True,
        "delete; the file system is not safe for wal, so writes are slower",
    )
    assert {name: detail for name, (ok, detail) in found.items() if not ok} == {}
    assert (kept, vectors) == (39, 39)


@UNSAFE
def test_a_profile_that_was_moved_there_keeps_what_its_log_held(
    tmp_path: Path, make_unsafe: Callable[[Path], Callable[[], str]]
) -> None:
    with open_room(tmp_path / "before", watched=False) as room:
        room.insert("in the file")
        room.profile.run(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        room.insert("in its log alone")
        before = journal_of(room)
        # As a crash, or a copy of a running home, leaves it.
        copy_files(tmp_path / "before", tmp_path / "after")
    mounts = make_unsafe(shared_memory_of(tmp_path / "after"))

    with open_room(tmp_path / "after", mounts=mounts) as room:
        room.insert("after the move", wait=True)
        found = findings(room)
        journal = journal_of(room)
        count = room.count("SELECT count(*) FROM notes")

    assert (before, journal, count) == ("wal", "delete", 3)
    assert {name: detail for name, (ok, detail) in found.items() if not ok} == {}


def test_a_profile_is_checked_while_others_write_by_the_rollback_journal(tmp_path: Path) -> None:
    done = Event()

    def keep_writing(room: Room) -> int:
        written = 0
        while not done.is_set():
            room.insert(f"note {written}")
            written += 1
        return written

    mounts = of_a_network(tmp_path)
    with (
        open_room(tmp_path, watched=False, mounts=mounts) as room,
        ThreadPoolExecutor(1) as pool,
    ):
        writing = pool.submit(keep_writing, room)
        try:
            found = [findings(room)["integrity"] for _ in range(20)]
        finally:
            done.set()

        assert found == [(True, "ok")] * 20
        assert writing.result() == room.count("SELECT count(*) FROM notes")


def test_where_shared_memory_can_be_had_again_the_log_is_used_again(tmp_path: Path) -> None:
    shared_memory = shared_memory_of(tmp_path)
    with_a_pipe(shared_memory)
    with open_room(tmp_path, watched=False) as room:
        room.insert("by the rollback journal")
        first = journal_of(room)
    shared_memory.unlink()

    with open_room(tmp_path, watched=False) as room:
        room.insert("by the write-ahead log")

        assert (first, journal_of(room)) == ("delete", "wal")
        assert findings(room)["journal"] == (True, "wal")
        assert room.count("SELECT count(*) FROM notes") == 2


def copy_files(source: Path, target: Path) -> None:
    """Copy a home without its shared memory."""
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, mode=0o700)
        elif not path.name.endswith("-shm"):
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o600)
