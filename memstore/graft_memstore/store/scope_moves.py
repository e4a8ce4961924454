"""Moves what one scope holds to another: notes, and the rejections that bind it."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import USER_SCOPE, NoteId
from graft_memstore.store.rows import Parameters, change, select, select_one

# notes_by_scope; tombstones_by_value and notes_by_content once for each note.
SELECT_MOVABLE = """
SELECT note.id, note.content_hash,
    state.lifecycle = 'active' AND state.trust <> 'rejected' AND EXISTS (
        SELECT 1 FROM tombstones
        WHERE tombstones.value_hash = note.value_hash AND tombstones.lifted_at IS NULL
        AND tombstones.scope IN (:to, :user_scope)
    ) AS refused,
    state.lifecycle = 'active' AND EXISTS (
        SELECT 1
        FROM notes AS same INDEXED BY notes_by_content
        CROSS JOIN note_states AS theirs ON theirs.note_id = same.id AND theirs.known_to IS NULL
        WHERE same.content_hash = note.content_hash AND same.scope = :to
        AND theirs.lifecycle = 'active'
    ) AS repeated
FROM notes AS note INDEXED BY notes_by_scope
CROSS JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE note.scope = :from
ORDER BY note.recorded_at, note.id
"""

UPDATE_SCOPE = "UPDATE notes SET scope = :to WHERE id = :note_id"

# A rejection stays where it is if it binds the other scope already, or an active note there says
# what was rejected here.
_MOVING_REJECTIONS = """
scope = :from AND lifted_at IS NULL
AND NOT EXISTS (
    SELECT 1 FROM tombstones AS other
    WHERE other.value_hash = tombstones.value_hash AND other.scope = :to
    AND other.lifted_at IS NULL
)
AND NOT EXISTS (
    SELECT 1
    FROM notes AS note INDEXED BY notes_by_value
    CROSS JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
    WHERE note.value_hash = tombstones.value_hash AND note.scope = :to
    AND state.lifecycle = 'active' AND state.trust <> 'rejected'
)
"""

# Reads the table whole: there are few rejections, and a scope is moved seldom.
SELECT_MOVING_REJECTIONS = "SELECT count(*) FROM tombstones WHERE" + _MOVING_REJECTIONS  # noqa: S608 - joined at import, from constants alone

UPDATE_REJECTIONS = (
    "UPDATE tombstones SET scope = :to WHERE"  # noqa: S608 - as above
    + _MOVING_REJECTIONS
    + "RETURNING tombstone_id"
)

UPDATE_ITEMS = "UPDATE review_items SET scope = :to WHERE scope = :from"


@dataclass(frozen=True, slots=True, kw_only=True)
class Movable:
    """A note of a scope that is to move.

    Attributes:
        refused: its text was rejected where it would go.
        repeated: an active note there has the same text.
    """

    note_id: NoteId
    content_hash: bytes
    refused: bool
    repeated: bool


def read_movable(connection: apsw.Connection, source: str, target: str) -> list[Movable]:
    """Return all notes of a scope, oldest first, and how each would fare in another."""
    wanted: Parameters = {"from": source, "to": target, "user_scope": USER_SCOPE}
    return [
        Movable(
            note_id=NoteId(note_id),
            content_hash=content_hash,
            refused=bool(refused),
            repeated=bool(repeated),
        )
        for note_id, content_hash, refused, repeated in select(connection, SELECT_MOVABLE, wanted)
    ]


def count_moving_rejections(connection: apsw.Connection, source: str, target: str) -> int:
    """Return how many rejections would move."""
    wanted: Parameters = {"from": source, "to": target}
    row = select_one(connection, SELECT_MOVING_REJECTIONS, wanted)
    return 0 if row is None else int(row[0])


def move_note(connection: apsw.Connection, note_id: NoteId, target: str) -> None:
    """Let a note stand in another scope."""
    change(connection, UPDATE_SCOPE, {"note_id": note_id, "to": target})


def move_rejections(connection: apsw.Connection, source: str, target: str) -> list[int]:
    """Let the rejections of a scope bind another, with what waits of them; return their numbers."""
    wanted: Parameters = {"from": source, "to": target}
    moved = [int(row[0]) for row in select(connection, UPDATE_REJECTIONS, wanted)]
    change(connection, UPDATE_ITEMS, wanted)
    return moved
