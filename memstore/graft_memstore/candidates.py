"""What upkeep asks about two notes that are near each other, from their texts alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from graft_memstore.divergence import (
    OVERLAP_SURE,
    Difference,
    Statement,
    divergence,
    overlap_of,
    same_values,
)
from graft_memstore.keyword_variants import Variant
from graft_memstore.model import ItemKind, NoteId

DUPLICATE_OVERLAP = 0.6
"""Share of common words from which two notes say much the same."""
ALIKE_OVERLAP = 0.35
"""The same for notes whose titles the model takes for one."""
SAME_TITLE_COSINE = 0.97
"""Cosine of two titles that are one but for spelling, with any model."""


class Dated(Protocol):
    """What a note has in every form by which two are put in order and told from others."""

    @property
    def seq(self) -> int:
        """Its number."""

    @property
    def id(self) -> NoteId:
        """Its id."""

    @property
    def content_hash(self) -> bytes:
        """Hash of its text."""

    @property
    def recorded_at_ms(self) -> int:
        """When it was stored."""


DatedT = TypeVar("DatedT", bound=Dated)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedNote:
    """A note as it is compared with others.

    Attributes:
        joined: whether any edge goes from it or to it.
        waiting: its vectors or edges are still to be made.
    """

    seq: int
    id: NoteId
    scope: str
    content_hash: bytes
    value_hash: bytes
    recorded_at_ms: int
    says: Statement
    joined: bool
    waiting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that upkeep has found, to be judged.

    Attributes:
        evidence: what a judgement of it rests on.
        note_id: the older note of a pair; empty for what is about no note.
        other_id: the newer one; empty where there is one note.
        scope: of what is about no note.
        measure: how much of it, 0 to 1; of keywords how many notes carry the variant.
        detail: words of ours and keywords, no text of a note.
    """

    kind: ItemKind
    evidence: tuple[str | bytes | int, ...]
    note_id: NoteId | None = None
    other_id: NoteId | None = None
    scope: str = ""
    measure: float = 0.0
    detail: Mapping[str, str] = field(default_factory=dict)


def compare(one: ComparedNote, other: ComparedNote, cosine: float) -> Candidate | None:
    """Return what is to be asked about two notes whose titles are near; None for nothing.

    Notes that say the very same in one scope are left to what may be done without asking.
    """
    if one.value_hash == other.value_hash:
        return None
    older, newer = by_age(one, other)
    differs = divergence(older.says, newer.says)
    if differs is None:
        overlap = overlap_of(older.says, newer.says)
        least = ALIKE_OVERLAP if cosine >= SAME_TITLE_COSINE else DUPLICATE_OVERLAP
        if overlap < least or not same_values(older.says, newer.says):
            return None
        return pair_candidate(ItemKind.DUPLICATE, older, newer, overlap, "wording")
    kind = _kind_of(differs.difference, differs.overlap)
    if kind is ItemKind.SUPERSESSION and older.recorded_at_ms == newer.recorded_at_ms:
        kind = ItemKind.POSSIBLE_CONTRADICTION  # neither is the newer one
    return pair_candidate(kind, older, newer, differs.overlap, differs.difference)


def _kind_of(difference: Difference, overlap: float) -> ItemKind:
    if difference is Difference.VALUE:
        return ItemKind.SUPERSESSION
    return ItemKind.CONTRADICTION if overlap >= OVERLAP_SURE else ItemKind.POSSIBLE_CONTRADICTION


def by_age(one: DatedT, other: DatedT) -> tuple[DatedT, DatedT]:
    """Return two notes, the older one first."""
    older, newer = sorted((one, other), key=lambda each: (each.recorded_at_ms, each.seq))
    return older, newer


def pair_candidate(
    kind: ItemKind, older: Dated, newer: Dated, measure: float, differs: str
) -> Candidate:
    """Return what is asked about a pair of notes."""
    return Candidate(
        kind=kind,
        evidence=(older.id, older.content_hash, newer.id, newer.content_hash),
        note_id=older.id,
        other_id=newer.id,
        measure=measure,
        detail={"differs": differs},
    )


def variant_candidate(scope: str, variant: Variant, count: int) -> Candidate:
    """Return what is asked about a keyword of a scope that *count* notes carry."""
    return Candidate(
        kind=ItemKind.KEYWORD_VARIANT,
        evidence=(scope, variant.variant, variant.keep),
        scope=scope,
        measure=count,
        detail={
            "variant": variant.variant,
            "keep": variant.keep,
            "differs": variant.likeness,
        },
    )
