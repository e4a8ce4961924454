"""The file of a backup on the caller's side: whole or not at all, and nothing left over."""

import stat
from pathlib import Path

import pytest
from tests.fixtures_disk import SmallDisk

from graft_client.backup_files import (
    FileExistsAlreadyError,
    NoRoomError,
    check_readable,
    new_file,
    read_pieces,
)
from graft_client.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_is_there_whole_with_the_end_of_the_block_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "b"
    with new_file(path, overwrite=False) as draft:
        draft.write(b"one ")
        draft.write(b"two")
        before = path.exists()

    assert (before, path.read_bytes()) == (False, b"one two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(tmp_path) == ["b"]


def test_what_fails_leaves_nothing_and_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_text("mine")

    with pytest.raises(RuntimeError), new_file(path, overwrite=True) as draft:  # noqa: PT012 - the block is what fails
        draft.write(b"half")
        raise RuntimeError

    assert path.read_text() == "mine"
    assert names(tmp_path) == ["b"]


def test_a_file_that_comes_in_between_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "b"
    with pytest.raises(FileExistsAlreadyError), new_file(path, overwrite=False) as draft:  # noqa: PT012 - the end of the block is what fails
        draft.write(b"ours")
        path.write_text("somebody else's")

    assert path.read_text() == "somebody else's"
    assert names(tmp_path) == ["b"]


def test_a_link_that_leads_nowhere_counts_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.symlink_to(tmp_path / "nowhere")

    with pytest.raises(FileExistsAlreadyError), new_file(path, overwrite=False):
        pass

    assert path.is_symlink()


def test_a_draft_that_is_being_written_is_not_swept(tmp_path: Path) -> None:
    path = tmp_path / "b"
    with new_file(path, overwrite=False) as first:
        first.write(b"first")
        with new_file(path, overwrite=False) as second:
            second.write(b"second")
            both = len(names(tmp_path))
        path.unlink()

    assert both == 2
    assert path.read_bytes() == b"first"


def test_without_room_for_all_of_it_none_is_written(small_disk: SmallDisk) -> None:
    path = small_disk.root / "b"

    with (
        pytest.raises(NoRoomError, match="takes 1,000 bytes"),
        new_file(path, overwrite=False) as d,
    ):
        d.check_room(1_000)

    assert names(small_disk.root) == []


def test_folders_and_places_that_are_not_there_are_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"), new_file(tmp_path, overwrite=True):
        pass
    with (
        pytest.raises(InputError, match="no file can be written"),
        new_file(tmp_path / "none" / "b", overwrite=False),
    ):
        pass
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            check_readable(path)


def test_pieces_are_told_of_as_they_go(tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(bytes((1 << 20) + 5))
    heard: list[tuple[int, int]] = []

    pieces = list(read_pieces(path, lambda done, total: heard.append((done, total))))

    assert [len(piece) for piece in pieces] == [1 << 20, 5]
    assert heard == [(1 << 20, (1 << 20) + 5), ((1 << 20) + 5, (1 << 20) + 5)]
