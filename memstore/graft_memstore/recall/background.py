"""What the titles of unrelated notes look like to a model in this profile, and what stands out.

A cosine tells nothing by itself: with one model unrelated titles lie at 0.85, with another at 0.4.
So a sample of pairs of the profile's own titles is kept, drawn anew as the store grows, and two
notes are alike when their cosine would be rare among those.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.model import ModelId
from graft_memstore.store.background_samples import SampledPair, SampledSize
from graft_memstore.store.database import Connection
from graft_memstore.store.titles import read_titles_of

PAIRS_MAX = 4_096
"""Pairs that a sample has, all those of 91 notes: of more, a share of 3 in 100 is then known to a
quarter of one in 100."""
PAIRS_MIN = 10
"""Pairs, those of five notes, below which nothing can stand out; only keywords join notes then."""
GROWTH_SHARE = 4
"""A sample is drawn anew when the store has grown by one in so many."""
KEYWORD_PERCENTILE = 90.0
"""Notes that share a keyword are joined from this percentile of the sample on."""
SEMANTIC_PERCENTILE = 97.0
"""Notes are joined for their likeness alone from this one on."""
ROUNDING = 1e-6
"""What two ways to compute one cosine may differ by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines from which two titles are joined: when their notes share a keyword, or share none."""

    keyword: float
    semantic: float


def thresholds_of(cosines: Sequence[float]) -> Thresholds:
    """Return what stands out among *cosines*, a sample of pairs.

    In a store too small to tell, a shared keyword is enough and nothing else is.
    """
    if len(cosines) < PAIRS_MIN:
        return Thresholds(keyword=-math.inf, semantic=math.inf)
    keyword, semantic = np.percentile(cosines, [KEYWORD_PERCENTILE, SEMANTIC_PERCENTILE])
    return Thresholds(keyword=float(keyword) - ROUNDING, semantic=float(semantic) - ROUNDING)


def is_outgrown(drawn: SampledSize, titles: int, pairs: int) -> bool:
    """Tell whether a sample of which *pairs* are left is to be drawn anew from *titles* titles."""
    if titles < 2:  # noqa: PLR2004 - a pair takes two
        return False
    grown = titles >= drawn.titles + max(1, drawn.titles // GROWTH_SHARE)
    # Pairs go with their notes when those are deleted.
    return grown or pairs < drawn.pairs - drawn.pairs // GROWTH_SHARE


def draw_pairs(count: int, seed: int) -> NDArray[np.intp]:
    """Return pairs of places among *count*, a row each: all of them, else `PAIRS_MAX` at random.

    The same arguments always give the same pairs.
    """
    if count * (count - 1) // 2 <= PAIRS_MAX:
        return np.column_stack(np.triu_indices(count, k=1))
    random = np.random.default_rng(seed)
    # Twice as many as wanted, for those that are drawn twice or pair a title with itself.
    drawn = np.sort(random.integers(0, count, (2 * PAIRS_MAX, 2)), axis=1)
    unique = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    return random.permutation(unique)[:PAIRS_MAX]


def sample_pairs(
    connection: Connection, model_id: ModelId, seqs: NDArray[np.int64]
) -> list[SampledPair]:
    """Return the cosines of pairs of the titles of *seqs*, those that are gone left out."""
    pairs = seqs[draw_pairs(len(seqs), seed=len(seqs))]
    titles = read_titles_of(connection, model_id, np.unique(pairs).tolist())
    return [
        SampledPair(
            src=min(one, other),
            dst=max(one, other),
            cosine=float(titles[one].vector @ titles[other].vector),
        )
        for one, other in pairs.tolist()
        if one in titles and other in titles
    ]
