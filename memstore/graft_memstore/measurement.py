"""Reckons how often a gate is wrong, how far its probabilities hold, which threshold is better."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

CONFIDENCE = 1.959964
"""Standard deviations within which 95 % lie."""
BINS = 10
"""Rows of a calibration table, equally wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the gate made of one question.

    Attributes:
        kind: what the question was made of.
        answerable: some note answers it.
        probability: of the likeliest candidate that no rule holds back; 0 without one.
        right: that candidate answers.
        held_out: no threshold is chosen by it.
    """

    kind: str
    answerable: bool
    probability: float
    right: bool
    held_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many of how many."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """The share seen; 0 of nothing."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Between which shares the real one lies, 95 times in 100: Wilson's interval."""
        if not self.total:
            return 0.0, 1.0
        square = CONFIDENCE**2 / self.total
        centre = (self.share + square / 2) / (1 + square)
        spread = self.share * (1 - self.share) * square + square**2 / 4
        half = math.sqrt(spread) / (1 + square)
        return (
            max(centre - half, 0.0) if self.count else 0.0,
            min(centre + half, 1.0) if self.count < self.total else 1.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often a threshold is wrong.

    Attributes:
        false_strong: of the questions that nothing answers, those that came STRONG.
        missed_strong: of the others, those whose answer did not come STRONG.
    """

    false_strong: Rate
    missed_strong: Rate

    @property
    def wrong(self) -> float:
        """Both shares together."""
        return self.false_strong.share + self.missed_strong.share

    def worsened(self, before: "Rates") -> tuple[str, ...]:
        """Return which of the two is worse than *before*, in words."""
        pairs = (
            ("false STRONG", self.false_strong, before.false_strong),
            ("missed STRONG", self.missed_strong, before.missed_strong),
        )
        return tuple(
            f"{name} would rise from {old.count} to {new.count} of {new.total}"
            for name, new, old in pairs
            if new.count > old.count
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of about one probability, from *low* to below *high*.

    Attributes:
        predicted: mean of their probabilities.
        right: how many of them were right.
    """

    low: float
    high: float
    predicted: float
    right: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRate:
    """How often a threshold is wrong on questions of one kind.

    Attributes:
        wrong: false STRONG where they are not *answerable*, else missed STRONG.
    """

    kind: str
    answerable: bool
    wrong: Rate


class Curve:
    """Outcomes, ready to be counted at any threshold."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        answerable = [each for each in outcomes if each.answerable]
        others = [each for each in outcomes if not each.answerable]
        self._answerable = len(answerable)
        self._right = sorted(each.probability for each in answerable if each.right)
        self._others = sorted(each.probability for each in others)

    def at(self, strong: float) -> Rates:
        """Return the rates where an answer is STRONG from the probability *strong* on."""
        hits = len(self._right) - bisect_left(self._right, strong)
        false = len(self._others) - bisect_left(self._others, strong)
        return Rates(
            false_strong=Rate(count=false, total=len(self._others)),
            missed_strong=Rate(count=self._answerable - hits, total=self._answerable),
        )

    def best_threshold(self, present: float, low: float, high: float) -> float:
        """Return the best from *low* to *high* that makes neither rate worse than *present* does.

        Thresholds lie half-way between neighbouring probabilities, or as near to there as *low*
        and *high* let them; of equally good ones it is the nearest to *present*, which is its own
        equal.
        """
        seen = sorted({*self._right, *self._others})
        before = self.at(present)
        near = [
            threshold
            for under, over in pairwise(seen)
            if under < (threshold := min(max((under + over) / 2, low), high)) <= over
        ]
        fit = [each for each in near if not self.at(each).worsened(before)]
        return min([present, *fit], key=lambda each: (self.at(each).wrong, abs(each - present)))


def rates_by_kind(outcomes: Sequence[Outcome], strong: float) -> list[KindRate]:
    """Return how often *strong* is wrong on each kind, questions without an answer first."""
    rates = []
    for answerable, kind in sorted({(each.answerable, each.kind) for each in outcomes}):
        inside = [each for each in outcomes if (each.answerable, each.kind) == (answerable, kind)]
        found = Curve(inside).at(strong)
        wrong = found.missed_strong if answerable else found.false_strong
        rates.append(KindRate(kind=kind, answerable=answerable, wrong=wrong))
    return rates


def calibration(outcomes: Sequence[Outcome]) -> list[Bin]:
    """Return how often answers of each probability were right; bins without any are left out."""
    bins = []
    for number in range(BINS):
        inside = [each for each in outcomes if _bin_of(each.probability) == number]
        if inside:
            bins.append(
                Bin(
                    low=number / BINS,
                    high=(number + 1) / BINS,
                    predicted=sum(each.probability for each in inside) / len(inside),
                    right=Rate(count=sum(each.right for each in inside), total=len(inside)),
                )
            )
    return bins


def _bin_of(probability: float) -> int:
    return min(int(probability * BINS), BINS - 1)
