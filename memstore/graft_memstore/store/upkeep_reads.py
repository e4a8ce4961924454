"""What upkeep looks at: notes to compare, keywords, what has ended, what was put aside."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.candidates import ComparedNote
from graft_memstore.divergence import statement_of
from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store.rows import Row, change, select
from graft_memstore.visibility import VISIBLE, View

_COMPARED = """
SELECT visible.seq, visible.note_id, visible.scope, visible.title,
       substr(note.body, 1, :chars_max), note.content_hash, note.value_hash, note.recorded_at,
       EXISTS (SELECT 1 FROM edges INDEXED BY edges_by_src
               WHERE edges.src = visible.seq AND edges.known_to IS NULL)
       OR EXISTS (SELECT 1 FROM edges INDEXED BY edges_by_dst
                  WHERE edges.dst = visible.seq AND edges.known_to IS NULL),
       EXISTS (SELECT 1 FROM edges_pending WHERE edges_pending.seq = visible.seq)
       OR EXISTS (SELECT 1 FROM pending
                  WHERE pending.note_id = visible.note_id AND pending.what = 'title')
"""

# By primary key, a page at a time.
SELECT_COMPARED_AFTER = (
    "WITH "
    + VISIBLE
    + _COMPARED
    + """
FROM notes AS note
CROSS JOIN visible ON visible.seq = note.seq
WHERE note.seq > :after
ORDER BY note.seq
LIMIT :count_max
"""
)

SELECT_COMPARED = (
    "WITH "
    + VISIBLE
    + _COMPARED
    + """
FROM json_each(:seqs) AS wanted
CROSS JOIN notes AS note ON note.seq = wanted.value
CROSS JOIN visible ON visible.seq = note.seq
"""
)

# Reads the index notes_by_scope whole, which is what counting takes.
SELECT_KEYWORDS_IN_SCOPES = (
    "WITH "
    + VISIBLE
    + """
SELECT note.scope, keywords.keyword, count(*)
FROM notes AS note INDEXED BY notes_by_scope
CROSS JOIN visible ON visible.seq = note.seq
CROSS JOIN note_keywords AS carried ON carried.note_id = note.id AND carried.known_to IS NULL
CROSS JOIN keywords ON keywords.keyword_id = carried.keyword_id
GROUP BY note.scope, keywords.keyword
"""
)

# note_keywords_by_keyword
SELECT_CARRIERS_OF = (
    "WITH "
    + VISIBLE
    + """
SELECT visible.note_id
FROM keywords
CROSS JOIN note_keywords AS carried INDEXED BY note_keywords_by_keyword
    ON carried.keyword_id = keywords.keyword_id AND carried.known_to IS NULL
CROSS JOIN visible ON visible.note_id = carried.note_id
WHERE keywords.keyword = :keyword
ORDER BY visible.note_id
LIMIT :count_max
"""
)

# Reads the index notes_by_value whole; of each value the notes stand together there.
SELECT_SAYING_THE_SAME = (
    "WITH "
    + VISIBLE
    + """
SELECT json_group_array(note.id)
FROM notes AS note INDEXED BY notes_by_value
CROSS JOIN visible ON visible.seq = note.seq
GROUP BY note.value_hash, note.scope
HAVING count(*) > 1
LIMIT :count_max
"""
)

# note_states_expiring; of each the events since are looked through for one that says so.
SELECT_EXPIRED = """
SELECT state.note_id, notes.scope, state.expires_at,
       EXISTS (SELECT 1 FROM events
               WHERE events.note_id = state.note_id AND events.seq > state.event_id
                 AND events.action = 'expire')
