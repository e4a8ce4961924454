"""The warm index: every vector of a model in bytes, which proposes what may be nearest.

It only proposes. What it proposes is scored exactly, and checked, in the reader's own snapshot;
vectors above its mark are not in it and are scored from the file.
"""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.model import Background, Model, ModelId
from graft_memstore.recall.int8 import Dots, coarse_error, fastest_dots, quantise
from graft_memstore.store.database import Connection
from graft_memstore.store.vectors import ChunkBatch, count_chunks_until, read_chunks

SEGMENT_ROWS = 8_192
"""Rows that are set aside at once; pages that are not written yet take no memory."""
LOAD_ROWS = 512
"""Rows that are read from the file at once."""
GATHERED_SHARE = 4
"""Below one allowed row in so many, the rows are gathered instead of scoring all of a segment."""
DEAD_ROWS_MAX = 1_024
DEAD_SHARE = 4
"""The index is built anew when more than one row in so many, and `DEAD_ROWS_MAX`, are deleted."""
CHUNKS_PER_NOTE = 2
"""Rows of one note that are proposed: its best by the coarse score is its best or next to it."""
ROWS_PER_NOTE = 4
"""Best rows that are looked at for each note wanted: a long note takes several places."""
ROWS_MIN = 32
REFRESHES_PER_COUNT = 64
"""Deleted rows are counted every so many refreshes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Chunks that may be nearest.

    Attributes:
        chunk_ids: best first by the coarse score; of one note at most `CHUNKS_PER_NOTE`.
        complete: no allowed note was left out.
        background: coarse cosines of all allowed rows.
    """

    chunk_ids: list[int]
    complete: bool
    background: Background


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    rows: NDArray[np.int8]
    steps: NDArray[np.float32]
    chunk_ids: NDArray[np.int64]
    seqs: NDArray[np.int64]
    scopes: NDArray[np.int32]
    titles: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleRows:
    """The rows of a view that are of titles, a note each, in the order of their chunks.

    Attributes:
        places: where they are among all rows of the view.
        scopes: codes of their notes' scopes.
    """

    places: NDArray[np.intp]
    chunk_ids: NDArray[np.int64]
    seqs: NDArray[np.int64]
    scopes: NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexView:
    """The index as it was at one moment; rows that are added later are not in it.

    Attributes:
        count: rows that it holds.
        mark: the highest chunk that it holds; all above must be scored from the file.
    """

    segments: tuple[_Segment, ...]
    scope_codes: Mapping[str, int]
    count: int
    mark: int
    dots: Dots

    def propose(
        self,
        vector: NDArray[np.float32],
        wanted: int,
        *,
        scopes: tuple[str, ...] | None = None,
        among: NDArray[np.int64] | None = None,
    ) -> Proposal:
        """Return the rows that may hold one of the *wanted* nearest of the notes allowed.

        Rows are allowed by *scopes* (None: all), or by *among*, rising chunk ids (None: all). They
        are told apart before the best are taken, so a narrow filter loses nothing.
        """
        coarse, steps = quantise(vector[np.newaxis, :])
        allowed = None if scopes is None else self.allowed_codes(scopes)
        rows: list[NDArray[np.intp]] = []
        scores: list[NDArray[np.float32]] = []
        for number, segment in enumerate(self.segments):
            start = number * SEGMENT_ROWS
            used = min(self.count - start, SEGMENT_ROWS)
            places = _allowed_rows(segment, used, allowed, among)
            scores.append(_score(segment, used, places, coarse[0], self.dots) * steps[0])
            rows.append((np.arange(used) if places is None else places) + start)
        return self._proposal(
            _joined(rows, np.intp), _joined(scores, np.float32), wanted, float(steps[0])
        )

    def titles(self) -> TitleRows:
        """Return which rows are of titles."""
        places: list[NDArray[np.intp]] = []
        chunk_ids: list[NDArray[np.int64]] = []
        seqs: list[NDArray[np.int64]] = []
        scopes: list[NDArray[np.int32]] = []
        for number, segment in enumerate(self.segments):
            start = number * SEGMENT_ROWS
            held = np.flatnonzero(segment.titles[: self.count - start])
            places.append(held + start)
            chunk_ids.append(segment.chunk_ids[held])
            seqs.append(segment.seqs[held])
            scopes.append(segment.scopes[held])
        return TitleRows(
            places=_joined(places, np.intp),
            chunk_ids=_joined(chunk_ids, np.int64),
            seqs=_joined(seqs, np.int64),
            scopes=_joined(scopes, np.int32),
        )

    def score(self, vector: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """Return the coarse cosine of every row, and what one is hardly ever off by."""
        coarse, steps = quantise(vector[np.newaxis, :])
        scores: list[NDArray[np.float32]] = []
        largest = 0.0
        for number, segment in enumerate(self.segments):
            used = min(self.count - number * SEGMENT_ROWS, SEGMENT_ROWS)
            scores.append(_score(segment, used, None, coarse[0], self.dots) * steps[0])
            largest = max(largest, float(segment.steps[:used].max()))
        return _joined(scores, np.float32), coarse_error(float(steps[0]), largest)

    def _proposal(
        self, rows: NDArray[np.intp], scores: NDArray[np.float32], wanted: int, step: float
    ) -> Proposal:
        """Take the best rows until enough notes are found and no other can be nearer than these."""
        count = max(ROWS_MIN, ROWS_PER_NOTE * wanted)
        best = _best_places(scores, count)
        complete = len(best) == len(scores)
        taken: dict[int, int] = {}
        chunk_ids: list[int] = []
        too_far = -math.inf
        for row, score in zip(rows[best].tolist(), scores[best].tolist(), strict=True):
            if score < too_far:
                complete = False
                break
            segment, place = self.segments[row // SEGMENT_ROWS], row % SEGMENT_ROWS
            seq = int(segment.seqs[place])
            taken[seq] = taken.get(seq, 0) + 1
            if taken[seq] <= CHUNKS_PER_NOTE:
                chunk_ids.append(int(segment.chunk_ids[place]))
            if len(taken) == wanted and too_far == -math.inf:
                # Both this note's score and a later one's may be off.
                too_far = score - 2 * coarse_error(step, float(segment.steps[place]))
        return Proposal(chunk_ids=chunk_ids, complete=complete, background=_background(scores))

    def allowed_codes(self, scopes: tuple[str, ...]) -> NDArray[np.bool_] | None:
        """Tell for each scope's code whether it is asked for; None when all are."""
        allowed = np.zeros(len(self.scope_codes) + 1, dtype=np.bool_)
        for scope in scopes:
            if scope in self.scope_codes:
                allowed[self.scope_codes[scope]] = True
        return None if bool(allowed[:-1].all()) else allowed


class VectorIndex:
    """The vectors of one model of one profile, in memory.

    One thread at a time may load or refresh; any number may search meanwhile.
    """

    def __init__(self, model_id: ModelId, dimensions: int) -> None:
        self.model_id = model_id
        self.dimensions = dimensions
        self._dots = fastest_dots()
        self._writing = threading.Lock()
        self._view: IndexView | None = None
        self._refreshes = 0

    @property
    def state(self) -> str:
        """Tell "int8" when the vectors are in memory, "bits" before."""
        return "bits" if self._view is None else "int8"

    @property
    def view(self) -> IndexView | None:
        """The rows as they are now; None until they have been loaded."""
        return self._view

    def load(self, connection: Connection) -> None:
        """Read every vector, once; searches use the file's bits until it is done."""
        with self._writing:
            if self._view is None:
                self._view = self._extended(self._empty(), connection)

    def catch_up(self, connection: Connection) -> IndexView:
        """Load or refresh, and return a view that holds every vector of the snapshot."""
        with self._writing:
            view = self._empty() if self._view is None else self._view
            self._view = view = self._extended(view, connection)
            return view

    def refresh(self, connection: Connection) -> None:
        """Take in what was written since the last time; nothing before `load`."""
        with self._writing:
            if self._view is None:
                return
            self._view = self._extended(self._view, connection)
            self._refreshes += 1
            if self._refreshes % REFRESHES_PER_COUNT == 0 and self._is_worn(connection):
                self._view = self._extended(self._empty(), connection)

    def renew(self, connection: Connection) -> None:
        """Read every vector anew, where they have been loaded: their notes have moved."""
        with self._writing:
            if self._view is not None:
                self._view = self._extended(self._empty(), connection)

    def _empty(self) -> IndexView:
        return IndexView(segments=(), scope_codes={}, count=0, mark=0, dots=self._dots)

    def _is_worn(self, connection: Connection) -> bool:
        view = self._view
        if view is None:
            return False
        dead = view.count - count_chunks_until(connection, self.model_id, view.mark)
        return dead > DEAD_ROWS_MAX and dead * DEAD_SHARE > view.count

    def _extended(self, view: IndexView, connection: Connection) -> IndexView:
        for batch in read_chunks(connection, self.model_id, view.mark, LOAD_ROWS):
            view = _appended(view, batch, self.dimensions)
        return view


def index_of(serving: Model | None, held: VectorIndex | None) -> VectorIndex | None:
    """Return the index of the model that serves in a snapshot: *held* if it is of that model.

    Otherwise an empty one, for which the file's bits answer; None without a model.
    """
    if serving is None:
        return None
    if held is None or held.model_id != serving.model_id:
        return VectorIndex(serving.model_id, serving.dimensions)
    return held


def _appended(view: IndexView, batch: ChunkBatch, dimensions: int) -> IndexView:
    """Return a view with the batch behind its rows.

    Rows are written where no view that is handed out looks, and seen with the new view alone.
    """
    codes = dict(view.scope_codes)
    scopes = np.array([codes.setdefault(scope, len(codes)) for scope in batch.scopes], np.int32)
    rows, steps = quantise(batch.vectors)
    segments = list(view.segments)
    count, taken = view.count, 0
    while taken < len(rows):
        if count == len(segments) * SEGMENT_ROWS:
            segments.append(_new_segment(dimensions))
        start = count % SEGMENT_ROWS
        size = min(SEGMENT_ROWS - start, len(rows) - taken)
        into, source = slice(start, start + size), slice(taken, taken + size)
        segments[-1].rows[into] = rows[source]
        segments[-1].steps[into] = steps[source]
        segments[-1].chunk_ids[into] = batch.chunk_ids[source]
        segments[-1].seqs[into] = batch.seqs[source]
        segments[-1].scopes[into] = scopes[source]
        segments[-1].titles[into] = batch.parts[source] == 0
        count, taken = count + size, taken + size
    return IndexView(
        segments=tuple(segments),
        scope_codes=codes,
        count=count,
        mark=int(batch.chunk_ids[-1]),
        dots=view.dots,
    )


def _new_segment(dimensions: int) -> _Segment:
    return _Segment(
        rows=np.zeros((SEGMENT_ROWS, dimensions), dtype=np.int8),
        steps=np.zeros(SEGMENT_ROWS, dtype=np.float32),
        chunk_ids=np.zeros(SEGMENT_ROWS, dtype=np.int64),
        seqs=np.zeros(SEGMENT_ROWS, dtype=np.int64),
        scopes=np.zeros(SEGMENT_ROWS, dtype=np.int32),
        titles=np.zeros(SEGMENT_ROWS, dtype=np.bool_),
    )


def _allowed_rows(
    segment: _Segment,
    used: int,
    allowed: NDArray[np.bool_] | None,
    among: NDArray[np.int64] | None,
) -> NDArray[np.intp] | None:
    """Return the places of the allowed rows; None when all are."""
    if among is not None:
        held = segment.chunk_ids[:used]
        near = among[np.searchsorted(among, held[0]) : np.searchsorted(among, held[-1], "right")]
        return np.flatnonzero(np.isin(held, near, assume_unique=True))
    if allowed is None:
        return None
    return np.flatnonzero(allowed[segment.scopes[:used]])


def _score(
    segment: _Segment,
    used: int,
    places: NDArray[np.intp] | None,
    vector: NDArray[np.int8],
    dots: Dots,
) -> NDArray[np.float32]:
    """Return coarse scores of the allowed rows, in units of the question's step."""
    if places is None:
        return dots(vector, segment.rows[:used]) * segment.steps[:used]
    if len(places) == 0:
        return np.empty(0, dtype=np.float32)
    if len(places) * GATHERED_SHARE < used:
        return dots(vector, segment.rows[places]) * segment.steps[places]
    return (dots(vector, segment.rows[:used]) * segment.steps[:used])[places]


def _joined(parts: list[NDArray], dtype: type) -> NDArray:  # type: ignore[type-arg]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


def _background(scores: NDArray[np.float32]) -> Background:
    """Return mean and deviation, in double precision so that the order of rows makes no odds."""
    if not len(scores):
        return Background(mean=0.0, deviation=0.0, count=0.0)
    wide = scores.astype(np.float64)
    return Background(mean=float(wide.mean()), deviation=float(wide.std()), count=float(len(wide)))


def _best_places(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the *count* highest scores, highest first."""
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    places = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    return places[np.argsort(-scores[places], kind="stable")]
