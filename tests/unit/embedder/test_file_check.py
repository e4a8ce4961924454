from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from graft.wire.models import BGE_M3, STARTER
from graft_embedder.catalogue import BY_NAME, Entry
from graft_embedder.file_check import check_file


def fetched(content: bytes) -> Entry:
    entry = BY_NAME[BGE_M3]
    assert entry.download is not None
    return replace(entry, download=replace(entry.download, sha256=sha256(content).hexdigest()))


def test_a_fetched_file_is_right_only_with_its_own_hash(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"the model")

    right = check_file(fetched(b"the model"), path)
    wrong = check_file(fetched(b"another"), path)

    assert right.ok
    assert not wrong.ok
    assert "graft model pull bge-m3" in wrong.detail


def test_a_starter_that_was_changed_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "starter.gguf"
    path.write_bytes(b"not the starter")

    assert "damaged" in check_file(BY_NAME[STARTER], path).detail


def test_a_registered_file_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"mine")
    entry = replace(BY_NAME[BGE_M3], name="mine", file=str(path), download=None)

    assert check_file(entry, path).ok


def test_a_file_that_cannot_be_read_is_wrong(tmp_path: Path) -> None:
    assert "cannot be read" in check_file(BY_NAME[STARTER], tmp_path / "none").detail
