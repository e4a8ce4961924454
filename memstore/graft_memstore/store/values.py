"""Notes that say the same, however they are spelled."""

import apsw

from graft_memstore.model import NoteId, NoteKind, ScopeFilter
from graft_memstore.store.notes import KnownNote
from graft_memstore.store.rows import Parameters, select, select_one
from graft_memstore.store.states import state_from
from graft_memstore.visibility import VISIBLE, View

# notes_by_value; only what an answer may name.
SELECT_BY_VALUE = (
    "WITH "
    + VISIBLE
    + """
SELECT visible.note_id, visible.title
FROM notes AS note INDEXED BY notes_by_value
CROSS JOIN visible ON visible.seq = note.seq
WHERE note.value_hash = :value_hash AND note.scope = :scope
ORDER BY note.recorded_at DESC, note.id DESC
LIMIT :count_max
"""
)

# notes_by_value; those that were judged wrong are told by their tombstones.
SELECT_OUT_OF_USE = """
SELECT note.id, state.lifecycle, state.trust, state.valid_from, state.valid_to,
       state.expires_at, state.known_from, state.reason, state.oracle
FROM notes AS note INDEXED BY notes_by_value
CROSS JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE note.value_hash = :value_hash AND note.scope = :scope AND note.kind = :kind
AND (state.lifecycle <> 'active' OR state.trust = 'held')
ORDER BY note.seq DESC
LIMIT 1
"""

# notes_by_value
SELECT_SAYING = """
SELECT note.id, state.lifecycle, state.trust, state.valid_from, state.valid_to,
       state.expires_at, state.known_from, state.reason, state.oracle
FROM notes AS note INDEXED BY notes_by_value
CROSS JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE note.value_hash = :value_hash AND (:every_scope OR note.scope = :scope)
AND state.trust <> 'rejected'
ORDER BY note.seq
"""

# notes_by_value; of several the newest.
SELECT_OF_VALUE = """
SELECT note.id FROM notes AS note INDEXED BY notes_by_value
WHERE note.value_hash = :value_hash AND note.scope = :scope
ORDER BY note.seq DESC
LIMIT 1
"""

SELECT_VALUE = "SELECT value_hash FROM notes WHERE id = :note_id"


def find_same_value(
    connection: apsw.Connection, value_hash: bytes, scope: str, *, now_ms: int, count_max: int
) -> list[tuple[NoteId, str]]:
    """Return id and title of the notes of *scope* that say this and are shown, newest first."""
    view = View(scope=ScopeFilter(scopes=(scope,)), now_ms=now_ms)
    wanted: Parameters = {"value_hash": value_hash, "scope": scope, "count_max": count_max}
    rows = select(connection, SELECT_BY_VALUE, {**view.parameters(), **wanted})
    return [(NoteId(note_id), title) for note_id, title in rows]


def find_out_of_use(
    connection: apsw.Connection, value_hash: bytes, kind: NoteKind, scope: str
) -> KnownNote | None:
    """Return the newest note of *scope* that says this and was taken out of use, or is held."""
    wanted: Parameters = {"value_hash": value_hash, "kind": kind, "scope": scope}
    row = select_one(connection, SELECT_OUT_OF_USE, wanted)
    return None if row is None else KnownNote(id=NoteId(row[0]), state=state_from(row[1:]))


def notes_saying(
    connection: apsw.Connection, value_hash: bytes, scope: str, *, every_scope: bool
) -> list[KnownNote]:
    """Return the notes that say this and are not rejected, of one scope or of every one."""
    wanted: Parameters = {"value_hash": value_hash, "scope": scope, "every_scope": int(every_scope)}
    rows = select(connection, SELECT_SAYING, wanted)
    return [KnownNote(id=NoteId(row[0]), state=state_from(row[1:])) for row in rows]


def find_of_value(connection: apsw.Connection, value_hash: bytes, scope: str) -> NoteId | None:
    """Return the newest note of *scope* that says this, whatever its state; None for none."""
    row = select_one(connection, SELECT_OF_VALUE, {"value_hash": value_hash, "scope": scope})
    return None if row is None else NoteId(row[0])


def value_of(connection: apsw.Connection, note_id: NoteId) -> bytes:
    """Return the value hash of a note that is there."""
    row = select_one(connection, SELECT_VALUE, {"note_id": note_id})
    assert row is not None, "whoever asks has found the note"
    return bytes(row[0])
