"""Notes: their rows, by id, by a piece of an id, by content, and in pages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from graft_memstore.model import (
    EventSeq,
    Lifecycle,
    Note,
    NoteId,
    NoteKind,
    NoteState,
    ScopeFilter,
    StoredNote,
    Trust,
)
from graft_memstore.store.rows import Row, change, select, select_one
from graft_memstore.store.states import KnownState, state_from
from graft_memstore.visibility import CONDITION, VISIBLE, View, timed

COLUMNS = """
    note.seq, note.id, note.title, note.body, note.kind, note.author, note.scope,
    note.content_hash, note.recorded_at
"""

# A listing shows no bodies, and a page of long ones would not fit into memory.
LISTED_COLUMNS = COLUMNS.replace("note.body", "'' AS body")

STATE_COLUMNS = """
    state.event_id, state.lifecycle, state.trust, state.valid_from, state.valid_to,
    state.expires_at, state.known_from, state.reason, state.oracle
"""

INSERT_NOTE = """
INSERT INTO notes (
    id, title, body, kind, author, channel, scope, content_hash, value_hash, recorded_at, site,
    hlc
) VALUES (
    :id, :title, :body, :kind, :author, :channel, :scope, :content_hash, :value_hash,
    :recorded_at, :site, :hlc
)
"""

SELECT_NOTE = "SELECT" + COLUMNS + "FROM notes AS note WHERE note.id = :id"

SELECT_NOTES_WITH_STATE = timed(
    "SELECT"
    + COLUMNS
    + ","
    + STATE_COLUMNS
    + """
FROM json_each(:note_ids) AS wanted
JOIN notes AS note ON note.id = wanted.value
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
"""
)

# Without statistics the planner would rather walk a whole scope, since that comes in order.
SELECT_BY_CONTENT = """
SELECT
    note.id, state.lifecycle, state.trust, state.valid_from, state.valid_to, state.expires_at,
    state.known_from, state.reason, state.oracle
FROM notes AS note INDEXED BY notes_by_content
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE note.content_hash = :content_hash AND note.scope = :scope
ORDER BY note.recorded_at DESC, note.id DESC
"""

SELECT_TITLES = (
    "WITH "
    + VISIBLE
    + """
SELECT visible.note_id, visible.title
FROM json_each(:note_ids) AS wanted
CROSS JOIN visible ON visible.note_id = wanted.value
"""
)

# What is in force is listed as searches show it; what is superseded or retired, when it is asked
# for by name. What is held or rejected is listed by no read.
LISTED = (
    "state.lifecycle = :lifecycle"  # noqa: S608 - joined at import, from constants alone
    """
    AND (:trust IS NULL OR state.trust = :trust)
    AND CASE
        WHEN :lifecycle = 'active' THEN """
    + CONDITION
    + """ = 'shown'
        ELSE state.trust NOT IN ('held', 'rejected')
    END
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:keywords) AS wanted
        WHERE NOT EXISTS (
            SELECT 1 FROM keywords AS keyword
            JOIN note_keywords AS carried ON carried.keyword_id = keyword.keyword_id
            WHERE keyword.keyword = wanted.value
            AND carried.note_id = note.id AND carried.known_to IS NULL
        )
    )
"""
)

# Walks notes_by_time backwards and stops when the page is full.
SELECT_PAGE = timed(
    "SELECT"
    + LISTED_COLUMNS
    + ","
    + STATE_COLUMNS
    + """
FROM notes AS note
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE (note.recorded_at, note.id) < (:before_at, :before_id)
AND note.recorded_at >= :since
AND """
    + LISTED
    + """
ORDER BY note.recorded_at DESC, note.id DESC
LIMIT :count_max
"""
)

# notes_by_scope once for each scope; their rows are then sorted.
SELECT_PAGE_IN_SCOPES = timed(
    "SELECT"  # noqa: S608 - joined at import, from constants alone
    + LISTED_COLUMNS
    + ","
    + STATE_COLUMNS
    + """
FROM (SELECT DISTINCT value FROM json_each(:scopes)) AS scope
JOIN notes AS note ON note.scope = scope.value
    AND (note.recorded_at, note.id) < (:before_at, :before_id)
    AND note.recorded_at >= :since
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
WHERE """
    + LISTED
    + """
ORDER BY note.recorded_at DESC, note.id DESC
LIMIT :count_max
"""
)

# By primary key, a page at a time.
SELECT_NOTES_AFTER = (
    "SELECT"
    + COLUMNS
    + """
FROM notes AS note
WHERE note.seq > :after
ORDER BY note.seq
LIMIT :count_max
"""
)

# Reads the smallest index whole.
SELECT_NOTE_COUNT = "SELECT count(*) FROM notes"

DELETE_NOTE = "DELETE FROM notes WHERE id = :id"

END_OF_TIME_MS = 2**62
AFTER_EVERY_ID = "g"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteOrigin:
    """What a note's row says besides what everybody reads: how it came, and from where."""

    channel: str
    value_hash: bytes
    site: str
    hlc: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNote:
    """A note that has the content, or says what somebody wants to store; its present state."""

    id: NoteId
    state: NoteState


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFilter:
    """Which notes a listing wants, and where its page begins.

    Attributes:
        valid_at_ms, known_at_ms: see `View`.
        trust: None means any that a listing may show.
        before_at_ms: only notes recorded before this, or at this with an id below *before_id*.
    """

    scope: ScopeFilter
    valid_at_ms: int | None = None
    known_at_ms: int | None = None
    keywords: tuple[str, ...] = ()
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    trust: Trust | None = None
    since_ms: int = 0
    before_at_ms: int = END_OF_TIME_MS
    before_id: str = AFTER_EVERY_ID


