"""Finds the notes that a new one is like, so that its writer may replace one instead."""

from collections.abc import Callable

import numpy as np

from graft_memstore.model import Background, ScopeFilter, SimilarNote
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.vector_arm import VectorSearch, aspects_of, find_near
from graft_memstore.store.database import Connection
from graft_memstore.store.search import Eligible, found_notes

CANDIDATES_WANTED = 8
"""Nearest notes whose titles are compared."""
SIMILAR_STANDING = 3.0
"""Standard deviations above the store's background from which two titles are alike."""
SIMILAR_COSINE = 0.92
"""Cosine from which they are in a store too small to have a background."""
SIMILAR_COSINE_MIN = 0.6
"""Below this two titles are never alike."""
BACKGROUND_ROWS_MIN = 40
"""Vectors from which a store has a background."""


class SimilarNotes:
    """Finds similar notes in a snapshot.

    Args:
        now_ms: wall clock, UTC milliseconds; what has expired is not named.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms

    def __call__(
        self,
        connection: Connection,
        index: VectorIndex,
        vector: bytes,
        *,
        scope: str,
        limit: int,
    ) -> list[SimilarNote]:
        """Return at most *limit* notes of *scope* whose titles are like *vector*, best first."""
        search = VectorSearch(
            connection=connection,
            index=index,
            vector=np.frombuffer(vector, dtype="<f4"),
            eligible=Eligible(scope=ScopeFilter(scopes=(scope,)), now_ms=self._now_ms()),
            wanted=CANDIDATES_WANTED + limit,
        )
        near = find_near(search)
        least = _least_cosine(near.background)
        titles = {
            seq: aspects.title
            for seq, aspects in aspects_of(search, list(near.cosines)[: search.wanted]).items()
            if aspects.title is not None and aspects.title >= least
        }
        notes = found_notes(connection, titles, search.eligible)
        best_first = sorted(titles, key=lambda seq: (-titles[seq], -seq))
        return [
            SimilarNote(
                note_id=notes[seq].note_id, title=notes[seq].title, similarity=min(titles[seq], 1.0)
            )
            for seq in best_first
            if seq in notes
        ][:limit]


def _least_cosine(background: Background) -> float:
    if background.count < BACKGROUND_ROWS_MIN:
        return SIMILAR_COSINE
    return max(SIMILAR_COSINE_MIN, background.mean + SIMILAR_STANDING * background.deviation)
