"""What waits for a reviewer, and what was judged: known by its kind and its evidence."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import apsw
from blake3 import blake3

from graft_memstore.candidates import Candidate
from graft_memstore.canonical import Field, encode_fields
from graft_memstore.model import (
    Decision,
    EventSeq,
    ItemId,
    ItemKind,
    NoteId,
    ScopeFilter,
)
from graft_memstore.store.rows import Parameters, Row, change, select, select_one

# An open one takes the newest measure; one that was decided stays as it is.
INSERT_ITEM = """
INSERT INTO review_items (
    kind, evidence, note_id, other_id, scope, measure, detail, event_id, opened_at
) VALUES (
    :kind, :evidence, :note_id, :other_id, :scope, :measure, :detail, :event_id, :opened_at
)
ON CONFLICT (kind, evidence) DO UPDATE SET
    measure = excluded.measure, detail = excluded.detail
WHERE decided_at IS NULL
"""

COLUMNS = """
    item.item_id, item.kind, item.evidence, item.note_id, item.other_id, item.scope, item.measure,
    item.detail, item.event_id, item.opened_at, item.decision, item.decided_by, item.decided_at
"""

SELECT_ITEM = "SELECT" + COLUMNS + "FROM review_items AS item WHERE item.item_id = :item_id"

# review_items_by_evidence
SELECT_ITEM_BY_EVIDENCE = (
    "SELECT"
    + COLUMNS
    + "FROM review_items AS item WHERE item.kind = :kind AND item.evidence = :evidence"
)

# An item is told where the scopes of all its notes are looked at, and nowhere else.
_OF_SCOPES = """
LEFT JOIN notes AS note ON note.id = item.note_id
LEFT JOIN notes AS other ON other.id = item.other_id
WHERE (:all_scopes OR (
    ifnull(note.scope, item.scope) IN (SELECT value FROM json_each(:scopes))
    AND (other.id IS NULL OR other.scope IN (SELECT value FROM json_each(:scopes)))
))
AND (:all_kinds OR item.kind IN (SELECT value FROM json_each(:kinds)))
"""

# review_items_open from a number on, oldest first.
SELECT_OPEN_ITEMS = (
    "SELECT"
    + COLUMNS
    + "FROM review_items AS item INDEXED BY review_items_open"
    + _OF_SCOPES
    + """
AND item.decided_at IS NULL AND item.item_id > :after
ORDER BY item.item_id
LIMIT :count_max
"""
)

# By primary key, from a number down: newest first.
SELECT_DECIDED_ITEMS = (
    "SELECT"
    + COLUMNS
    + "FROM review_items AS item"
    + _OF_SCOPES
    + """
