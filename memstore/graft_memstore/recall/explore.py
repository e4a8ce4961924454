"""Walks from the notes nearest to a question along their edges, in one snapshot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graft_memstore.beam import Link, Seed, Visit, leaves, walk
from graft_memstore.model import ModelId, NoteId
from graft_memstore.recall.answer import Question
from graft_memstore.recall.arms import gather
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.vector_arm import VectorSearch, find_near
from graft_memstore.store.database import Connection
from graft_memstore.store.edges import Edge, heaviest_edges
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.keywords import unseen_keywords
from graft_memstore.store.search import (
    FoundNote,
    chunks_of_notes,
    count_elsewhere,
    found_notes,
)
from graft_memstore.visibility import RANKED_BELOW

SEEDS_PER_BEAM = 2
"""Nearest notes that a walk may begin at, for each that is kept."""
EDGES_WALKED_MAX = 32
"""Edges of one note that are looked at, the heaviest."""
PASSAGES_WALKED_MAX = 8
"""Of a note that is walked to, so many passages are compared with the question."""
KEYWORDS_NAMED_MAX = 5
"""Unknown keywords that a hint names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkBounds:
    """How far a walk goes, and how many notes it keeps at each step."""

    depth: int
    beam: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredNote:
    """A note that a walk came to.

    Attributes:
        cosine: of its nearest chunk with the question; None where there is nothing to compare.
        depth: steps from its seed.
    """

    note: FoundNote
    score: float
    cosine: float | None
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredEdge:
    """An edge that a walk took; see `Edge`."""

    src: NoteId
    dst: NoteId
    edge: Edge


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredPath:
    """The notes from a seed to one that the walk did not go on from, and the score of that."""

    note_ids: tuple[NoteId, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreAnswer:
    """What a walk found.

    Attributes:
        nodes: best first, disputed and stale notes below all others.
        hint: in words, why there is little or nothing; empty when nothing needs saying.
    """

    nodes: tuple[ExploredNote, ...]
    edges: tuple[ExploredEdge, ...]
    paths: tuple[ExploredPath, ...]
    hint: str
    degraded: tuple[str, ...]
    notes_elsewhere: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seeds:
    """Where a walk may begin; *cosines* is empty when words alone found them."""

    seeds: list[Seed]
    cosines: Mapping[int, float]
    degraded: tuple[str, ...]


def explore(
    connection: Connection, index: VectorIndex | None, question: Question, bounds: WalkBounds
) -> ExploreAnswer:
    """Return what a walk finds in the snapshot that *connection* has open."""
    found = _seeds(connection, index, question, SEEDS_PER_BEAM * bounds.beam)
    graph = _StoreGraph(connection, None if index is None else index.model_id, question)
    graph.cosines.update(found.cosines)
    graph.look_at([each.note for each in found.seeds])
    visits = walk(graph, found.seeds, depth=bounds.depth, beam=bounds.beam)
    notes = found_notes(connection, [each.note for each in visits], graph.eligible)
    ranked = sorted(visits, key=lambda each: _rank(each, notes))
    return ExploreAnswer(
        nodes=tuple(
            ExploredNote(
                note=notes[each.note],
                score=each.score,
                cosine=graph.cosines.get(each.note),
                depth=len(each.path) - 1,
            )
            for each in ranked
        ),
        edges=tuple(_edges(ranked, graph, notes)),
        paths=tuple(_paths(ranked, notes)),
        hint=_hint(connection, question, visits),
        degraded=found.degraded,
        notes_elsewhere=count_elsewhere(connection, question.every_note),
    )


def _seeds(
    connection: Connection, index: VectorIndex | None, question: Question, wanted: int
) -> _Seeds:
    """Return the notes nearest to a question: by its vector, else by its words."""
    cosines = _nearest(connection, index, question, wanted)
    if cosines:
        seeds = [Seed(note=seq, similarity=_similarity(each)) for seq, each in cosines.items()]
        return _Seeds(seeds=seeds, cosines=cosines, degraded=())
    gathered = gather(connection, index, question, wanted)
    best = gathered.ranked[:wanted]
    most = max((each.score for each in best), default=0.0) or 1.0
    return _Seeds(
        seeds=[Seed(note=each.scores.seq, similarity=each.score / most) for each in best],
        cosines={},
        degraded=gathered.degraded,
    )


def _nearest(
    connection: Connection, index: VectorIndex | None, question: Question, wanted: int
) -> dict[int, float]:
    """Return the cosines of the notes whose vectors are nearest; none without vectors."""
    if index is None or question.vector is None:
        return {}
    search = VectorSearch(
        connection=connection,
        index=index,
        vector=question.vector,
        eligible=question.eligible,
        wanted=wanted,
    )
    return dict(list(find_near(search).cosines.items())[:wanted])


class _StoreGraph:
    """The edges of one snapshot between notes that can be seen, read as a walk comes to them.

    Attributes:
        eligible: which notes may be walked to, whatever keywords they carry.
        cosines: of each note's nearest chunk with the question, as far as they are known.
        edges: what joins two notes, by their seqs, the lower one first.
    """

    def __init__(
        self, connection: Connection, model_id: ModelId | None, question: Question
    ) -> None:
        self.eligible = question.every_note
        self.cosines: dict[int, float] = {}
        self.edges: dict[tuple[int, int], list[Edge]] = {}
        self._connection = connection
        self._model_id = model_id
        self._vector = question.vector
        self._titles: dict[int, NDArray[np.float32]] = {}

    def links(self, notes: Sequence[int]) -> list[Link]:
        """Return the heaviest edges out of *notes* as ways to go."""
        ways: list[tuple[int, int, float]] = []
        for note in notes:
            together: dict[tuple[int, int], list[Edge]] = {}
            for edge in heaviest_edges(self._connection, note, self.eligible, EDGES_WALKED_MAX):
                other = edge.dst if edge.src == note else edge.src
                together.setdefault(_pair(note, other), []).append(edge)
                ways.append((note, other, edge.weight))
            for pair, edges in together.items():
                self.edges.setdefault(pair, edges)
        self.look_at([other for _, other, _ in ways])
        return [
            Link(source=note, target=other, weight=weight, similarity=self._similar(other))
            for note, other, weight in ways
        ]

    def likeness(self, note: int, others: Sequence[int]) -> list[float]:
        """Return the cosines of titles."""
        mine = self._titles.get(note)
        theirs = [self._titles.get(other) for other in others]
        return [0.0 if mine is None or other is None else float(mine @ other) for other in theirs]

    def look_at(self, notes: Iterable[int]) -> None:
        """Read the vectors of those of *notes* that have not been read."""
        fresh = [note for note in dict.fromkeys(notes) if note not in self._titles]
        if self._model_id is None or not fresh:
            return
        passages = 0 if self._vector is None else PASSAGES_WALKED_MAX
        chunks = chunks_of_notes(
            self._connection,
            self._model_id,
            fresh,
            self.eligible,
            len(fresh) * (1 + passages),
            passages,
        )
        for seq, part, vector in zip(
            chunks.seqs.tolist(), chunks.parts.tolist(), chunks.vectors, strict=True
        ):
            if not part:
                self._titles[seq] = vector
        if self._vector is None or not len(chunks):
            return
        cosines = (chunks.vectors @ self._vector).tolist()
        nearest: dict[int, float] = {}
        for seq, cosine in zip(chunks.seqs.tolist(), cosines, strict=True):
            nearest[seq] = max(cosine, nearest.get(seq, cosine))
        # What the vector arm said of a seed holds: it looked at every passage.
        self.cosines = nearest | self.cosines

    def _similar(self, note: int) -> float:
        """Return how like the question a note is; without a vector all are alike."""
        if self._vector is None:
            return 1.0
        return _similarity(self.cosines.get(note, 0.0))


def _similarity(cosine: float) -> float:
    return min(max((cosine + 1.0) / 2.0, 0.0), 1.0)


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _rank(visit: Visit, notes: Mapping[int, FoundNote]) -> tuple[bool, float, int]:
    return notes[visit.note].trust in RANKED_BELOW, -visit.score, -visit.note


def _edges(
    ranked: Sequence[Visit], graph: _StoreGraph, notes: Mapping[int, FoundNote]
) -> Iterable[ExploredEdge]:
    """Return what joins each note to the one before it on its path."""
    for visit in ranked:
        if len(visit.path) == 1:
            continue
        for edge in graph.edges[_pair(*visit.path[-2:])]:
            yield ExploredEdge(src=notes[edge.src].note_id, dst=notes[edge.dst].note_id, edge=edge)


def _paths(ranked: Sequence[Visit], notes: Mapping[int, FoundNote]) -> Iterable[ExploredPath]:
    """Return every whole path, in the order of their seeds and, from there, of their notes."""
    places = {visit.note: place for place, visit in enumerate(ranked)}
    for visit in sorted(leaves(ranked), key=lambda each: [places[note] for note in each.path]):
        yield ExploredPath(
            note_ids=tuple(notes[note].note_id for note in visit.path), score=visit.score
        )


def _hint(connection: Connection, question: Question, visits: Sequence[Visit]) -> str:
    """Say in words why a walk found little, and what can be done."""
    unseen = unseen_keywords(connection, question.keywords, question.every_note)
    if unseen:
        named = ", ".join(f'"{each}"' for each in unseen[:KEYWORDS_NAMED_MAX])
        more = len(unseen) - KEYWORDS_NAMED_MAX
        rest = f" and {more} more" if more > 0 else ""
        return f"no note that can be seen from here carries the keyword {named}{rest}"
    waiting = count_asked(connection)
    if visits and waiting:
        return f"edges are still being made (notes that wait: {waiting}); ask again in a moment"
    return ""