FROM note_states AS state INDEXED BY note_states_expiring
CROSS JOIN notes ON notes.id = state.note_id
WHERE state.known_to IS NULL AND state.lifecycle = 'active' AND state.expires_at <= :now
  AND state.expires_at >= :since
  AND (:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY state.expires_at
LIMIT :count_max
"""

# note_states_retired
SELECT_RETIRED_BEFORE = """
SELECT state.note_id, notes.scope, state.known_from, events.actor, events.action
FROM note_states AS state INDEXED BY note_states_retired
CROSS JOIN notes ON notes.id = state.note_id
CROSS JOIN events ON events.seq = state.event_id
WHERE state.known_to IS NULL AND state.lifecycle = 'retired' AND state.known_from <= :before
  AND (:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY state.known_from
LIMIT :count_max
"""

SELECT_UPKEEP_EVENTS = """
SELECT seq, at, actor, door, action, note_id, reason
FROM events INDEXED BY events_of_upkeep
WHERE action IN ('resolve', 'expire', 'merge-keyword', 'merge-note', 'purge')
  AND seq < :before AND (:note_id = '' OR note_id = :note_id)
ORDER BY seq DESC
LIMIT :count_max
"""

# review_items_by_evidence of a kind; what was to be judged of keywords that nobody carries.
DELETE_ITEMS_OF_UNKNOWN_KEYWORDS = """
DELETE FROM review_items
WHERE kind = 'keyword-variant' AND (
    NOT EXISTS (SELECT 1 FROM keywords WHERE keyword = json_extract(detail, '$.variant'))
    OR NOT EXISTS (SELECT 1 FROM keywords WHERE keyword = json_extract(detail, '$.keep'))
)
"""

DELETE_OPEN_ITEMS = """
DELETE FROM review_items
WHERE item_id IN (SELECT value FROM json_each(:item_ids)) AND decided_at IS NULL
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note as it stands before it is taken apart for comparing; see `ComparedNote`."""

    seq: int
    id: NoteId
    scope: str
    title: str
    body: str
    content_hash: bytes
    value_hash: bytes
    recorded_at_ms: int
    joined: bool
    waiting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredNote:
    """A note that is active and has expired, and whether that was recorded."""

    id: NoteId
    scope: str
    expires_at_ms: int
    recorded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredNote:
    """A note that was retired, when, and the event that did it."""

    id: NoteId
    scope: str
    retired_at_ms: int
    actor: str
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepEvent:
    """Something that upkeep did, or that was decided of what it found."""

    seq: EventSeq
    at_ms: int
    actor: str
    door: str
    action: str
    note_id: NoteId | None
    reason: str


def notes_to_compare(
    connection: apsw.Connection, view: View, *, after: int, count_max: int, chars_max: int
) -> list[NoteText]:
    """Return a page of the notes of *view*, in the order of their numbers."""
    wanted = view.parameters(after=after, count_max=count_max, chars_max=chars_max)
    return [_text_from(row) for row in select(connection, SELECT_COMPARED_AFTER, wanted)]


def notes_by_seq(
    connection: apsw.Connection, view: View, seqs: Iterable[int], *, chars_max: int
) -> list[NoteText]:
    """Return those of the notes listed that *view* shows."""
    wanted = view.parameters(seqs=json.dumps(list(seqs)), chars_max=chars_max)
    return [_text_from(row) for row in select(connection, SELECT_COMPARED, wanted)]


def count_keywords(connection: apsw.Connection, view: View) -> dict[str, dict[str, int]]:
    """Return by scope how many notes that *view* shows carry each keyword."""
    found: dict[str, dict[str, int]] = {}
    for scope, keyword, count in select(connection, SELECT_KEYWORDS_IN_SCOPES, view.parameters()):
        found.setdefault(scope, {})[keyword] = count
    return found


def carriers_of(
    connection: apsw.Connection, keyword: str, view: View, count_max: int
) -> list[NoteId]:
    """Return notes that *view* shows and that carry *keyword*."""
    wanted = view.parameters(keyword=keyword, count_max=count_max)
    return [NoteId(row[0]) for row in select(connection, SELECT_CARRIERS_OF, wanted)]


def groups_saying_the_same(
    connection: apsw.Connection, view: View, count_max: int
) -> list[list[NoteId]]:
    """Return notes of one scope that say the very same, however spelled; two or more in each."""
    rows = select(connection, SELECT_SAYING_THE_SAME, view.parameters(count_max=count_max))
    return [[NoteId(each) for each in json.loads(row[0])] for row in rows]


def read_expired(
    connection: apsw.Connection, view: View, *, count_max: int, since_ms: int = 0
) -> list[ExpiredNote]:
    """Return active notes that had expired by *view*'s now, the earliest from *since_ms* first."""
    wanted = view.parameters(count_max=count_max, since=since_ms)
    return [
        ExpiredNote(id=NoteId(row[0]), scope=row[1], expires_at_ms=row[2], recorded=bool(row[3]))
        for row in select(connection, SELECT_EXPIRED, wanted)
    ]


def read_retired(
    connection: apsw.Connection, view: View, *, before_ms: int, count_max: int
) -> list[RetiredNote]:
    """Return notes that were retired at or before an instant, the earliest first."""
    wanted = view.parameters(before=before_ms, count_max=count_max)
    return [
        RetiredNote(
            id=NoteId(row[0]), scope=row[1], retired_at_ms=row[2], actor=row[3], action=row[4]
        )
        for row in select(connection, SELECT_RETIRED_BEFORE, wanted)
    ]


def read_upkeep_events(
    connection: apsw.Connection, *, before: int, count_max: int, note_id: NoteId | None = None
) -> list[UpkeepEvent]:
    """Return what upkeep did before an event, newest first."""
    wanted: dict[str, str | int | None] = {
        "before": before,
        "count_max": count_max,
        "note_id": note_id or "",
    }
    return [
        UpkeepEvent(
            seq=EventSeq(seq),
            at_ms=at,
            actor=actor,
            door=door,
            action=action,
            note_id=None if note is None else NoteId(note),
            reason=reason,
        )
        for seq, at, actor, door, action, note, reason in select(
            connection, SELECT_UPKEEP_EVENTS, wanted
        )
    ]


def forget_unknown_keywords(connection: apsw.Connection) -> None:
    """Take items out of the queue whose keywords no note carries or has carried."""
    change(connection, DELETE_ITEMS_OF_UNKNOWN_KEYWORDS, {})


def withdraw_items(connection: apsw.Connection, item_ids: Iterable[int]) -> int:
    """Take open items out of the queue of which nothing is left to judge."""
    return change(connection, DELETE_OPEN_ITEMS, {"item_ids": json.dumps(list(item_ids))})


def _text_from(row: Row) -> NoteText:
    seq, note_id, scope, title, body, content_hash, value_hash, at, joined, waiting = row
    return NoteText(
        seq=seq,
        id=NoteId(note_id),
        scope=scope,
        title=title,
        body=body,
        content_hash=content_hash,
        value_hash=value_hash,
        recorded_at_ms=at,
        joined=bool(joined),
        waiting=bool(waiting),
    )


def taken_apart(text: NoteText) -> ComparedNote:
    """Return a note as it is compared with others."""
    return ComparedNote(
        seq=text.seq,
        id=text.id,
        scope=text.scope,
        content_hash=text.content_hash,
        value_hash=text.value_hash,
        recorded_at_ms=text.recorded_at_ms,
        says=statement_of(text.title, text.body),
        joined=text.joined,
        waiting=text.waiting,
    )
