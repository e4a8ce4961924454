"""A model's identity, and the hash of its file that is computed once."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from blake3 import blake3

from graft_embedder.catalogue import BY_NAME, Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.identity import FileDigests, identify

STARTER = BY_NAME["starter"]


def test_equal_use_of_an_equal_file_is_one_identity_whatever_its_name() -> None:
    one = identify(STARTER, "ab" * 32, 384)

    other = identify(replace(STARTER, name="e5", file="elsewhere.gguf"), "ab" * 32, 384)

    assert one.key == other.key
    assert len(one.key) == 64


@pytest.mark.parametrize(
    ("digest", "dimensions", "changes"),
    [
        ("cd" * 32, 384, {}),
        ("ab" * 32, 256, {}),
        ("ab" * 32, 384, {"pooling": Pooling.CLS}),
        ("ab" * 32, 384, {"query_prefix": ""}),
        ("ab" * 32, 384, {"passage_prefix": ""}),
        ("ab" * 32, 384, {"query_prefix": "query: p", "passage_prefix": "assage: "}),
    ],
)
def test_another_file_size_pooling_or_prefix_is_another_identity(
    digest: str, dimensions: int, changes: dict[str, object]
) -> None:
    known = identify(STARTER, "ab" * 32, 384)

    other = identify(replace(STARTER, **changes), digest, dimensions)  # type: ignore[arg-type] # names vary by case

    assert other.key != known.key


def test_the_hash_is_blake3_and_is_computed_once(tmp_path: Path) -> None:
    model, memory = tmp_path / "model.gguf", tmp_path / "digests.json"
    model.write_bytes(b"x" * 100)
    told: list[float] = []

    first = FileDigests(memory).digest(model, told.append)
    again = FileDigests(memory).digest(model, told.append)

    assert first == again == blake3(b"x" * 100).hexdigest()
    assert told == [1.0]


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    model, digests = tmp_path / "model.gguf", FileDigests(tmp_path / "digests.json")
    model.write_bytes(b"x" * 100)
    digests.digest(model, lambda _share: None)

    model.write_bytes(b"y" * 100)
    os.utime(model, ns=(1, 1))

    assert digests.digest(model, lambda _share: None) == blake3(b"y" * 100).hexdigest()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"%s": [1]}'])
def test_a_damaged_memory_counts_as_empty(tmp_path: Path, content: str) -> None:
    model, memory = tmp_path / "model.gguf", tmp_path / "digests.json"
    model.write_bytes(b"x")
    memory.write_text(content.replace("%s", str(model)))

    assert FileDigests(memory).digest(model, lambda _share: None) == blake3(b"x").hexdigest()


def test_a_memory_that_cannot_be_kept_is_no_failure(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"x")

    digest = FileDigests(tmp_path / "no" / "folder.json").digest(model, lambda _share: None)

    assert digest == blake3(b"x").hexdigest()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.gguf"):
        FileDigests(tmp_path / "d.json").digest(tmp_path / "gone.gguf", lambda _share: None)
