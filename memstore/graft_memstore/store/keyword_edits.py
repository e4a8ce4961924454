"""Changes of the keywords that a note carries, each with the event that recorded it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import apsw

from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store.rows import Parameters, Row, change, select, select_one

INSERT_EDIT = """
INSERT INTO keyword_edits (event_id, note_id, added, removed)
VALUES (:event_id, :note_id, :added, :removed)
"""

SELECT_EDIT = "SELECT event_id, note_id, added, removed FROM keyword_edits WHERE event_id = :event"

# keyword_edits_by_note
SELECT_LAST_EDIT = """
SELECT max(event_id) FROM keyword_edits WHERE note_id = :note_id
"""

# What a note carried until this instant, and carries from it on, it has carried all along.
OPEN_NOTE_KEYWORDS = """
INSERT INTO note_keywords (note_id, keyword_id, origin, known_from)
SELECT :note_id, wanted.value, :origin, :at
FROM json_each(:keyword_ids) AS wanted
WHERE true
ON CONFLICT (note_id, keyword_id, known_from) DO UPDATE SET known_to = NULL
"""

CLOSE_NOTE_KEYWORDS = """
UPDATE note_keywords SET known_to = :at
WHERE note_id = :note_id AND known_to IS NULL
AND keyword_id IN (SELECT value FROM json_each(:keyword_ids))
"""

# Edges that a keyword made stay on record until now.
CLOSE_KEYWORD_EDGES = """
UPDATE edges SET known_to = :at
WHERE known_to IS NULL AND keyword_id IN (SELECT value FROM json_each(:keyword_ids))
AND (src = (SELECT seq FROM notes WHERE id = :note_id)
     OR dst = (SELECT seq FROM notes WHERE id = :note_id))
"""

SELECT_CARRIED = """
SELECT keyword.keyword, keyword.keyword_id
FROM note_keywords AS carried
JOIN keywords AS keyword ON keyword.keyword_id = carried.keyword_id
WHERE carried.note_id = :note_id AND carried.known_to IS NULL
ORDER BY keyword.keyword
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordEdit:
    """What an event changed: numbers of keywords."""

    event: EventSeq
    note_id: NoteId
    added: tuple[int, ...]
    removed: tuple[int, ...]


def record_edit(
    connection: apsw.Connection,
    edit: KeywordEdit,
    at_ms: int,
    *,
    origin: Literal["author", "merged"] = "author",
) -> None:
    """Give a note the keywords that *edit* adds, take those away that it removes, and keep it."""
    wanted: Parameters = {"note_id": edit.note_id, "at": at_ms}
    removed = json.dumps(edit.removed)
    change(connection, CLOSE_NOTE_KEYWORDS, {**wanted, "keyword_ids": removed})
    change(connection, CLOSE_KEYWORD_EDGES, {**wanted, "keyword_ids": removed})
    added = json.dumps(edit.added)
    change(connection, OPEN_NOTE_KEYWORDS, {**wanted, "keyword_ids": added, "origin": origin})
    row: Parameters = {
        "event_id": edit.event,
        "note_id": edit.note_id,
        "added": added,
        "removed": removed,
    }
    change(connection, INSERT_EDIT, row)


def read_edit(connection: apsw.Connection, event: EventSeq) -> KeywordEdit | None:
    """Return what an event changed of keywords; None where it changed none."""
    row = select_one(connection, SELECT_EDIT, {"event": event})
    return None if row is None else _edit_from(row)


def last_edit(connection: apsw.Connection, note_id: NoteId) -> EventSeq | None:
    """Return the event that changed a note's keywords last."""
    row = select_one(connection, SELECT_LAST_EDIT, {"note_id": note_id})
    return None if row is None or row[0] is None else EventSeq(row[0])


def carried_keywords(connection: apsw.Connection, note_id: NoteId) -> dict[str, int]:
    """Return the keywords that a note carries now, with their numbers."""
    return {row[0]: row[1] for row in select(connection, SELECT_CARRIED, {"note_id": note_id})}


def _edit_from(row: Row) -> KeywordEdit:
    event, note_id, added, removed = row
    return KeywordEdit(
        event=EventSeq(event),
        note_id=NoteId(note_id),
        added=_numbers(added),
        removed=_numbers(removed),
    )


def _numbers(text: str) -> tuple[int, ...]:
    numbers: Sequence[int] = json.loads(text)
    return tuple(numbers)
