"""One order out of what the arms say of each note."""

from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.model import Background

DEVIATION_MIN = 1e-3
"""Below this a spread of cosines is no spread but a store of one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScores:
    """What the arms say of one note; None where an arm did not find it.

    Attributes:
        seq: the note's number, higher for newer notes.
        cosine: of its nearest chunk.
        words: BM25 over its words.
        pieces: BM25 over runs of letters inside its words.
        signature: how far it tells of the question's error, 0 to 1.
    """

    seq: int
    cosine: float | None = None
    words: float | None = None
    pieces: float | None = None
    signature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What the best note of an arm gains, in standard deviations of cosine.

    The values were swept by ``bench/gate/ranking.py``.

    Attributes:
        words: by words.
        pieces: by runs of letters inside words.
        signature: by the question's error; one with an error of its kind gains a share.
    """

    words: float
    pieces: float
    signature: float


WEIGHTS = Weights(words=1.25, pieces=0.5, signature=4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A note and its score from all arms."""

    scores: ArmScores
    score: float


def fuse(
    found: Sequence[ArmScores], background: Background, weights: Weights = WEIGHTS
) -> list[Fused]:
    """Return the notes best first; equal ones newer first.

    A cosine counts by its distance from the question's background, BM25 by its share of the
    best in its arm: neither scale means anything by itself. A signature's score does.
    """
    words_best = max((each.words or 0.0 for each in found), default=0.0)
    pieces_best = max((each.pieces or 0.0 for each in found), default=0.0)
    fused = [
        Fused(
            scores=each,
            score=standing(each.cosine, background)
            + weights.words * _share(each.words, words_best)
            + weights.pieces * _share(each.pieces, pieces_best)
            + weights.signature * (each.signature or 0.0),
        )
        for each in found
    ]
    return sorted(fused, key=lambda each: (-each.score, -each.scores.seq))


def standing(cosine: float | None, background: Background) -> float:
    """Return how many standard deviations *cosine* lies above the background; 0 without one."""
    if cosine is None:
        return 0.0
    return (cosine - background.mean) / max(background.deviation, DEVIATION_MIN)


def blend(prior: Background, own: Background) -> Background:
    """Return the background of a question: its own over the store, and the model's, by count.

    A store of one note leaves almost all to the prior, one of thousands almost nothing.
    """
    count = prior.count + own.count
    if count <= 0.0:
        return prior
    mean = (prior.count * prior.mean + own.count * own.mean) / count
    variance = (prior.count * prior.deviation**2 + own.count * own.deviation**2) / count
    return Background(mean=mean, deviation=variance**0.5, count=count)


def _share(score: float | None, best: float) -> float:
    return score / best if score and best > 0.0 else 0.0
