"""Finds the notes nearest to a vector: proposed coarsely, scored and checked in the snapshot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.model import Background
from graft_memstore.recall.index import IndexView, VectorIndex
from graft_memstore.store.database import Connection
from graft_memstore.store.search import (
    Chunks,
    Eligible,
    allowed_chunks,
    chunks_by_id,
    chunks_of_notes,
    newer_chunks,
)
from graft_memstore.store.vectors import NEAREST_MAX, has_chunks, last_chunk, nearest_bits

BITS_RESCORED = 256
"""Best rows of a scan of signs, which tell far less, that are scored exactly."""
GROWTH = 4
"""How many times more is looked at when too few of what is near may answer."""
EXACT_ROWS_MAX = 2_000
"""So few allowed rows are scored exactly and nothing is proposed."""
NEWER_ROWS_MAX = 4_096
"""With more vectors above the index's mark, the file's bits answer instead."""
SAMPLE_ROWS = 128
"""Rows that stand for all while there is no index to tell the background."""
CHUNKS_OF_CANDIDATES_MAX = 1_024
"""Vectors that are read for notes which another arm found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearNotes:
    """Notes near a vector.

    Attributes:
        cosines: by the note's seq, of its nearest chunk; best first, ties to the newer note.
        background: cosines of the question with everything that it was compared with.
    """

    cosines: dict[int, float]
    background: Background


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspects:
    """How near a note's title and its nearest passage are; None where it has no such vector."""

    title: float | None
    passage: float | None

    @property
    def nearest(self) -> float | None:
        """The better of the two."""
        known = [cosine for cosine in (self.title, self.passage) if cosine is not None]
        return max(known, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSearch:
    """A question to the vectors of one snapshot.

    Attributes:
        wanted: notes to find, if so many may answer.
    """

    connection: Connection
    index: VectorIndex
    vector: NDArray[np.float32]
    eligible: Eligible
    wanted: int


def find_near(search: VectorSearch) -> NearNotes:
    """Return at least the wanted notes nearest to the question of those that may answer."""
    among = _among_keywords(search)
    if among is not None and len(among) <= EXACT_ROWS_MAX:
        return _of_chunks(search, _check(search, among.tolist()))
    view = search.index.view
    if view is None:
        return _by_bits(search, among)
    newer = newer_chunks(
        search.connection, search.index.model_id, view.mark, search.eligible, NEWER_ROWS_MAX + 1
    )
    if len(newer) > NEWER_ROWS_MAX:
        return _by_bits(search, among)
    return _by_bytes(search, view, newer, among)


def aspects_of(search: VectorSearch, seqs: list[int]) -> dict[int, Aspects]:
    """Return how near title and passages of the notes listed are, by their seq."""
    chunks = chunks_of_notes(
        search.connection, search.index.model_id, seqs, search.eligible, CHUNKS_OF_CANDIDATES_MAX
    )
    titles: dict[int, float] = {}
    passages: dict[int, float] = {}
    cosines = _cosines(chunks, search.vector)
    for seq, part, cosine in zip(
        chunks.seqs.tolist(), chunks.parts.tolist(), cosines.tolist(), strict=True
    ):
        kind = passages if part else titles
        kind[seq] = max(cosine, kind.get(seq, cosine))
    return {
        seq: Aspects(title=titles.get(seq), passage=passages.get(seq))
        for seq in titles.keys() | passages.keys()
    }


def _among_keywords(search: VectorSearch) -> NDArray[np.int64] | None:
    if not search.eligible.keywords_min:
        return None
    return allowed_chunks(search.connection, search.index.model_id, search.eligible)


def _by_bytes(
    search: VectorSearch, view: IndexView, newer: Chunks, among: NDArray[np.int64] | None
) -> NearNotes:
    """Search the index, looking further as long as too few of its rows may answer."""
    scope = search.eligible.scope
    wanted = search.wanted
    while True:
        proposal = view.propose(
            search.vector, wanted, scopes=None if scope.all else scope.scopes, among=among
        )
        checked = _check(search, proposal.chunk_ids)
        # Newer notes do not make up for proposed ones that are gone: what was not proposed yet may
        # be nearer than they are.
        if len(np.unique(checked.seqs)) >= search.wanted or proposal.complete:
            found = _best_of_notes(search.vector, checked, newer)
            return NearNotes(cosines=found, background=proposal.background)
        wanted *= GROWTH


def _by_bits(search: VectorSearch, among: NDArray[np.int64] | None) -> NearNotes:
    """Search the signs in the file; those that may answer are told apart when it comes to that.

    The nearest of all rows, less those that may not answer, are the nearest of those that may: so
    long as enough are left, naming the allowed rows beforehand would change nothing.
    """
    if not has_chunks(search.connection, search.index.model_id, EXACT_ROWS_MAX):
        everything = newer_chunks(
            search.connection, search.index.model_id, 0, search.eligible, EXACT_ROWS_MAX
        )
        return _of_chunks(search, everything)
    background = _sampled_background(search)
    count = BITS_RESCORED
    while among is None and count <= NEAREST_MAX:
        nearest = _nearest_bits(search, count, None)
        found = _best_of_notes(search.vector, _check(search, nearest))
        if len(found) >= search.wanted or len(nearest) < count:
            return NearNotes(cosines=found, background=background)
        count *= GROWTH
    if among is None:
        among = allowed_chunks(search.connection, search.index.model_id, search.eligible)
    if len(among) <= EXACT_ROWS_MAX:
        return _of_chunks(search, _check(search, among.tolist()))
    nearest = _nearest_bits(search, NEAREST_MAX, among)
    found = _best_of_notes(search.vector, _check(search, nearest))
    return NearNotes(cosines=found, background=background)


def _of_chunks(search: VectorSearch, chunks: Chunks) -> NearNotes:
    """Return what every allowed row says."""
    return NearNotes(
        cosines=_best_of_notes(search.vector, chunks),
        background=_background(_cosines(chunks, search.vector)),
    )


def _sampled_background(search: VectorSearch) -> Background:
    """Return the background of rows that lie evenly over all."""
    last = last_chunk(search.connection, search.index.model_id)
    spread = np.unique(np.linspace(1, max(last, 1), SAMPLE_ROWS, dtype=np.int64))
    return _background(_cosines(_check(search, spread.tolist()), search.vector))


def _background(cosines: NDArray[np.float32]) -> Background:
    if len(cosines) == 0:
        return Background(mean=0.0, deviation=0.0, count=0.0)
    return Background(
        mean=float(cosines.mean()), deviation=float(cosines.std()), count=float(len(cosines))
    )


def _nearest_bits(search: VectorSearch, count: int, among: NDArray[np.int64] | None) -> list[int]:
    return nearest_bits(
        search.connection,
        search.index.model_id,
        search.vector,
        count,
        None if among is None else among.tolist(),
    )


def _check(search: VectorSearch, chunk_ids: list[int]) -> Chunks:
    return chunks_by_id(search.connection, search.index.model_id, chunk_ids, search.eligible)


def _cosines(chunks: Chunks, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(chunks) == 0:
        return np.empty(0, dtype=np.float32)
    return chunks.vectors @ vector


def _best_of_notes(vector: NDArray[np.float32], *found: Chunks) -> dict[int, float]:
    """Return each note's best cosine, best first, ties to the newer note."""
    cosines = np.concatenate([_cosines(chunks, vector) for chunks in found])
    seqs = np.concatenate([chunks.seqs for chunks in found])
    order = np.lexsort((-seqs, -cosines))
    best: dict[int, float] = {}
    for seq, cosine in zip(seqs[order].tolist(), cosines[order].tolist(), strict=True):
        best.setdefault(seq, cosine)
    return best
