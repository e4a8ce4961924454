"""On a disk that is full services lock, and are found where they were found before."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures_disk import SmallDisk

from graft.wire.launch import ServiceRecord, write_record
from graft.wire.locks import FileLock, holder_of
from graft.wire.paths import Home

SERVICE = "tiny"


def test_a_lock_holds_on_a_full_disk_though_its_holder_cannot_be_told(
    small_disk: SmallDisk,
) -> None:
    small_disk.fill()
    path = small_disk.root / "x.lock"
    lock = FileLock(path)

    taken = lock.try_acquire()

    assert (taken, FileLock(path).try_acquire(), holder_of(path)) == (True, False, 0)
    lock.release()


def test_a_record_is_kept_on_a_full_disk_where_there_was_one(small_disk: SmallDisk) -> None:
    home = Home(root=small_disk.root)
    old, new = (
        ServiceRecord(service=SERVICE, pid=pid, socket=Path("/s"), build="b" * pid, started_ms=1)
        for pid in (7, 3)
    )
    write_record(home, old)
    small_disk.fill()

    write_record(home, new)
    with pytest.raises(OSError, match="No space left"):
        write_record(home, replace(new, service="another"))

    content = json.loads(home.record(SERVICE).read_text())
    assert (content["pid"], content["build"]) == (3, "bbb")
    assert [path.name for path in home.root.glob("*.json.*")] == []
