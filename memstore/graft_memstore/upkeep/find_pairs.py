"""Compares notes with those that are near them: the neighbours that the index has found.

Above `SMALL_TITLES` titles a note's neighbours are its heaviest edges, which were made through the
index when it came in; those that still wait for theirs, and all notes of a small store, are looked
up in the index now. So each note is compared with a few others, however many there are.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from graft_memstore.candidates import Candidate, ComparedNote, compare
from graft_memstore.divergence import CHARS_MAX
from graft_memstore.model import Model
from graft_memstore.recall.background import Thresholds
from graft_memstore.recall.index import IndexView, VectorIndex
from graft_memstore.recall.neighbours import NeighbourSearch
from graft_memstore.store.database import Connection
from graft_memstore.store.edges import heaviest_edges
from graft_memstore.store.titles import read_titles_of
from graft_memstore.store.upkeep_reads import NoteText, notes_by_seq, taken_apart
from graft_memstore.visibility import View

SMALL_TITLES = 256
"""Up to so many titles what stands out among them cannot be told, and all are looked up."""
NEIGHBOURS_MAX = 5
"""Notes that one is compared with, nearest first."""
EDGES_READ = 10
"""Edges that are read for them: two notes may be joined by several keywords."""
LOOKED_UP_MAX = 512
"""Notes that still wait for their edges and are looked up in one scan."""
CACHED_NOTES_MAX = 20_000
"""Notes that are kept taken apart."""
_ALL = Thresholds(keyword=math.inf, semantic=-math.inf)


class PairFinder:
    """Finds candidates among the pairs of one scan; a pair is looked at once."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()
        self._cache: dict[int, ComparedNote] = {}
        self._looked_up = 0

    def candidates(
        self,
        connection: Connection,
        index: VectorIndex | None,
        serving: Model | None,
        view: View,
        page: Sequence[NoteText],
    ) -> Iterator[Candidate]:
        """Yield what is to be asked about the notes of *page* and their neighbours."""
        if len(self._cache) > CACHED_NOTES_MAX:
            self._cache.clear()
        self._keep(page)
        near = self._near(connection, index, serving, view, page)
        wanted = {seq for pair in near for seq in pair} - self._cache.keys()
        self._keep(notes_by_seq(connection, view, wanted, chars_max=CHARS_MAX))
        for (one, other), cosine in near.items():
            left, right = self._cache.get(one), self._cache.get(other)
            if left is None or right is None:
                continue  # another scope's, or hidden since the edge was made
            found = compare(left, right, cosine)
            if found is not None:
                yield found

    def _keep(self, texts: Iterable[NoteText]) -> None:
        for text in texts:
            if text.seq not in self._cache:
                self._cache[text.seq] = taken_apart(text)

    def _near(
        self,
        connection: Connection,
        index: VectorIndex | None,
        serving: Model | None,
        view: View,
        page: Sequence[NoteText],
    ) -> dict[tuple[int, int], float]:
        """Return pairs that were not looked at yet, with their cosines."""
        found: dict[tuple[int, int], float] = {}
        rows: IndexView | None = None
        if index is not None and serving is not None and index.model_id == serving.model_id:
            rows = index.catch_up(connection)
        small = rows is not None and len(rows.titles().seqs) <= SMALL_TITLES
        asked: list[int] = []
        for text in page:
            if small or (text.waiting and self._looked_up < LOOKED_UP_MAX):
                self._looked_up += 1
                asked.append(text.seq)
            else:
                edges = heaviest_edges(connection, text.seq, view, EDGES_READ)
                ends = ((edge.src, edge.dst, edge.weight) for edge in edges)
                found.update(self._first(ends, NEIGHBOURS_MAX))
        if rows is None or serving is None or not asked:
            return found
        search = NeighbourSearch(connection, serving.model_id, rows, _ALL, view.now_ms)
        for title in read_titles_of(connection, serving.model_id, asked).values():
            near = search.nearest(title, NEIGHBOURS_MAX)
            others = zip(near.seqs, near.cosines.tolist(), strict=True)
            looked_up = [(title.seq, other, float(cosine)) for other, cosine in others]
            found.update(self._first(looked_up, NEIGHBOURS_MAX))
        return found

    def _first(
        self, ends: Iterable[tuple[int, int, float]], count_max: int
    ) -> dict[tuple[int, int], float]:
        """Return the first pairs, each once, that were in none before."""
        pairs: dict[tuple[int, int], float] = {}
        for one, other, weight in ends:
            pairs.setdefault((min(one, other), max(one, other)), weight)
            if len(pairs) == count_max:
                break
        fresh = {pair: weight for pair, weight in pairs.items() if pair not in self._seen}
        self._seen.update(fresh)
        return fresh