AND item.decided_at IS NOT NULL AND item.item_id < :before
ORDER BY item.item_id DESC
LIMIT :count_max
"""
)

SELECT_OPEN_COUNTS = (
    "SELECT item.kind, count(*) FROM review_items AS item INDEXED BY review_items_open"  # noqa: S608 - joined at import, from constants alone
    + _OF_SCOPES
    + "AND item.decided_at IS NULL GROUP BY item.kind"
)

UPDATE_DECIDED = """
UPDATE review_items SET decision = :decision, decided_by = :decided_by, decided_at = :decided_at
WHERE item_id = :item_id AND decided_at IS NULL
"""

# review_items_by_evidence
UPDATE_JUDGED = """
UPDATE review_items SET decision = :decision, decided_by = :decided_by, decided_at = :decided_at
WHERE kind = :kind AND evidence = :evidence
"""

# review_items_by_note and review_items_by_other
DELETE_MOOT = """
DELETE FROM review_items
WHERE (note_id = :note_id OR other_id = :note_id) AND decided_at IS NULL AND kind <> 'proposal'
"""

# review_items_by_note; as what they waited for, they are judged by now.
DELETE_WAITING = """
DELETE FROM review_items
WHERE note_id = :note_id AND decided_at IS NULL AND kind IN ('candidate', 'held')
"""

END_OF_ITEMS = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """Something that a reviewer is to judge.

    Attributes:
        evidence: from `evidence_of`: another one makes it a new thing to judge.
        note_id, other_id: the notes that it is about; of a pair the order may say something.
        scope: where it belongs, of what is about no stored note; else empty.
        measure: how much of it: a cosine, a count.
        detail: ids, numbers, keywords, words of ours; never text of a note.
        event: of whoever asked for it; None where upkeep found it.
    """

    kind: ItemKind
    evidence: bytes
    note_id: NoteId | None = None
    other_id: NoteId | None = None
    scope: str = ""
    measure: float | None = None
    detail: Mapping[str, object] = field(default_factory=dict)
    event: EventSeq | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a reviewer, or was judged by one.

    Attributes:
        decision: None while it is open.
        decided_by: event of the decision.
    """

    item_id: ItemId
    kind: ItemKind
    evidence: bytes
    note_id: NoteId | None
    other_id: NoteId | None
    scope: str
    measure: float | None
    detail: Mapping[str, object]
    event: EventSeq | None
    opened_at_ms: int
    decision: Decision | None
    decided_by: EventSeq | None
    decided_at_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which items a listing wants.

    Attributes:
        kinds: only these; empty for all.
    """

    scope: ScopeFilter
    kinds: Sequence[ItemKind] = ()


def evidence_of(*fields: Field) -> bytes:
    """Return the digest of everything that a judgement rests on: ids, hashes, what was measured.

    What should bring a judged thing back when it changes belongs in here, and nothing else.
    """
    return blake3(encode_fields(*fields)).digest()


def evidence_for(candidate: Candidate) -> bytes:
    """Return the digest of what a judgement of a candidate rests on."""
    return evidence_of(candidate.kind, *candidate.evidence)


def item_for(candidate: Candidate) -> NewItem:
    """Return a candidate as it stands in the queue."""
    return NewItem(
        kind=candidate.kind,
        evidence=evidence_for(candidate),
        note_id=candidate.note_id,
        other_id=candidate.other_id,
        scope=candidate.scope,
        measure=candidate.measure,
        detail=candidate.detail,
    )


def open_item(connection: apsw.Connection, item: NewItem, at_ms: int) -> ReviewItem:
    """Put *item* into the queue; return it, or the one of the same kind and evidence.

    That may have been decided, and stays so.
    """
    change(
        connection,
        INSERT_ITEM,
        {
            "kind": item.kind,
            "evidence": item.evidence,
            "note_id": item.note_id,
            "other_id": item.other_id,
            "scope": item.scope if item.note_id is None else None,
            "measure": item.measure,
            "detail": json.dumps(item.detail, separators=(",", ":"), sort_keys=True),
            "event_id": item.event,
            "opened_at": at_ms,
        },
    )
    found = find_item(connection, item.kind, item.evidence)
    assert found is not None, "it is there now"
    return found


def find_item(connection: apsw.Connection, kind: ItemKind, evidence: bytes) -> ReviewItem | None:
    """Return what was made of this evidence, open or decided; None when it is new."""
    wanted: Parameters = {"kind": kind, "evidence": evidence}
    row = select_one(connection, SELECT_ITEM_BY_EVIDENCE, wanted)
    return None if row is None else _item_from(row)


def read_item(connection: apsw.Connection, item_id: ItemId) -> ReviewItem | None:
    """Return an item, None when there is none."""
    if item_id > END_OF_ITEMS:  # SQLite knows no such numbers
        return None
    row = select_one(connection, SELECT_ITEM, {"item_id": item_id})
    return None if row is None else _item_from(row)


def read_open_items(
    connection: apsw.Connection, wanted: ItemFilter, *, after: int = 0, count_max: int
) -> list[ReviewItem]:
    """Return up to *count_max* open items above the number *after*, oldest first."""
    parameters = {**_filter(wanted), "after": after, "count_max": count_max}
    return [_item_from(row) for row in select(connection, SELECT_OPEN_ITEMS, parameters)]


def read_decided_items(
    connection: apsw.Connection, wanted: ItemFilter, *, before: int = END_OF_ITEMS, count_max: int
) -> list[ReviewItem]:
    """Return up to *count_max* decided items below the number *before*, newest first."""
    parameters = {**_filter(wanted), "before": before, "count_max": count_max}
    return [_item_from(row) for row in select(connection, SELECT_DECIDED_ITEMS, parameters)]


def count_open_items(connection: apsw.Connection, wanted: ItemFilter) -> dict[ItemKind, int]:
    """Return how many items of each kind wait."""
    rows = select(connection, SELECT_OPEN_COUNTS, _filter(wanted))
    return {ItemKind(kind): count for kind, count in rows}


def decide_item(
    connection: apsw.Connection,
    item_id: ItemId,
    decision: Decision,
    *,
    event: EventSeq,
    at_ms: int,
) -> bool:
    """Record what was decided of an open item, and by which event; tell whether it was open."""
    wanted: Parameters = {
        "item_id": item_id,
        "decision": decision,
        "decided_by": event,
        "decided_at": at_ms,
    }
    return change(connection, UPDATE_DECIDED, wanted) == 1


def judge_item(
    connection: apsw.Connection,
    item: NewItem,
    decision: Decision,
    *,
    event: EventSeq,
    at_ms: int,
) -> None:
    """Record what was decided of *item*, whether it was in the queue, or was judged before."""
    open_item(connection, item, at_ms)
    wanted: Parameters = {
        "kind": item.kind,
        "evidence": item.evidence,
        "decision": decision,
        "decided_by": event,
        "decided_at": at_ms,
    }
    change(connection, UPDATE_JUDGED, wanted)


def drop_moot_items(connection: apsw.Connection, note_id: NoteId) -> None:
    """Take out of the queue what was to be judged of a note that is out of use.

    Proposals stay: they may be about just that. What was decided stays decided.
    """
    change(connection, DELETE_MOOT, {"note_id": note_id})


def drop_waiting_items(connection: apsw.Connection, note_id: NoteId) -> None:
    """Take out of the queue that a note waits as a candidate, or as held."""
    change(connection, DELETE_WAITING, {"note_id": note_id})


def _filter(wanted: ItemFilter) -> dict[str, str | int]:
    return {
        "all_scopes": int(wanted.scope.all),
        "scopes": json.dumps(wanted.scope.scopes),
        "all_kinds": int(not wanted.kinds),
        "kinds": json.dumps(list(wanted.kinds)),
    }


def _item_from(row: Row) -> ReviewItem:
    item_id, kind, evidence, note_id, other_id, scope, measure, detail, event, opened, *end = row
    decision, decided_by, decided_at = end
    return ReviewItem(
        item_id=ItemId(item_id),
        kind=ItemKind(kind),
        evidence=evidence,
        note_id=None if note_id is None else NoteId(note_id),
        other_id=None if other_id is None else NoteId(other_id),
        scope=scope or "",
        measure=measure,
        detail=json.loads(detail),
        event=None if event is None else EventSeq(event),
        opened_at_ms=opened,
        decision=None if decision is None else Decision(decision),
        decided_by=None if decided_by is None else EventSeq(decided_by),
        decided_at_ms=decided_at,
    )
