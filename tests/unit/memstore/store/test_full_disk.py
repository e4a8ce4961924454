"""A disk that was full before anything was started: what is stored can be read all the same."""

from pathlib import Path

import pytest
from tests.fixtures_disk import SmallDisk
from tests.unit.memstore.room import WAIT_SECONDS, Room, open_room

from graft.wire.errors import DiskFullError, StoppingError
from graft_memstore.deadline import Deadline
from graft_memstore.store.profile import peek_model
from graft_memstore.upkeep.check import check_profile


def findings(room: Room) -> dict[str, bool]:
    return {each.name: each.ok for each in check_profile(room.profile, "", "")}


@pytest.mark.parametrize("crashed", [False, True], ids=["closed", "crashed"])
def test_a_profile_on_a_full_disk_is_read_and_every_change_refused(
    small_disk: SmallDisk, *, crashed: bool
) -> None:
    root = small_disk.root / "home"
    with open_room(root, watched=False) as room:
        kept = room.insert("before the disk was full", "a body")
        if crashed:
            copy_without_shared_memory(root, small_disk.root / "copy")
    root = small_disk.root / "copy" if crashed else root
    small_disk.fill()

    with open_room(root) as room:
        read = room.note(kept.id).title
        refusals = [refusal_of_insert(room) for _ in range(2)]
        cramped = room.profile.cramped
        found = findings(room)

    assert (read, cramped) == ("before the disk was full", True)
    assert all(f"no room left on the disk of {root}" in each for each in refusals)
    assert [name for name, ok in found.items() if not ok] == ["disk", "write lock"]
    assert found["integrity"]


def test_once_there_is_room_again_a_change_succeeds_without_a_restart(
    small_disk: SmallDisk,
) -> None:
    with open_room(small_disk.root, watched=False) as room:
        room.insert("before the disk was full")
    small_disk.fill()

    with open_room(small_disk.root) as room:
        refused = refusal_of_insert(room)
        small_disk.free()
        with pytest.raises(StoppingError, match="opened anew; call again"):
            room.insert("the first one finds the room")
        room.insert("the next one uses it", wait=True)

        assert not room.profile.cramped
        assert room.count("SELECT count(*) FROM notes") == 2
        assert room.profile.serving_model is not None
        deadline = Deadline(WAIT_SECONDS)
        while room.upkeep.busy():
            assert deadline.left() > 0, "upkeep is still busy"
            deadline.wait(0.01)
    assert "no room left" in refused


def test_a_profile_that_would_have_to_be_made_is_a_refusal(small_disk: SmallDisk) -> None:
    with open_room(small_disk.root, watched=False) as room:
        room.insert("in the default profile")
        small_disk.fill()

        with pytest.raises(DiskFullError, match="no room left"):
            room.profiles.add("work")

        assert room.count("SELECT count(*) FROM notes") == 1


def test_looking_at_a_profile_on_a_full_disk_is_a_refusal_at_most(small_disk: SmallDisk) -> None:
    with open_room(small_disk.root, watched=False) as room:
        room.insert("before the disk was full")
        path = room.profile.path
    small_disk.fill()

    with pytest.raises(DiskFullError):
        peek_model(path)


def refusal_of_insert(room: Room) -> str:
    with pytest.raises(DiskFullError) as raised:
        room.insert("too late")
    return raised.value.message


def copy_without_shared_memory(source: Path, target: Path) -> None:
    """Copy a home as a crash leaves it."""
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, mode=0o700)
        elif not path.name.endswith("-shm"):
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o600)
