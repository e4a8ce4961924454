"""Finds the notes that a note is to be joined with, from its title and its keywords."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.diversity import choose_diverse
from graft_memstore.model import USER_SCOPE, ModelId, ScopeFilter
from graft_memstore.recall.background import Thresholds
from graft_memstore.recall.index import IndexView
from graft_memstore.recall.title_scores import TitleScores, score_titles
from graft_memstore.store.database import Connection
from graft_memstore.store.edges import FoundEdge
from graft_memstore.store.keywords import present_keyword_ids
from graft_memstore.store.search import Eligible, chunks_by_id
from graft_memstore.store.titles import Title, titles_with_keyword

KEYWORD_NEIGHBOURS_MAX = 5
"""Notes that one is joined with for each of its keywords."""
SEMANTIC_NEIGHBOURS_MAX = 20
"""Notes that one is joined with for its likeness to them alone."""
POOL_MAX = 64
"""Nearest notes of which those are picked that do not all say the same."""
RELEVANCE_SHARE = 0.7
"""How much nearness counts in picking them, against being unlike what was picked before."""
KEYWORDS_JOINED_MAX = 64
"""Keywords of one note that join it."""
KEYWORD_NOTES_MAX = 2_048
"""Of the notes that carry a keyword, the newest so many are looked at."""
COSINE_MIN = 0.01
"""Titles that have nothing to do with one another are never joined, whatever the others are."""
GROWTH = 4
"""How many times more is looked at when too few of what is near can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Notes that a title is near to, nearest first, ties to the newer: their seqs and vectors."""

    seqs: list[int]
    cosines: NDArray[np.float32]
    vectors: NDArray[np.float32]


class NeighbourSearch:
    """Compares titles with all others of one snapshot.

    Args:
        connection: in a snapshot that *view* is not behind.
        model_id: the model whose vectors *view* holds.
        view: the warm index.
        thresholds: from which cosine on two titles are joined.
        now_ms: UTC milliseconds; nothing that has expired is joined.
    """

    def __init__(
        self,
        connection: Connection,
        model_id: ModelId,
        view: IndexView,
        thresholds: Thresholds,
        now_ms: int,
    ) -> None:
        self._connection = connection
        self._model_id = model_id
        self._view = view
        self._rows = view.titles()
        self._thresholds = thresholds
        self._now_ms = now_ms

    def edges_of(self, title: Title) -> list[FoundEdge]:
        """Return the edges between a note and its neighbours."""
        scope = joinable_scopes(title.scope)
        eligible = Eligible(scope=scope, now_ms=self._now_ms)
        scopes = None if scope.all else scope.scopes
        scores = score_titles(self._view, self._rows, title.vector, scopes)
        edges: list[FoundEdge] = []
        for keyword_id in present_keyword_ids(self._connection, title.note_id, KEYWORDS_JOINED_MAX):
            carriers = titles_with_keyword(
                self._connection, self._model_id, keyword_id, eligible, KEYWORD_NOTES_MAX
            )
            near = self._near(title, scores, eligible, among=carriers)
            edges += _joined(title, near, range(len(near.seqs)), keyword_id)
        pool = self._near(title, scores, eligible)
        return edges + _joined(title, pool, _diverse(pool), None)

    def nearest(self, title: Title, wanted: int) -> Near:
        """Return the *wanted* titles that are nearest, however near they are."""
        scope = joinable_scopes(title.scope)
        eligible = Eligible(scope=scope, now_ms=self._now_ms)
        scopes = None if scope.all else scope.scopes
        scores = score_titles(self._view, self._rows, title.vector, scopes)
        return self._nearest(title, scores, eligible, wanted, COSINE_MIN)

    def _near(
        self,
        title: Title,
        scores: TitleScores,
        eligible: Eligible,
        among: NDArray[np.int64] | None = None,
    ) -> Near:
        """Return the nearest titles that *title* is near enough to.

        *among*, where it is given, are those that share a keyword with it.
        """
        thresholds = self._thresholds
        if among is None:
            least = max(thresholds.semantic, COSINE_MIN)
            return self._nearest(title, scores, eligible, POOL_MAX, least)
        least = max(thresholds.keyword, COSINE_MIN)
        return self._nearest(title, scores, eligible, KEYWORD_NEIGHBOURS_MAX, least, among)

    def _nearest(
        self,
        title: Title,
        scores: TitleScores,
        eligible: Eligible,
        wanted: int,
        least: float,
        among: NDArray[np.int64] | None = None,
    ) -> Near:
        count = wanted + 1  # itself
        while True:
            proposed = scores.propose(count, least, among)
            chunks = chunks_by_id(self._connection, self._model_id, proposed.chunk_ids, eligible)
            cosines = chunks.vectors @ title.vector if len(chunks) else np.empty(0, np.float32)
            kept = np.flatnonzero((cosines >= least) & (chunks.seqs != title.seq))
            if len(kept) >= wanted or proposed.complete:
                order = kept[np.lexsort((-chunks.seqs[kept], -cosines[kept]))][:wanted]
                return Near(
                    seqs=chunks.seqs[order].tolist(),
                    cosines=cosines[order],
                    vectors=chunks.vectors[order],
                )
            count *= GROWTH


def joinable_scopes(scope: str) -> ScopeFilter:
    """Return the scopes of the notes that one of *scope* may be joined with.

    A read looks, by default, at one scope and at `user`: two notes are joined only where such a
    read could see both, so a project's note with those of its project and of `user`, and one of
    `user` with all.
    """
    if scope == USER_SCOPE:
        return ScopeFilter(all=True)
    return ScopeFilter(scopes=(scope, USER_SCOPE))


def _diverse(pool: Near) -> Sequence[int]:
    """Return the places of the notes in *pool* that are picked."""
    if len(pool.seqs) <= SEMANTIC_NEIGHBOURS_MAX:
        return range(len(pool.seqs))
    likeness = pool.vectors @ pool.vectors.T
    return choose_diverse(
        [RELEVANCE_SHARE * cosine for cosine in pool.cosines.tolist()],
        lambda place: likeness[place].tolist(),
        SEMANTIC_NEIGHBOURS_MAX,
        1.0 - RELEVANCE_SHARE,
    )


def _joined(
    title: Title, near: Near, places: Iterable[int], keyword_id: int | None
) -> list[FoundEdge]:
    return [
        FoundEdge(
            one=title.seq,
            other=near.seqs[place],
            keyword_id=keyword_id,
            weight=min(float(near.cosines[place]), 1.0),
        )
        for place in places
    ]
