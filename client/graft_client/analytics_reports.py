"""What the memory gave, as plain data."""

from dataclasses import dataclass
from datetime import datetime

SECONDS_PER_HIT = 60
"""What a STRONG answer is taken to save by itself: an assumption, not a measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HitCounts:
    """How many answers of each level there were; *hit_rate*: share of STRONG, None of none."""

    strong: int
    weak: int
    miss: int
    hit_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """The answers of one UTC day, by its beginning."""

    day: datetime
    hits: HitCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCounts:
    """The answers of one scope ("*": of questions to all), agent ("": none named) or door."""

    name: str
    hits: HitCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Three percentiles, milliseconds."""

    p50_ms: float
    p90_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedNote:
    """A note that was the STRONG answer; *title* is None where searches do not show it now."""

    id: str
    title: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Analytics:
    """What the memory gave.

    Attributes:
        hits: of what was asked; what hooks asked about of their own accord is in *doors* alone.
        days: the first first; those in between without answers are there, too.
        service: how long answers took, *embedder* of that; None without answers.
        notes_given: notes that were STRONG answers at all.
        degraded: answers that had to do without an arm.
        first_at: when the first of these answers was given.
        misses_closed: groups of questions in vain that a note may answer by now.
        misses_kept: whether such questions are kept at all.
    """

    hits: HitCounts
    days: tuple[DayCounts, ...]
    scopes: tuple[NamedCounts, ...]
    agents: tuple[NamedCounts, ...]
    doors: tuple[NamedCounts, ...]
    service: Percentiles | None
    embedder: Percentiles | None
    reused: tuple[ReusedNote, ...]
    notes_given: int
    degraded: int
    first_at: datetime | None
    misses_closed: int
    misses_open: int
    misses_kept: bool

    @property
    def strong_given(self) -> int:
        """How many STRONG answers there were, those of hooks counted."""
        return sum(each.hits.strong for each in self.doors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedAnalytics:
    """How many answers were forgotten."""

    answers: int
