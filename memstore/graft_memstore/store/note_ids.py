"""Which notes have an id or begin or end with a piece of one, and in which scope each lies."""

import json
from collections.abc import Sequence

import apsw

from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.store.rows import Parameters, select

# The first half runs over the index of ids, the second over notes_by_suffix; two are enough to
# know that a piece is ambiguous.
SELECT_IDS_BY_PIECE = """
SELECT id FROM (
    SELECT id FROM notes WHERE id >= :piece AND id < :after_piece
    UNION
    SELECT id FROM notes
    WHERE substr(id, 25) = substr(:piece, -8) AND substr(id, -length(:piece)) = :piece
)
LIMIT 2
"""

# The same of scopes alone: what lies in others makes no piece ambiguous.
SELECT_IDS_BY_PIECE_IN_SCOPES = """
SELECT id FROM (
    SELECT id, scope FROM notes WHERE id >= :piece AND id < :after_piece
    UNION
    SELECT id, scope FROM notes
    WHERE substr(id, 25) = substr(:piece, -8) AND substr(id, -length(:piece)) = :piece
)
WHERE scope IN (SELECT value FROM json_each(:scopes))
LIMIT 2
"""

SELECT_SCOPES_OF_NOTES = """
SELECT note.id, note.scope
FROM json_each(:note_ids) AS wanted
CROSS JOIN notes AS note ON note.id = wanted.value
"""

AFTER_EVERY_DIGIT = "g"


def find_ids(
    connection: apsw.Connection, piece: str, within: ScopeFilter | None = None
) -> list[NoteId]:
    """Return up to two ids that begin or end with *piece*, 8 to 32 lower-case hex digits.

    Of the notes *within* scopes alone, where those are given.
    """
    # "g" follows every hex digit, so this is the first text after all that begin with the piece.
    wanted: Parameters = {"piece": piece, "after_piece": piece + AFTER_EVERY_DIGIT}
    if within is None or within.all:
        rows = select(connection, SELECT_IDS_BY_PIECE, wanted)
    else:
        scopes: Parameters = {"scopes": json.dumps(within.scopes)}
        rows = select(connection, SELECT_IDS_BY_PIECE_IN_SCOPES, {**wanted, **scopes})
    return [NoteId(row[0]) for row in rows]


def scopes_of(connection: apsw.Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
    """Return the scope of each of *note_ids* that is there."""
    rows = select(connection, SELECT_SCOPES_OF_NOTES, {"note_ids": json.dumps(note_ids)})
    return {NoteId(note_id): scope for note_id, scope in rows}
