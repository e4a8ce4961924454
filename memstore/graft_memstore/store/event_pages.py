"""Pages of the audit trail, newest first, for whoever reads it."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import NoteId
from graft_memstore.store.events import COLUMNS, Event, event_from
from graft_memstore.store.rows import select, select_one

_WANTED = """
AND seq < :before AND seq >= :first AND (:action = '' OR action = :action)
ORDER BY seq DESC
LIMIT :count_max
"""

# By primary key, backwards until the page is full.
SELECT_EVENT_PAGE = "SELECT" + COLUMNS + "FROM events WHERE TRUE" + _WANTED

# events_by_note
SELECT_EVENT_PAGE_OF_NOTE = "SELECT" + COLUMNS + "FROM events WHERE note_id = :note_id" + _WANTED

SELECT_LAST_SEQ = "SELECT max(seq) FROM events"

# By primary key; of events that were taken out the next one counts.
SELECT_TIME_FROM = "SELECT seq, at FROM events WHERE seq >= :seq ORDER BY seq LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events are wanted.

    Attributes:
        note_id: those of this note; None: all.
        since_ms: those at or after this instant.
        action: those of this action; empty: of every one.
    """

    note_id: NoteId | None = None
    since_ms: int = 0
    action: str = ""


def read_event_page(
    connection: apsw.Connection, wanted: EventFilter, *, before: int, count_max: int
) -> list[Event]:
    """Return up to *count_max* events before one, newest first."""
    statement = SELECT_EVENT_PAGE if wanted.note_id is None else SELECT_EVENT_PAGE_OF_NOTE
    parameters: dict[str, str | int] = {
        "before": before,
        "first": first_since(connection, wanted.since_ms),
        "action": wanted.action,
        "count_max": count_max,
    }
    if wanted.note_id is not None:
        parameters["note_id"] = wanted.note_id
    return [event_from(row) for row in select(connection, statement, parameters)]


def first_since(connection: apsw.Connection, since_ms: int) -> int:
    """Return the number of the first event at or after an instant, or one past the last.

    Times never go back from one event to the next, so halving finds it without an index.
    """
    if since_ms <= 0:
        return 0
    last = select_one(connection, SELECT_LAST_SEQ, {})
    low, high = 1, (0 if last is None or last[0] is None else int(last[0])) + 1
    while low < high:
        middle = (low + high) // 2
        row = select_one(connection, SELECT_TIME_FROM, {"seq": middle})
        if row is None or row[1] >= since_ms:
            high = middle
        else:
            low = row[0] + 1
    return low
