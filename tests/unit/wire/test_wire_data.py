"""Vectors, refusals, metadata and the model rule survive the wire as they were."""

import os
import re
import struct
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2
from graft.memory.v1 import errors_pb2
from graft.wire import errors
from graft.wire.build import build_id, newest_change
from graft.wire.metadata import VALUE_BYTES_MAX, CallMetadata
from graft.wire.models import BGE_M3_FILE, RegistryError, default_model_name
from graft.wire.paths import Home
from graft.wire.vectors import packed_floats


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=300))
def test_packed_floats_are_what_protobuf_writes(values: list[float]) -> None:
    raw = struct.pack(f"<{len(values)}f", *values)

    window = embedder_pb2.Window.FromString(packed_floats(3, raw))

    assert list(window.values) == values
    assert window == embedder_pb2.Window(values=values)


def test_half_a_float_is_refused() -> None:
    with pytest.raises(ValueError, match="5 bytes"):
        packed_floats(1, b"12345")


def test_every_reason_has_one_class_and_its_documented_status() -> None:
    proto = Path(errors.__file__).parents[1] / "memory" / "v1" / "errors.proto"
    documented = re.findall(
        r"// ([A-Z_]+)\. [^=]*?\n  ERROR_REASON_(\w+) = \d+;", proto.read_text()
    )

    ours = [
        (each.code.name, errors_pb2.ErrorReason.Name(each.reason).removeprefix("ERROR_REASON_"))
        for each in errors.ServiceError.__subclasses__()
    ]

    assert sorted(ours) == sorted(documented)
    assert len(ours) == len(errors_pb2.ErrorReason.keys()) - 1


class Failed(grpc.RpcError):
    """What a stub raises, made by hand from a status."""

    def __init__(self, status: grpc.Status) -> None:
        super().__init__()
        self._status = status

    @override
    def code(self) -> grpc.StatusCode:
        return self._status.code

    @override
    def details(self) -> str:
        return self._status.details

    @override
    def trailing_metadata(self) -> Any:  # what the stubs name is private to them
        return self._status.trailing_metadata


def test_a_refusal_arrives_with_all_that_it_said() -> None:
    sent = errors.BusyError("full; try again", metadata={"queue": "64"}, retry_after_ms=250)

    refusal = errors.read_refusal(Failed(errors.to_status(sent, "graft.test")))

    assert refusal == errors.Refusal(
        code=grpc.StatusCode.RESOURCE_EXHAUSTED,
        reason="BUSY",
        message="full; try again",
        metadata={"queue": "64"},
        retry_after_ms=250,
    )


def test_a_bad_field_arrives_with_its_name() -> None:
    sent = errors.BadFieldError("title", "is empty; give 1 to 1,024 characters")

    refusal = errors.read_refusal(Failed(errors.to_status(sent, "graft.test")))

    assert [each.field for each in refusal.violations] == ["title"]
    assert refusal.message == "title: is empty; give 1 to 1,024 characters"


@given(st.text(max_size=300), st.sampled_from(["cli", "mcp", "hook", "web", "library"]))
def test_metadata_is_short_ascii_and_comes_back(session: str, door: str) -> None:
    sent = CallMetadata(session=session, door=door, build="0.1.0+5")

    pairs = sent.to_pairs()
    read = CallMetadata.read(pairs)

    assert all(value.isascii() and len(value) <= VALUE_BYTES_MAX for _, value in pairs)
    assert (read.door, read.protocol, read.build) == (door, 1, "0.1.0+5")
    if len(session) < 20:
        assert read.session == session


def test_metadata_of_strangers_is_left_out() -> None:
    read = CallMetadata.read([("graft-door", "root"), ("graft-protocol", "x;y"), ("a", b"b")])

    assert read == CallMetadata(session="", door="library", protocol=0, build="y")


def test_the_model_of_new_profiles_follows_the_rule(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    assert default_model_name(home, "") == "starter"

    home.models.mkdir()
    (home.models / BGE_M3_FILE).touch()
    assert default_model_name(home, "") == "bge-m3"

    home.models_file.write_text('{"default": "mine"}')
    assert default_model_name(home, "") == "mine"
    assert default_model_name(home, "configured") == "configured"

    home.models_file.write_text("[")
    with pytest.raises(RegistryError, match="move it away"):
        default_model_name(home, "")


def test_the_build_names_version_and_newest_file() -> None:
    assert re.fullmatch(r"[0-9.]+\+[0-9]{10,}", build_id())


@pytest.mark.parametrize("name", ["code.py", "below/gate_model.json", "below/0001_notes.sql"])
def test_a_change_of_code_gate_or_schema_is_another_build(tmp_path: Path, name: str) -> None:
    (tmp_path / "below").mkdir()
    for file, seconds in (("old.py", 1_000), (name, 2_000)):
        (tmp_path / file).touch()
        os.utime(tmp_path / file, (seconds, seconds))

    assert newest_change(str(tmp_path)) == 2_000


def test_bytecode_and_other_files_are_no_part_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    for file in ("__pycache__/code.py", "README.md"):
        (tmp_path / file).touch()

    assert newest_change(str(tmp_path)) == 0