def insert_note(connection: apsw.Connection, note: StoredNote, origin: NoteOrigin) -> int:
    """Store the row of *note* (its seq is given by the table) and return its seq."""
    change(
        connection,
        INSERT_NOTE,
        {
            "id": note.id,
            "title": note.title,
            "body": note.body,
            "kind": note.kind,
            "author": note.author,
            "channel": origin.channel,
            "scope": note.scope,
            "content_hash": note.content_hash,
            "value_hash": origin.value_hash,
            "recorded_at": note.recorded_at_ms,
            "site": origin.site,
            "hlc": origin.hlc,
        },
    )
    return connection.last_insert_rowid()


def read_stored(connection: apsw.Connection, note_id: NoteId) -> StoredNote | None:
    """Return the row of a note, None when it is not there."""
    row = select_one(connection, SELECT_NOTE, {"id": note_id})
    return None if row is None else stored_from(row)


def read_notes(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> list[tuple[StoredNote, KnownState]]:
    """Return those of *note_ids* that are there, and were known then, in no particular order."""
    rows = select(
        connection,
        SELECT_NOTES_WITH_STATE.at(known_at_ms),
        {"note_ids": json.dumps(note_ids), "known_at": known_at_ms},
    )
    return [_with_state(row) for row in rows]


def read_titles(
    connection: apsw.Connection, note_ids: Sequence[NoteId], view: View
) -> dict[NoteId, str]:
    """Return the titles of those of *note_ids* that *view* shows."""
    rows = select(connection, SELECT_TITLES, view.parameters(note_ids=json.dumps(note_ids)))
    return {NoteId(note_id): title for note_id, title in rows}


def find_same_content(
    connection: apsw.Connection, content_hash: bytes, scope: str
) -> list[KnownNote]:
    """Return the notes of *scope* with this content, whatever their state, newest first."""
    rows = select(connection, SELECT_BY_CONTENT, {"content_hash": content_hash, "scope": scope})
    return [KnownNote(id=NoteId(row[0]), state=state_from(row[1:])) for row in rows]


def read_page(
    connection: apsw.Connection, wanted: PageFilter, *, now_ms: int, count_max: int
) -> list[tuple[StoredNote, KnownState]]:
    """Return up to *count_max* notes, newest first, without their bodies."""
    statement = SELECT_PAGE if wanted.scope.all else SELECT_PAGE_IN_SCOPES
    view = View(
        scope=wanted.scope,
        now_ms=now_ms,
        valid_at_ms=wanted.valid_at_ms,
        known_at_ms=wanted.known_at_ms,
    )
    parameters = view.parameters(
        keywords=json.dumps(wanted.keywords),
        lifecycle=wanted.lifecycle,
        trust=wanted.trust,
        since=wanted.since_ms,
        before_at=wanted.before_at_ms,
        before_id=wanted.before_id,
        count_max=count_max,
    )
    rows = select(connection, statement.at(wanted.known_at_ms), parameters)
    return [_with_state(row) for row in rows]


def count_notes(connection: apsw.Connection) -> int:
    """Return how many notes there are, whatever their state."""
    row = select_one(connection, SELECT_NOTE_COUNT, {})
    return 0 if row is None else int(row[0])


def read_stored_after(connection: apsw.Connection, after: int, count_max: int) -> list[StoredNote]:
    """Return a page of all notes in the order in which they were stored."""
    rows = select(connection, SELECT_NOTES_AFTER, {"after": after, "count_max": count_max})
    return [stored_from(row) for row in rows]


def delete_note(connection: apsw.Connection, note_id: NoteId) -> None:
    """Take a note away, with all rows that name it: states, ranges, signatures, pending texts.

    Its vectors' bits and its words are in tables that do not follow; take them away before.
    """
    change(connection, DELETE_NOTE, {"id": note_id})


def assemble(stored: StoredNote, known: KnownState, *, pending: int = 0) -> Note:
    """Put a note together that has neither keywords nor sources yet."""
    return Note(
        id=stored.id,
        title=stored.title,
        body=stored.body,
        kind=stored.kind,
        author=stored.author,
        scope=stored.scope,
        recorded_at_ms=stored.recorded_at_ms,
        state=known.state,
        event=known.event,
        pending=pending,
    )


def stored_from(row: Row) -> StoredNote:
    """Read a note from `COLUMNS`.

    Raises:
        ValueError: its kind is none.
    """
    seq, note_id, title, body, kind, author, scope, content_hash, recorded_at = row
    return StoredNote(
        seq=seq,
        id=NoteId(note_id),
        title=title,
        body=body,
        kind=NoteKind(kind),
        author=author,
        scope=scope,
        content_hash=content_hash,
        recorded_at_ms=recorded_at,
    )


STORED_COLUMN_COUNT = 9


def _with_state(row: Row) -> tuple[StoredNote, KnownState]:
    event, *state = row[STORED_COLUMN_COUNT:]
    known = KnownState(event=EventSeq(event), state=state_from(tuple(state)))
    return stored_from(row[:STORED_COLUMN_COUNT]), known
