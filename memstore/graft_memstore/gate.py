"""Decides whether the best candidate answers a question: STRONG, WEAK or MISS.

A logistic model over a few signals that do not depend on one model's cosine scale gives a
probability; two thresholds cut it; hard rules come after and only ever lower the answer.

The coefficients are a first fit on 65 and 110 notes with 226 questions, each answerable one asked
a second time with its note taken away, and on stores of 1 to 12 of these notes. Among 65 notes,
.99 of the STRONG answers are right and .90 of the answerable questions get one; among 110, many of
which touch the same subject from another side, .92 and .84.
"""

import math
from dataclasses import dataclass, fields
from enum import StrEnum

STRONG_PROBABILITY = 0.65
"""From here on a candidate is handed out whole, if the rules allow."""
WEAK_PROBABILITY = 0.20
"""From here on its title is."""

BIAS = -6.45
TITLE_WEIGHT = 0.63
"""For each standard deviation that the title lies above the background."""
PASSAGE_WEIGHT = 0.09
"""The same for the nearest passage."""
MARGIN_WEIGHT = 1.20
"""For each standard deviation that the candidate lies above the runner-up."""
COVERAGE_WEIGHT = 5.8
"""For all of the question's words, weighed by rarity, in the note."""
TRIGRAMS_WEIGHT = 2.8
"""For a title that is the question."""
WORDS_WEIGHT = 0.16
"""For the best note by BM25."""
SIGNATURE_WEIGHT = 4.0
"""For a note that tells of the question's very error."""

MARGIN_WITHOUT_RUNNER_UP = 2.0
"""Standard deviations that stand for the margin where there is nobody to compare with."""
MARGIN_MAX = 4.0
"""A wider margin tells no more."""
STANDING_MAX = 8.0
"""No signal of one arm decides alone, however far it lies out."""

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
        passage: standing of the nearest passage's cosine.
        margin: how far the candidate's better standing lies above the runner-up's.
        coverage: share of the question's words in the note, weighed by rarity.
        title_trigrams: overlap of question and title in three-letter runs.
        words: BM25 as a share of the best note's.
        named: identifiers and numbers in both.
        signature: 1 for a note that tells of the question's error, 0.5 for one of the same kind.
    """

    title: float
    passage: float
    margin: float
    coverage: float
    title_trigrams: float
    words: float
    named: int
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
    """

    all_arms: bool
    may_be_strong: bool
    is_answer: bool
    applies: bool
    has_vectors: bool
    error_fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one signal adds to the logit.

    Attributes:
        contribution: *weight* times *value*, which counts no further than its bounds.
    """

    name: str
    value: float
    weight: float
    contribution: float


def contributions(signals: Signals) -> tuple[Contribution, ...]:
    """Return what each signal adds; together with `BIAS` they are the logit."""
    counted = {
        "title": (TITLE_WEIGHT, min(signals.title, STANDING_MAX)),
        "passage": (PASSAGE_WEIGHT, min(signals.passage, STANDING_MAX)),
        "margin": (MARGIN_WEIGHT, max(-MARGIN_MAX, min(signals.margin, MARGIN_MAX))),
        "coverage": (COVERAGE_WEIGHT, signals.coverage),
        "title_trigrams": (TRIGRAMS_WEIGHT, signals.title_trigrams),
        "words": (WORDS_WEIGHT, signals.words),
        "signature": (SIGNATURE_WEIGHT, signals.signature),
    }
    found = []
    for name, value in signals.listed():
        # What has no weight speaks through the rules alone.
        weight, bounded = counted.get(name, (0.0, 0.0))
        found.append(
            Contribution(name=name, value=value, weight=weight, contribution=weight * bounded)
        )
    return tuple(found)


def probability(signals: Signals) -> float:
    """Return how likely a candidate with these signals answers the question."""
    logit = BIAS + sum(each.contribution for each in contributions(signals))
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


def decide(signals: Signals, rules: Rules) -> Hit:
    """Return the answer for the best candidate."""
    chance = probability(signals)
    if chance < WEAK_PROBABILITY and rules.all_arms:
        return Hit.MISS
    if not rules.all_arms:
        return _decide_by_words(signals)
    fits = rules.is_answer and rules.applies and rules.error_fits
    allowed = fits and rules.may_be_strong and rules.has_vectors and words_agree(signals)
    return Hit.STRONG if chance >= STRONG_PROBABILITY and allowed else Hit.WEAK


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
