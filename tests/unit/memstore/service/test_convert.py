"""The proto's words and the memstore's own are the same."""

from enum import StrEnum

import pytest
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft_memstore.applicability import Fit
from graft_memstore.gate import Hit
from graft_memstore.model import Condition, Lifecycle, NoteKind, SourceKind, Trust
from graft_memstore.service.convert import (
    CONDITIONS,
    FITS,
    HITS,
    KINDS,
    LIFECYCLES,
    SOURCE_KINDS,
    TRUSTS,
)


@pytest.mark.parametrize(
    ("words", "table", "enum", "prefix"),
    [
        (Lifecycle, LIFECYCLES, note_pb2.Lifecycle, "LIFECYCLE_"),
        (Trust, TRUSTS, note_pb2.Trust, "TRUST_"),
        (NoteKind, KINDS, note_pb2.NoteKind, "NOTE_KIND_"),
        (Fit, FITS, note_pb2.Fit, "FIT_"),
        (SourceKind, SOURCE_KINDS, note_pb2.SourceKind, "SOURCE_KIND_"),
        (Hit, HITS, recall_service_pb2.Hit, "HIT_"),
        (Condition, CONDITIONS, note_pb2.NoteCondition, "NOTE_CONDITION_"),
    ],
)
def test_every_word_has_its_number_and_every_number_its_word(
    words: type[StrEnum],
    table: dict[StrEnum, int],
    enum: "EnumTypeWrapper",
    prefix: str,
) -> None:
    names = {name.removeprefix(prefix) for name in enum.DESCRIPTOR.values_by_name} - {"UNSPECIFIED"}

    numbers = {word: word.value.upper().replace("-", "_").replace(" ", "_") for word in words}
    assert set(numbers.values()) == names
    assert {word: enum.Value(prefix + name) for word, name in numbers.items()} == table
