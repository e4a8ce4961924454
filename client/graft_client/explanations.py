"""What the service tells of its answers, as plain data; fields are named as in the JSON output."""

from dataclasses import dataclass
from datetime import datetime

from graft_client.results import Condition, Hit, Source, SourceCheck, SourceState


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one signal added to the logit: *weight* times *value*, within bounds."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The least probability of a *hit*; *distance* is how far the answer's lies above it.

    It is the profile's *own* where `measure_gate` set one, else what comes with the program.
    """

    hit: Hit
    probability: float
    distance: float
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that holds whatever the probability.

    Attributes:
        kept: the best candidate keeps it.
        lowered: it is broken, and the probability alone would have given a surer answer.
    """

    name: str
    kept: bool
    lowered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAtNote:
    """A candidate that the gate looked at, the best first.

    Attributes:
        now: how it stands now.
        title: None where a search in the same scopes does not show it now.
    """

    id: str
    probability: float
    now: Condition
    title: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldNote:
    """A note that its *state* kept from being a candidate; *now* is how it stands now."""

    id: str
    state: Condition
    now: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """A source that was to be looked at; *state* is None while nobody has said."""

    source: Source
    state: SourceState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineBackground:
    """Cosines of the question with unrelated texts: what signals of meaning are measured by."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What an answer was made of; without a candidate *signals* and *rules* are empty.

    Attributes:
        bias: the logit without any signal; with the contributions it is the logit.
        arms: those that were asked.
        degraded: those that could not be had.
        scopes: those that were looked at; empty with *all_scopes*.
        index: "int8", "bits" or "none".
        model_identity: of the model's file; empty before the first vector.
        event: last event of the profile's log that the answer had seen; 0 before the first.
        source_check: how the files that the answer rests on are; None where it rests on none.
        sources: those that were to be looked at.
    """

    receipt: str
    hit: Hit
    probability: float
    bias: float
    signals: tuple[Contribution, ...]
    thresholds: tuple[Threshold, ...]
    rules: tuple[Rule, ...]
    arms: tuple[str, ...]
    degraded: tuple[str, ...]
    looked_at: tuple[LookedAtNote, ...]
    withheld: tuple[WithheldNote, ...]
    scopes: tuple[str, ...]
    all_scopes: bool
    background: CosineBackground
    index: str
    model: str
    model_identity: str
    at: datetime
    event: int
    source_check: SourceCheck | None = None
    sources: tuple[CheckedSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MissGroup:
    """Questions in vain that ask the same.

    Attributes:
        question: the beginning of the first of them.
        count: how often it was asked.
        scopes: where it was asked; empty with *all_scopes*.
        answered_by: id of a later note that may answer it; None while none does.
    """

    question: str
    count: int
    first_at: datetime
    last_at: datetime
    scopes: tuple[str, ...]
    all_scopes: bool
    answered_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """Questions in vain: open ones first, most asked first; *kept*: whether they are kept now."""

    groups: tuple[MissGroup, ...]
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedMisses:
    """What was erased; *erasing* says that cleaning the file goes on in the background."""

    groups: int
    questions: int
    erasing: bool
