"""GGUF headers: read with limits, written so that others can read them."""

import struct
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graft_embedder import gguf_file
from graft_embedder.errors import ModelFileError


def write_small(path: Path) -> bytes:
    """Write a small file with every kind of entry and return its bytes."""
    values = np.arange(8, dtype=np.float32)
    entries = [
        gguf_file.text("general.architecture", "bert"),
        gguf_file.integer("bert.context_length", 512),
        gguf_file.number("bert.epsilon", 0.5),
        gguf_file.flag("bert.attention.causal", value=False),
        gguf_file.texts("words", [b"a", "é".encode()]),
        gguf_file.numbers("types", gguf_file.INT32, struct.pack("<3i", 1, 2, 3)),
    ]
    tensor = gguf_file.Tensor(
        name="w", shape=(4, 2), kind=gguf_file.TENSOR_F32, data=memoryview(values.tobytes())
    )
    with path.open("wb") as file:
        gguf_file.write(file, entries, [tensor], lambda _done, _all: None)
    return path.read_bytes()


def test_facts_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    write_small(path)

    assert gguf_file.read_facts(path) == {
        "general.architecture": "bert",
        "bert.context_length": 512,
        "bert.epsilon": 0.5,
        "bert.attention.causal": False,
    }


def test_the_usual_reader_reads_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    write_small(path)

    reader = GGUFReader(path)

    assert reader.fields["general.architecture"].contents() == "bert"
    assert reader.fields["words"].contents() == ["a", "é"]
    assert reader.fields["types"].contents() == [1, 2, 3]
    (tensor,) = reader.tensors
    assert tensor.name == "w"
    assert tensor.data.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_progress_ends_with_all_bytes() -> None:
    told: list[tuple[int, int]] = []
    file = BytesIO()
    tensor = gguf_file.Tensor(name="w", shape=(1,), kind=0, data=memoryview(bytes(4)))

    gguf_file.write(file, [], [tensor], lambda done, all_: told.append((done, all_)))

    size = len(file.getvalue())
    assert told[-1] == (size, size)
    assert size % gguf_file.ALIGNMENT == 0


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"these are no weights at all")

    with pytest.raises(ModelFileError, match="not a GGUF file"):
        gguf_file.read_facts(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.gguf"):
        gguf_file.read_facts(tmp_path / "gone.gguf")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 200), flips=st.lists(st.tuples(st.integers(8, 220), st.integers(0, 255))))
def test_a_damaged_header_is_refused_or_read_but_never_anything_else(
    tmp_path: Path, cut: int, flips: list[tuple[int, int]]
) -> None:
    path = tmp_path / "small.gguf"
    content = bytearray(write_small(path))
    for at, value in flips:
        content[at] = value
    path.write_bytes(content[: len(content) - cut])

    with suppress(ModelFileError):
        assert isinstance(gguf_file.read_facts(path), dict)
