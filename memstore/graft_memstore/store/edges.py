"""Edges between notes: written once for both ways, read from either end, heaviest first."""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.model import EdgeKind
from graft_memstore.store import meta
from graft_memstore.store.rows import change, select, select_one
from graft_memstore.visibility import VISIBLE, View, timed

# Nothing is written where a note has gone since the edge was found.
INSERT_SEMANTIC = """
INSERT INTO edges (src, dst, kind, weight, known_from, generation)
SELECT older.seq, newer.seq, 'SEMANTIC', :weight, max(older.recorded_at, newer.recorded_at),
       :generation
FROM notes AS older, notes AS newer
WHERE older.seq = min(:one, :other) AND newer.seq = max(:one, :other)
ON CONFLICT (src, dst, kind, ifnull(keyword_id, 0)) WHERE known_to IS NULL
DO UPDATE SET generation = excluded.generation, weight = excluded.weight
WHERE generation <> excluded.generation
"""

# Nor where one of the two no longer carries the keyword.
INSERT_KEYWORD = """
INSERT INTO edges (src, dst, kind, keyword_id, weight, known_from, generation)
SELECT older.seq, newer.seq, 'KEYWORD', :keyword_id, :weight,
       max(of_older.known_from, of_newer.known_from), :generation
FROM notes AS older
CROSS JOIN notes AS newer
CROSS JOIN note_keywords AS of_older
CROSS JOIN note_keywords AS of_newer
WHERE older.seq = min(:one, :other) AND newer.seq = max(:one, :other)
  AND of_older.note_id = older.id AND of_older.keyword_id = :keyword_id
  AND of_older.known_to IS NULL
  AND of_newer.note_id = newer.id AND of_newer.keyword_id = :keyword_id
  AND of_newer.known_to IS NULL
ON CONFLICT (src, dst, kind, ifnull(keyword_id, 0)) WHERE known_to IS NULL
DO UPDATE SET generation = excluded.generation, weight = excluded.weight
WHERE generation <> excluded.generation
"""

# edges_by_generation, a few at a time.
DELETE_OF_EARLIER_GENERATIONS = """
DELETE FROM edges WHERE edge_id IN (
    SELECT edge_id FROM edges INDEXED BY edges_by_generation
    WHERE kind IN ('KEYWORD', 'SEMANTIC') AND generation < :generation
    LIMIT :count_max
)
"""

DELETE_DERIVED = "DELETE FROM edges WHERE kind IN ('KEYWORD', 'SEMANTIC')"

# Both halves come sorted from edges_by_src and edges_by_dst and are merged until the LIMIT is
# full; who may not be seen is left out before it.
SELECT_HEAVIEST = timed(
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT edge_id, src, dst, kind, keyword, weight
FROM (
    SELECT edges.edge_id AS edge_id, edges.src AS src, edges.dst AS dst, edges.kind AS kind,
           edges.weight AS weight, (
        SELECT keywords.keyword FROM keywords WHERE keywords.keyword_id = edges.keyword_id
    ) AS keyword
    FROM edges INDEXED BY edges_by_src
    CROSS JOIN visible ON visible.seq = edges.dst
    WHERE edges.src = :seq AND edges.known_to IS NULL
    UNION ALL
    SELECT edges.edge_id, edges.src, edges.dst, edges.kind, edges.weight, (
        SELECT keywords.keyword FROM keywords WHERE keywords.keyword_id = edges.keyword_id
    )
    FROM edges INDEXED BY edges_by_dst
    CROSS JOIN visible ON visible.seq = edges.src
    WHERE edges.dst = :seq AND edges.known_to IS NULL
)
ORDER BY weight DESC, edge_id
LIMIT :count_max
"""
)

# Reads the smallest index whole.
SELECT_EDGE_COUNT = "SELECT count(*) FROM edges"


EDGES_GENERATION = "edges_generation"
EDGES_OUTDATED = "edges_outdated"
"""There while edges of an earlier generation may be left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEdge:
    """A KEYWORD or SEMANTIC edge that is to be written, by its notes' numbers.

    Attributes:
        keyword_id: None for a SEMANTIC edge.
    """

    one: int
    other: int
    keyword_id: int | None
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge as it stands now, by its notes' numbers.

    Attributes:
        keyword: what both notes carry; None unless it is a KEYWORD edge.
    """

    src: int
    dst: int
    kind: EdgeKind
    keyword: str | None
    weight: float


def read_generation(connection: apsw.Connection) -> int:
    """Return how many times all edges have been made anew."""
    return int(meta.read(connection, EDGES_GENERATION) or 0)


def begin_generation(connection: apsw.Connection) -> int:
    """Begin to make all edges anew; those of before go when all are made."""
    generation = read_generation(connection) + 1
    meta.write(connection, EDGES_GENERATION, str(generation))
    meta.write(connection, EDGES_OUTDATED, str(generation))
    return generation


def has_outdated(connection: apsw.Connection) -> bool:
    """Tell whether edges of before are still to go."""
    return meta.read(connection, EDGES_OUTDATED) is not None


def delete_outdated(connection: apsw.Connection, count_max: int) -> bool:
    """Remove some of the edges that were not made again; tell whether that was the last."""
    wanted = {"generation": read_generation(connection), "count_max": count_max}
    if change(connection, DELETE_OF_EARLIER_GENERATIONS, wanted) == count_max:
        return False
    meta.clear(connection, EDGES_OUTDATED)
    return True


def insert_edges(connection: apsw.Connection, edges: Iterable[FoundEdge]) -> None:
    """Write edges; those of this generation that are there already stay as they are."""
    generation = read_generation(connection)
    for edge in edges:
        wanted = {
            "one": edge.one,
            "other": edge.other,
            "weight": edge.weight,
            "generation": generation,
        }
        if edge.keyword_id is None:
            change(connection, INSERT_SEMANTIC, wanted)
        else:
            change(connection, INSERT_KEYWORD, wanted | {"keyword_id": edge.keyword_id})


def delete_derived(connection: apsw.Connection) -> None:
    """Remove every edge that follows from vectors."""
    change(connection, DELETE_DERIVED, {})


def heaviest_edges(connection: apsw.Connection, seq: int, view: View, count_max: int) -> list[Edge]:
    """Return the heaviest edges between a note and those that *view* shows."""
    rows = select(
        connection,
        SELECT_HEAVIEST.at(view.known_at_ms),
        view.parameters(seq=seq, count_max=count_max),
    )
    return [
        Edge(src=src, dst=dst, kind=EdgeKind(kind), keyword=keyword, weight=weight)
        for _, src, dst, kind, keyword, weight in rows
    ]


def count_edges(connection: apsw.Connection) -> int:
    """Return how many edges there are."""
    row = select_one(connection, SELECT_EDGE_COUNT, {})
    return 0 if row is None else int(row[0])
