"""Everything that hangs on a note and is no state of it, as bytes that an event seals."""

import apsw

from graft_memstore.canonical import encode_fields
from graft_memstore.model import NoteId
from graft_memstore.store.rows import select

# Title, body and kind stand in content_hash.
SELECT_NOTE_ROW = """
SELECT author, channel, scope, content_hash, value_hash, recorded_at, site, hlc
FROM notes
WHERE id = :note_id
"""

SELECT_KEYWORD_ROWS = """
SELECT keyword.keyword, link.origin, link.known_from, link.known_to
FROM note_keywords AS link
CROSS JOIN keywords AS keyword ON keyword.keyword_id = link.keyword_id
WHERE link.note_id = :note_id
ORDER BY keyword.keyword, link.known_from
"""

SELECT_SOURCE_ROWS = """
SELECT
    source.project, source.kind, source.locator, link.fingerprint, link.observed_at,
    link.known_from, link.known_to
FROM note_sources AS link
CROSS JOIN sources AS source ON source.source_id = link.source_id
WHERE link.note_id = :note_id
ORDER BY source.project, source.kind, source.locator, link.known_from
"""

SELECT_APPLIES_ROWS = """
SELECT ecosystem, name, range, known_from, known_to
FROM note_applies
WHERE note_id = :note_id
ORDER BY ecosystem, name, range, known_from
"""

# edges_to_superseded
SELECT_SUCCESSOR_ROWS = """
SELECT newer.id, edges.known_from, edges.known_to
FROM notes AS older
CROSS JOIN edges INDEXED BY edges_to_superseded ON edges.dst = older.seq
CROSS JOIN notes AS newer ON newer.seq = edges.src
WHERE older.id = :note_id AND edges.kind = 'SUPERSEDES'
ORDER BY edges.known_from, newer.id, edges.known_to
"""

# edges_from_successor
SELECT_PREDECESSORS = """
SELECT DISTINCT older.id
FROM notes AS newer
CROSS JOIN edges INDEXED BY edges_from_successor ON edges.src = newer.seq
CROSS JOIN notes AS older ON older.seq = edges.dst
WHERE newer.id = :note_id AND edges.kind = 'SUPERSEDES'
ORDER BY older.id
"""

# keyword_edits_by_note; the numbers in them stand in note_keywords under their words.
SELECT_EDIT_ROWS = """
SELECT event_id, added, removed
FROM keyword_edits
WHERE note_id = :note_id
ORDER BY event_id
"""

STATEMENTS = {
    "notes": SELECT_NOTE_ROW,
    "note_keywords": SELECT_KEYWORD_ROWS,
    "note_sources": SELECT_SOURCE_ROWS,
    "note_applies": SELECT_APPLIES_ROWS,
    "edges": SELECT_SUCCESSOR_ROWS,
    "keyword_edits": SELECT_EDIT_ROWS,
}
SEALED_TABLES = tuple(STATEMENTS)
"""Tables whose rows of a note an event seals, in this order; earlier versions sealed the first."""


def read_sealed_rows(connection: apsw.Connection, note_id: NoteId) -> tuple[bytes, ...] | None:
    """Return a note's rows, encoded, of each of `SEALED_TABLES`; None for one that is not there.

    What was is read with what is: of edges those to the notes that replaced it.
    """
    found = tuple(_encoded(connection, statement, note_id) for statement in STATEMENTS.values())
    return None if found[0] == _NO_ROWS else found


def read_predecessors(connection: apsw.Connection, note_id: NoteId) -> list[NoteId]:
    """Return the notes that a note replaces or once replaced."""
    rows = select(connection, SELECT_PREDECESSORS, {"note_id": note_id})
    return [NoteId(row[0]) for row in rows]


def _encoded(connection: apsw.Connection, statement: str, note_id: NoteId) -> bytes:
    rows = list(select(connection, statement, {"note_id": note_id}))
    return encode_fields(len(rows), *(field for row in rows for field in row))


_NO_ROWS = encode_fields(0)
