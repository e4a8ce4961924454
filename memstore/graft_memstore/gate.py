"""Decides whether the best candidate answers a question: STRONG, WEAK or MISS.

A logistic model over signals that do not depend on one model's cosine scale gives a probability;
two thresholds cut it; hard rules come after and only ever lower the answer. The coefficients are
fitted by ``bench/gate/fit.py`` and live in ``gate_model.json``.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

MARGIN_WITHOUT_RUNNER_UP = 2.0
"""Standard deviations that stand for the margin where there is nobody to compare with."""

WEAK_STANDING = 2.0
"""Standard deviations below which a note is called far in meaning."""
COVERAGE_AGREES = 0.25
"""Share of the question's words from which words agree with the vector."""
TRIGRAMS_AGREE = 0.35
"""Overlap with the title from which words agree with the vector."""
STANDING_ALONE = 4.0
"""Standard deviations from which the vector needs no word to agree: another language's door."""


SAME_ERROR = 1.0
"""Signature from which a note and a question tell of one error, in whatever words."""


class Hit(StrEnum):
    """How sure the gate is."""

    STRONG = "STRONG"
    WEAK = "WEAK"
    MISS = "MISS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What the gate looks at.

    Attributes:
        title: standing of the title's cosine; 0 where it has no vector.
        passage: standing of the nearest passage's cosine; the title's where there is no body.
        margin: how far the candidate's fused score lies above the best of the others.
        coverage: share of the question's words in the note, weighed by rarity.
        stretch: the same of the best place in the note.
        shared: rarity of the words that both have, summed.
        missing: share of the question's words that other notes have and this one has not.
        missing_rarest: rarity of the rarest of these.
        uncovered_rarest: rarity of the rarest of the question's words that this one has not.
        title_coverage: share of the title's words in the question.
        title_trigrams: overlap of question and title in three-letter runs.
        words: BM25 as a share of the best note's.
        named: identifiers and numbers in both.
        unnamed: names with digits that the note lacks.
        differing: those of which its title has others of the same make.
        opposite: words of the question whose opposite the note has.
        youth: 1 for a store of no notes, falling towards 0: how little it knows of other words.
        signature: 1 for a note that tells of the question's error, 0.5 for one of the same kind.
    """

    title: float
    passage: float
    margin: float
    coverage: float
    stretch: float
    shared: float
    missing: float
    missing_rarest: float
    uncovered_rarest: float
    title_coverage: float
    title_trigrams: float
    words: float
    named: int
    unnamed: int
    differing: int
    opposite: int
    youth: float
    signature: float = 0.0

    def listed(self) -> tuple[tuple[str, float], ...]:
        """Return names and values in their fixed order."""
        return tuple((each.name, float(getattr(self, each.name))) for each in fields(self))

    @property
    def standing(self) -> float:
        """The better of title and passage."""
        return max(self.title, self.passage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may hold an answer back whatever its probability.

    Attributes:
        all_arms: every arm could be asked.
        may_be_strong: the note's trust allows it.
        is_answer: it tells what holds; a dead end does not.
        applies: nothing that is known of the asker's surroundings speaks against it.
        has_vectors: the candidate has vectors to be judged by.
        error_fits: it tells of no other error than the question's, where both hold a printed one.
        numbers_fit: it gives nothing another number than the question does; a printed error holds
            many that are its own.
    """

    all_arms: bool
    may_be_strong: bool
    is_answer: bool
    applies: bool
    has_vectors: bool
    error_fits: bool
    numbers_fit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """What one feature counts for each unit, and between which values it counts."""

    weight: float
    low: float
    high: float

    def counted(self, value: float) -> float:
        """Return what a feature of this *value* adds to the logit."""
        return self.weight * max(self.low, min(value, self.high))


NO_WEIGHT = Coefficient(weight=0.0, low=0.0, high=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateModel:
    """A fitted gate.

    Attributes:
        coefficients: by the names that `features` gives.
        strong: probability from which a candidate is handed out whole, if the rules allow.
        weak: probability from which its title is.
        strong_is_own: *strong* is a profile's own, not the fitted one.
    """

    bias: float
    coefficients: Mapping[str, Coefficient]
    strong: float
    weak: float
    strong_is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one feature adds to the logit.

    Attributes:
        contribution: *weight* times *value*, which counts no further than the model has seen it.
    """

    name: str
    value: float
    weight: float
    contribution: float


def features(signals: Signals) -> dict[str, float]:
    """Return what the logistic model sees: the signals, and what a few of them say together.

    A title that is the question but for a word that other notes know is about something else. A
    young store does not know which words matter, so there any word, and any number, that the note
    lacks speaks against it, the more so the more of its title is in the question.
    """
    swapped = signals.title_coverage * signals.uncovered_rarest
    return dict(signals.listed()) | {
        "copied_but": signals.title_trigrams * signals.missing,
        "swapped_in_youth": signals.youth * swapped,
        "unnamed_in_youth": signals.youth * signals.unnamed,
    }


def contributions(signals: Signals, model: GateModel) -> tuple[Contribution, ...]:
    """Return what each feature adds to the logit; with the bias they are all of it.

    What the model gives no weight to speaks through the rules alone.
    """
    return tuple(
        Contribution(
            name=name,
            value=value,
            weight=coefficient.weight,
            contribution=coefficient.counted(value),
        )
        for name, value in features(signals).items()
        for coefficient in (model.coefficients.get(name, NO_WEIGHT),)
    )


def probability(signals: Signals, model: GateModel) -> float:
    """Return how likely a candidate with these signals answers the question."""
    seen = features(signals)
    logit = model.bias + sum(each.counted(seen[name]) for name, each in model.coefficients.items())
    return 1.0 / (1.0 + math.exp(-logit))


def words_agree(signals: Signals) -> bool:
    """Tell whether something else than the vector speaks for the candidate.

    Where question and note share no word, as in two languages, a shared identifier or number
    does, or a vector that stands out further than it otherwise needs to.
    """
    return (
        signals.coverage >= COVERAGE_AGREES
        or signals.title_trigrams >= TRIGRAMS_AGREE
        or signals.named > 0
        or signals.standing >= STANDING_ALONE
        or signals.signature >= SAME_ERROR
    )


def may_be_strong(signals: Signals, rules: Rules) -> bool:
    """Tell whether a candidate is handed out whole if only its probability is high enough."""
    fits = rules.is_answer and rules.applies and rules.error_fits and rules.numbers_fit
    judged = rules.all_arms and rules.has_vectors
    return fits and judged and rules.may_be_strong and words_agree(signals)


def decide(signals: Signals, rules: Rules, model: GateModel) -> Hit:
    """Return the answer for one candidate."""
    if not rules.all_arms:
        return _decide_by_words(signals)
    chance = probability(signals, model)
    if chance < model.weak:
        return Hit.MISS
    return Hit.STRONG if chance >= model.strong and may_be_strong(signals, rules) else Hit.WEAK


COVERAGE_WEAK = 0.5
"""Share of the question's words that makes a note WEAK when there are words alone to go by."""


def _decide_by_words(signals: Signals) -> Hit:
    """Return WEAK where the words alone make the note worth opening, else MISS."""
    near = (
        signals.coverage >= COVERAGE_WEAK
        or signals.title_trigrams >= COVERAGE_WEAK
        or signals.signature >= SAME_ERROR
    )
    return Hit.WEAK if near else Hit.MISS
