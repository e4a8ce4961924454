"""One pass over a warm index for one title, out of which its nearest of any kind are taken."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.recall.index import IndexView, TitleRows

PROPOSED_SHARE = 4
"""Titles that are proposed at most, as a multiple of those wanted: scores lie close together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Titles that may be nearest.

    Attributes:
        chunk_ids: best first by the coarse score.
        complete: none that may be near enough was left out.
    """

    chunk_ids: list[int]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleScores:
    """Coarse cosines of one vector with the titles of a view.

    Attributes:
        chunk_ids: rising.
        scores: of each of them; minus infinity for a title in no scope that was asked for.
        error: what a score is hardly ever off by.
    """

    chunk_ids: NDArray[np.int64]
    scores: NDArray[np.float32]
    error: float

    def propose(
        self, wanted: int, least: float, among: NDArray[np.int64] | None = None
    ) -> Proposed:
        """Return the titles that may be one of the *wanted* nearest, of those from *least* on.

        Args:
            wanted: titles.
            least: cosine.
            among: chunk ids to choose from; None: all.
        """
        places = self._near(least, among)
        order = places[np.argsort(-self.scores[places], kind="stable")]
        if len(order) > wanted:
            # Both the last wanted one's score and a later one's may be off.
            too_far = self.scores[order[wanted - 1]] - 2 * self.error
            order = order[self.scores[order] >= too_far][: PROPOSED_SHARE * wanted]
        return Proposed(
            chunk_ids=self.chunk_ids[order].tolist(), complete=len(order) == len(places)
        )

    def _near(self, least: float, among: NDArray[np.int64] | None) -> NDArray[np.intp]:
        """Return the places of the titles that may be as near as *least*."""
        # No cosine is below -1, but the score of a title that may not be proposed is.
        bound = max(least, -1.0) - self.error
        if among is None:
            return np.flatnonzero(self.scores >= bound)
        wanted = np.sort(among)
        places = np.searchsorted(self.chunk_ids, wanted)
        held = places < len(self.chunk_ids)
        places, wanted = places[held], wanted[held]
        places = places[self.chunk_ids[places] == wanted]
        near: NDArray[np.intp] = places[self.scores[places] >= bound]
        return near


def score_titles(
    view: IndexView,
    rows: TitleRows,
    vector: NDArray[np.float32],
    scopes: tuple[str, ...] | None,
) -> TitleScores:
    """Compare *vector* with the titles of *view*, which are *rows* of it, in one pass.

    Only those in *scopes* can be proposed; None: all.
    """
    scores, error = view.score(vector)
    scores = scores[rows.places]
    allowed = None if scopes is None else view.allowed_codes(scopes)
    if allowed is not None:
        scores[~allowed[rows.scopes]] = -np.inf
    return TitleScores(chunk_ids=rows.chunk_ids, scores=scores, error=error)
