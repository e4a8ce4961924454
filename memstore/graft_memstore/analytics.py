"""What a memory gave: counts, shares and times of its answers, from their rows alone."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graft.wire.metadata import HOOK_DOOR
from graft_memstore.gate import Hit
from graft_memstore.model import NoteId

DAY_MS = 86_400_000
DAYS_FILLED_MAX = 3_660
"""Days between which those without answers are told as well: a clock may have been far off."""
REUSED_MAX = 10
"""Notes that are named as given most often."""
GROUPS_MAX = 50
"""Scopes and agents that are named, those with most answers."""
PERCENTILES = (50, 90, 99)


class Answered(Protocol):
    """What is looked at of an answer."""

    @property
    def at_ms(self) -> int:
        """When it was given, UTC milliseconds."""

    @property
    def scope(self) -> str:
        """The first scope that was looked at."""

    @property
    def door(self) -> str:
        """Through which kind of program it was asked."""

    @property
    def agent(self) -> str:
        """Who asked, by its own name."""

    @property
    def hit(self) -> Hit:
        """How sure the gate was."""

    @property
    def note_id(self) -> NoteId | None:
        """The note that was given."""

    @property
    def degraded(self) -> bool:
        """Whether an arm could not be had."""

    @property
    def service_ms(self) -> float:
        """How long it took."""

    @property
    def embed_ms(self) -> float:
        """How long of that in the embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """How many answers of each level there were."""

    strong: int = 0
    weak: int = 0
    miss: int = 0

    @property
    def total(self) -> int:
        """How many there were."""
        return self.strong + self.weak + self.miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gave:
    """What was given.

    Attributes:
        hits: of what was asked; what hooks asked about of their own accord, which most often has no
            answer, stands in *by_door* alone.
        by_day: by the beginning of the UTC day, milliseconds; days without any are there, too.
        by_scope, by_agent, by_door: the largest first.
        service_ms, embed_ms: percentiles `PERCENTILES`; none without answers.
        reused: how often each of the notes was the STRONG answer, those given most often first.
        notes_given: how many notes were STRONG answers at all.
        degraded: answers that had to do without an arm.
        first_at_ms: when the first of the answers was given; None without any.
    """

    hits: Hits
    by_day: Mapping[int, Hits]
    by_scope: Mapping[str, Hits]
    by_agent: Mapping[str, Hits]
    by_door: Mapping[str, Hits]
    service_ms: tuple[float, ...]
    embed_ms: tuple[float, ...]
    reused: Mapping[NoteId, int]
    notes_given: int
    degraded: int
    first_at_ms: int | None


def summarise(answers: Sequence[Answered]) -> Gave:
    """Sum *answers* up, which are in the order of their time."""
    given = Counter(
        each.note_id for each in answers if each.hit is Hit.STRONG and each.note_id is not None
    )
    asked = [each for each in answers if each.door != HOOK_DOOR]
    return Gave(
        hits=_hits(asked),
        by_day=_by_day(asked),
        by_scope=_largest(_grouped(asked, lambda each: each.scope)),
        by_agent=_largest(_grouped(asked, lambda each: each.agent)),
        by_door=_largest(_grouped(answers, lambda each: each.door)),
        service_ms=percentiles([each.service_ms for each in answers]),
        embed_ms=percentiles([each.embed_ms for each in answers]),
        reused=dict(sorted(given.items(), key=lambda each: (-each[1], each[0]))[:REUSED_MAX]),
        notes_given=len(given),
        degraded=sum(each.degraded for each in answers),
        first_at_ms=answers[0].at_ms if answers else None,
    )


def percentiles(values: Sequence[float]) -> tuple[float, ...]:
    """Return the percentiles `PERCENTILES` by nearest rank; nothing of nothing."""
    ranked = sorted(values)
    if not ranked:
        return ()
    return tuple(ranked[max(math.ceil(len(ranked) * each / 100), 1) - 1] for each in PERCENTILES)


def _hits(answers: Iterable[Answered]) -> Hits:
    counts = Counter(each.hit for each in answers)
    return Hits(strong=counts[Hit.STRONG], weak=counts[Hit.WEAK], miss=counts[Hit.MISS])


def _grouped(
    answers: Iterable[Answered], key: Callable[[Answered], str]
) -> dict[str, list[Answered]]:
    groups: dict[str, list[Answered]] = {}
    for each in answers:
        groups.setdefault(key(each), []).append(each)
    return groups


def _largest(groups: Mapping[str, Sequence[Answered]]) -> dict[str, Hits]:
    ordered = sorted(groups.items(), key=lambda each: (-len(each[1]), each[0]))
    return {name: _hits(answers) for name, answers in ordered[:GROUPS_MAX]}


def _by_day(answers: Sequence[Answered]) -> dict[int, Hits]:
    groups: dict[int, list[Answered]] = {}
    if answers:
        first, last = (answers[place].at_ms // DAY_MS for place in (0, -1))
        if last - first < DAYS_FILLED_MAX:
            groups = {day * DAY_MS: [] for day in range(first, last + 1)}
    for each in answers:
        groups.setdefault(each.at_ms // DAY_MS * DAY_MS, []).append(each)
    return {day: _hits(found) for day, found in groups.items()}
