"""What a question to the store is made of, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from graft_memstore.applicability import Applicability, Context
from graft_memstore.gate import Hit
from graft_memstore.model import AppliesTo, Background, NoteId, NoteKind, ScopeFilter, Trust
from graft_memstore.recall.account import Account
from graft_memstore.signature import Understood
from graft_memstore.store.search import Eligible

VECTOR_ARM = "vector"
WORDS_ARM = "words"
PIECES_ARM = "pieces"
SIGNATURE_ARM = "signature"

UNKNOWN_BACKGROUND = Background(mean=0.5, deviation=0.12, count=8.0)
"""For a model that does not know its own: wide, and soon outweighed by the store's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, its vector, and where it may look.

    Attributes:
        said: its telling part, and the signatures of the errors in it.
        vector: of the telling part, of unit length; None when the vector arm cannot be had.
        prior: cosines between unrelated texts of the vector's model.
        keywords_min: how many of *keywords* a note must carry; 0 for any note.
        context: versions that are there where it is asked.
        without: number of a note that is passed over; 0 for none.
        valid_at_ms, known_at_ms: see `View`; of one to the past *now_ms* is *known_at_ms*.
    """

    said: Understood
    vector: NDArray[np.float32] | None
    prior: Background
    scope: ScopeFilter
    now_ms: int
    keywords: tuple[str, ...] = ()
    keywords_min: int = 0
    context: Context = field(default_factory=dict)
    without: int = 0
    valid_at_ms: int | None = None
    known_at_ms: int | None = None

    @property
    def looks_back(self) -> bool:
        """Whether it asks what was true or known at another instant than now."""
        return self.valid_at_ms is not None or self.known_at_ms is not None

    @property
    def eligible(self) -> Eligible:
        """Which notes may answer it."""
        return replace(self.every_note, keywords=self.keywords, keywords_min=self.keywords_min)

    @property
    def every_note(self) -> Eligible:
        """The same, whatever keywords it asks for."""
        return Eligible(
            scope=self.scope,
            now_ms=self.now_ms,
            valid_at_ms=self.valid_at_ms,
            known_at_ms=self.known_at_ms,
            without=self.without,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NearTitle:
    """A note that came near, and in words why it is not the answer."""

    note_id: NoteId
    title: str
    why: str
    trust: Trust
    kind: NoteKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """A note near the question that tells what does not work."""

    note_id: NoteId
    title: str
    trust: Trust
    applicability: tuple[Applicability, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """A candidate that the gate looked at, and how likely it answers."""

    note_id: NoteId
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What an answer rests on, for its receipt.

    Attributes:
        account: what the gate made of the best candidate.
        looked_at: candidates, likeliest first, one that may be STRONG before all others.
        arms: those that were asked.
        background: what cosines were measured against.
    """

    account: Account
    looked_at: tuple[LookedAt, ...]
    arms: tuple[str, ...]
    background: Background


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """The gate's answer.

    Attributes:
        note_id: the best candidate when STRONG or WEAK, else None.
        signals: what the gate looked at for the best candidate, in a fixed order.
        near: on MISS, the nearest titles.
        missing: on WEAK, in words, what speaks against the candidate.
        degraded: arms that could not be had.
        notes_elsewhere: notes that could be seen from other scopes.
        applicability: what the note applies to, and what that means where it is asked.
        dead_ends: beside a note, what is near the question and does not work.
        context_wanted: names that a candidate applies to and the context does not know.
        against: beside a STRONG note, what is near the question and says otherwise.
    """

    hit: Hit
    probability: float
    note_id: NoteId | None
    signals: tuple[tuple[str, float], ...]
    near: tuple[NearTitle, ...]
    missing: tuple[str, ...]
    degraded: tuple[str, ...]
    notes_elsewhere: int
    applicability: tuple[Applicability, ...]
    dead_ends: tuple[DeadEnd, ...]
    context_wanted: tuple[str, ...]
    against: tuple[NearTitle, ...]
    grounds: Grounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlace:
    """Where one arm put a note: its rank from 1, and its score there."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedNote:
    """One result of a ranked search, with what each arm that found it said."""

    note_id: NoteId
    title: str
    score: float
    arms: Mapping[str, ArmPlace]
    trust: Trust
    trust_reason: str
    keywords: tuple[str, ...]
    scope: str
    kind: NoteKind
    applies_to: tuple[AppliesTo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveAnswer:
    """A ranked search's results, best first."""

    results: tuple[RankedNote, ...]
    degraded: tuple[str, ...]
    notes_elsewhere: int
