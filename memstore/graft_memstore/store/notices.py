"""Which sessions were given which notes, and what each is still to be told of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.model import EventSeq, Happening, NoteId
from graft_memstore.store.rows import Parameters, change, select, select_one

GIVEN_NOTES_MAX = 20_000
"""Notes given to sessions that are remembered; the oldest make room."""
NOTICES_MAX = 10_000
"""Notices that wait for their sessions; the oldest make room."""

UPSERT_GIVEN = """
INSERT INTO given_notes (session, note_id, at) VALUES (:session, :note_id, :at)
ON CONFLICT (note_id, session) DO UPDATE SET at = max(at, excluded.at)
"""

DELETE_OLD_GIVEN = """
DELETE FROM given_notes WHERE given_id <= (SELECT max(given_id) FROM given_notes) - :count_max
"""

DELETE_GIVEN = "DELETE FROM given_notes WHERE note_id = :note_id"

# Of one note a session is told the last thing alone, under a new number.
INSERT_NOTICES = """
INSERT OR REPLACE INTO notices (session, note_id, happened, event_id, at)
SELECT session, note_id, :happened, :event_id, :at FROM given_notes
WHERE note_id = :note_id AND (:session IS NULL OR session = :session)
"""

DELETE_OLD_NOTICES = """
DELETE FROM notices WHERE notice_id <= (SELECT max(notice_id) FROM notices) - :count_max
"""

DELETE_NOTICES_OF_NOTE = "DELETE FROM notices WHERE note_id = :note_id"

DELETE_NOTICES = "DELETE FROM notices WHERE notice_id IN (SELECT value FROM json_each(:notice_ids))"

# notices_by_session
SELECT_NOTICES = """
SELECT notice_id, note_id, happened, event_id, at
FROM notices
WHERE session = :session
ORDER BY notice_id
LIMIT :count_max
"""

# notices_by_event
SELECT_TOLD_COUNT = "SELECT count(DISTINCT session) FROM notices WHERE event_id >= :event_id"

# notices_by_event
SELECT_TOLD_SESSIONS = """
SELECT DISTINCT session FROM notices WHERE event_id >= :event_id ORDER BY session LIMIT :count_max
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a session is to be told of a note that it was given."""

    notice_id: int
    note_id: NoteId
    happened: Happening
    event: EventSeq
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTo:
    """Sessions that were given a note: how many, and the first of them by name."""

    count: int = 0
    sessions: tuple[str, ...] = ()


NOBODY = GivenTo()


def add_given(connection: apsw.Connection, session: str, note_id: NoteId, at_ms: int) -> None:
    """Remember that a session was given a note."""
    change(connection, UPSERT_GIVEN, {"session": session, "note_id": note_id, "at": at_ms})


def forget_given(connection: apsw.Connection, note_id: NoteId) -> None:
    """Forget to whom a note was given: nothing can become of it any more."""
    change(connection, DELETE_GIVEN, {"note_id": note_id})


def add_notices(
    connection: apsw.Connection,
    note_id: NoteId,
    happened: Happening,
    event: EventSeq,
    at_ms: int,
    *,
    session: str | None = None,
) -> None:
    """Have every session that was given a note told of it, or just one of them."""
    wanted: Parameters = {
        "note_id": note_id,
        "happened": happened,
        "event_id": event,
        "at": at_ms,
        "session": session,
    }
    change(connection, INSERT_NOTICES, wanted)


def delete_notices_of(connection: apsw.Connection, note_id: NoteId) -> None:
    """Tell nobody of a note any more: it holds again."""
    change(connection, DELETE_NOTICES_OF_NOTE, {"note_id": note_id})


def delete_notices(connection: apsw.Connection, notice_ids: Iterable[int]) -> None:
    """Take notices away that have been told."""
    change(connection, DELETE_NOTICES, {"notice_ids": json.dumps(list(notice_ids))})


def delete_old(connection: apsw.Connection) -> None:
    """Forget all but the newest `GIVEN_NOTES_MAX` and `NOTICES_MAX`."""
    change(connection, DELETE_OLD_GIVEN, {"count_max": GIVEN_NOTES_MAX})
    change(connection, DELETE_OLD_NOTICES, {"count_max": NOTICES_MAX})


def read_notices(connection: apsw.Connection, session: str, count_max: int) -> list[Notice]:
    """Return what a session is still to be told, the oldest first."""
    rows = select(connection, SELECT_NOTICES, {"session": session, "count_max": count_max})
    return [
        Notice(
            notice_id=row[0],
            note_id=NoteId(row[1]),
            happened=Happening(row[2]),
            event=EventSeq(row[3]),
            at_ms=row[4],
        )
        for row in rows
    ]


def given_to_since(connection: apsw.Connection, event: EventSeq, sessions_max: int) -> GivenTo:
    """Return which sessions are to be told of what happened from an event on."""
    count = select_one(connection, SELECT_TOLD_COUNT, {"event_id": event})
    if count is None or not count[0]:
        return NOBODY
    rows = select(connection, SELECT_TOLD_SESSIONS, {"event_id": event, "count_max": sessions_max})
    return GivenTo(count=count[0], sessions=tuple(row[0] for row in rows))
