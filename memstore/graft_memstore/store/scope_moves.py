"""Moves the notes of one scope to another, and lets what was rejected there bind both."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import USER_SCOPE, NoteId
from graft_memstore.store.rows import Parameters, change, select, select_one

# notes_by_scope; tombstones_by_value, notes_by_value and notes_by_content once for each note. What
# an insert there would refuse comes in by no move either.
SELECT_MOVABLE = """
SELECT note.id, note.content_hash,
    state.lifecycle = 'active' AND state.trust NOT IN ('held', 'rejected') AS shown,
    state.lifecycle = 'active' AND state.trust <> 'rejected' AND (
        EXISTS (
            SELECT 1 FROM tombstones
            WHERE tombstones.value_hash = note.value_hash AND tombstones.lifted_at IS NULL
            AND tombstones.scope IN (:to, :user_scope)
        )
        OR 1 = (
            SELECT min(theirs.lifecycle <> 'active')
            FROM notes AS same INDEXED BY notes_by_value
            CROSS JOIN note_states AS theirs ON theirs.note_id = same.id AND theirs.known_to IS NULL
            WHERE same.value_hash = note.value_hash AND same.scope = :to AND same.kind = note.kind
        )
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

# A rejection never stops binding its scope, which lifting it would be: it comes to bind the other
# one as well. Not if it does already, as each of `USER_SCOPE` does, or if an active note there says
# what was rejected here.
_REJECTIONS_TO_COME = """
scope = :from AND scope <> :user_scope AND lifted_at IS NULL
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
SELECT_REJECTIONS_TO_COME = "SELECT count(*) FROM tombstones WHERE" + _REJECTIONS_TO_COME  # noqa: S608 - joined at import, from constants alone

INSERT_REJECTIONS = (
    "INSERT INTO tombstones (value_hash, words_hash, scope, reason, actor, at) "  # noqa: S608 - as above
    "SELECT value_hash, words_hash, :to, reason, actor, at FROM tombstones WHERE"
    + _REJECTIONS_TO_COME
    + "RETURNING tombstone_id"
)

# What waits of a rejection waits where that is.
UPDATE_ITEMS = """
UPDATE review_items SET scope = :to WHERE scope = :from AND kind <> 'restated-rejection'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movable:
    """A note of a scope that is to move.

    Attributes:
        shown: searches show it, as far as its lifecycle and its trust go.
        refused: its text was rejected, superseded or retired where it would go.
        repeated: an active note there has the same text.
        reviewed: a reviewer verified it, and whoever moves the scope is none.
    """

    note_id: NoteId
    content_hash: bytes
    shown: bool
    refused: bool
    repeated: bool
    reviewed: bool = False


def read_movable(connection: apsw.Connection, source: str, target: str) -> list[Movable]:
    """Return all notes of a scope, oldest first, and how each would fare in another."""
    wanted: Parameters = {"from": source, "to": target, "user_scope": USER_SCOPE}
    return [
        Movable(
            note_id=NoteId(note_id),
            content_hash=content_hash,
            shown=bool(shown),
            refused=bool(refused),
            repeated=bool(repeated),
        )
        for note_id, content_hash, shown, refused, repeated in select(
            connection, SELECT_MOVABLE, wanted
        )
    ]


def count_rejections_to_come(connection: apsw.Connection, source: str, target: str) -> int:
    """Return how many rejections would come to bind another scope."""
    wanted: Parameters = {"from": source, "to": target, "user_scope": USER_SCOPE}
    row = select_one(connection, SELECT_REJECTIONS_TO_COME, wanted)
    return 0 if row is None else int(row[0])


def move_note(connection: apsw.Connection, note_id: NoteId, target: str) -> None:
    """Let a note stand in another scope."""
    change(connection, UPDATE_SCOPE, {"note_id": note_id, "to": target})


def copy_rejections(connection: apsw.Connection, source: str, target: str) -> list[int]:
    """Let the rejections of a scope bind another as well; return the numbers of the new ones."""
    wanted: Parameters = {"from": source, "to": target, "user_scope": USER_SCOPE}
    return [int(row[0]) for row in select(connection, INSERT_REJECTIONS, wanted)]


def move_items(connection: apsw.Connection, source: str, target: str) -> None:
    """Let what waits for somebody and is about a scope's keywords be about another's."""
    change(connection, UPDATE_ITEMS, {"from": source, "to": target})
