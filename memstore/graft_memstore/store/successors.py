"""Which note replaced which: chains of SUPERSEDES edges, from the new note to the old one."""

import json
from collections.abc import Sequence

import apsw

from graft_memstore.model import NoteId, NoteKind
from graft_memstore.store.rows import Parameters, change, select, select_one
from graft_memstore.visibility import timed

STEPS_MAX = 100_000
"""Notes that may replace one another; no chain is walked further."""

INSERT_SUPERSEDES = """
INSERT INTO edges (src, dst, kind, weight, known_from)
SELECT newer.seq, older.seq, 'SUPERSEDES', 1.0, :known_from
FROM notes AS newer, notes AS older
WHERE newer.id = :new_id AND older.id = :old_id
"""

CLOSE_SUPERSEDES = """
UPDATE edges SET known_to = :known_to
WHERE kind = 'SUPERSEDES' AND known_to IS NULL
  AND dst = (SELECT seq FROM notes WHERE id = :old_id)
"""

# Before a note goes, what it replaced is joined with what replaced it.
INSERT_BRIDGES = """
INSERT INTO edges (src, dst, kind, weight, known_from)
SELECT later.src, earlier.dst, 'SUPERSEDES', 1.0, later.known_from
FROM notes AS middle
CROSS JOIN edges AS later ON later.dst = middle.seq AND later.kind = 'SUPERSEDES'
    AND later.known_to IS NULL
CROSS JOIN edges AS earlier ON earlier.src = middle.seq AND earlier.kind = 'SUPERSEDES'
    AND earlier.known_to IS NULL
WHERE middle.id = :note_id
"""

# Of the rows that are closed at one instant the last one counts.
SELECT_CLOSED_SUCCESSOR = """
SELECT newer.id
FROM notes AS older
CROSS JOIN edges INDEXED BY edges_to_superseded ON edges.dst = older.seq
CROSS JOIN notes AS newer ON newer.seq = edges.src
WHERE older.id = :old_id AND edges.kind = 'SUPERSEDES' AND edges.known_to = :known_to
ORDER BY edges.edge_id DESC
LIMIT 1
"""

# edges_to_superseded once for each step; that a note is replaced by one at most makes it a path.
SELECT_HEADS = timed(
    """
WITH RECURSIVE later (start, seq, steps) AS (
    SELECT notes.id, notes.seq, 0
    FROM json_each(:note_ids) AS wanted
    CROSS JOIN notes ON notes.id = wanted.value
    UNION ALL
    SELECT later.start, edges.src, later.steps + 1
    FROM later
    CROSS JOIN edges INDEXED BY edges_to_superseded ON edges.dst = later.seq
    WHERE edges.kind = 'SUPERSEDES' AND edges.known_to IS NULL AND later.steps < :steps_max
)
SELECT later.start, notes.id, max(later.steps)
FROM later
CROSS JOIN notes ON notes.seq = later.seq
WHERE later.steps > 0
GROUP BY later.start
"""
)

# The same the other way; several notes may have been replaced by one, so UNION keeps each once.
SELECT_EARLIER_OF_VALUE = """
WITH RECURSIVE earlier (seq) AS (
    SELECT seq FROM notes WHERE id = :note_id
    UNION
    SELECT edges.dst
    FROM earlier
    CROSS JOIN edges INDEXED BY edges_from_successor ON edges.src = earlier.seq
    WHERE edges.kind = 'SUPERSEDES' AND edges.known_to IS NULL
    LIMIT :steps_max
)
SELECT notes.id
FROM earlier
CROSS JOIN notes ON notes.seq = earlier.seq
WHERE notes.value_hash = :value_hash AND notes.kind = :kind
LIMIT 1
"""


def join_successor(
    connection: apsw.Connection, old_id: NoteId, new_id: NoteId, known_from_ms: int
) -> None:
    """Note that one note replaces another, which no note replaces yet."""
    wanted: Parameters = {"old_id": old_id, "new_id": new_id, "known_from": known_from_ms}
    change(connection, INSERT_SUPERSEDES, wanted)


def part_successor(connection: apsw.Connection, old_id: NoteId, known_to_ms: int) -> None:
    """Note that nothing replaces a note any more."""
    change(connection, CLOSE_SUPERSEDES, {"old_id": old_id, "known_to": known_to_ms})


def bridge(connection: apsw.Connection, note_id: NoteId) -> None:
    """Join what a note replaced with what replaced it: it is about to be erased."""
    change(connection, INSERT_BRIDGES, {"note_id": note_id})


def successor_until(connection: apsw.Connection, old_id: NoteId, known_to_ms: int) -> NoteId | None:
    """Return the note that replaced another until an instant, None when that was erased."""
    wanted: Parameters = {"old_id": old_id, "known_to": known_to_ms}
    row = select_one(connection, SELECT_CLOSED_SUCCESSOR, wanted)
    return None if row is None else NoteId(row[0])


def read_heads(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> dict[NoteId, NoteId]:
    """Return the last successor, or the last one then, of each of *note_ids* that had any."""
    wanted: Parameters = {
        "note_ids": json.dumps(note_ids),
        "steps_max": STEPS_MAX,
        "known_at": known_at_ms,
    }
    rows = select(connection, SELECT_HEADS.at(known_at_ms), wanted)
    return {NoteId(start): NoteId(head) for start, head, _ in rows}


def has_replaced_value(
    connection: apsw.Connection, note_id: NoteId, value_hash: bytes, kind: NoteKind
) -> bool:
    """Tell whether a note, or one that it replaced in one or more steps, says just this."""
    wanted: Parameters = {
        "note_id": note_id,
        "value_hash": value_hash,
        "kind": kind,
        "steps_max": STEPS_MAX,
    }
    return select_one(connection, SELECT_EARLIER_OF_VALUE, wanted) is not None
