"""The audit trail: what was done to which note, by whom, each row sealed to the one before."""

from dataclasses import dataclass

import apsw

from graft_memstore.canonical import encode_fields
from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store.rows import Row, change, select, select_one

INSERT_EVENT = """
INSERT INTO events (
    seq, at, actor, channel, door, action, note_id, digest, state_digest, reason, prev_hash, hash,
    rows_digest, tombstones, count
) VALUES (
    :seq, :at, :actor, :channel, :door, :action, :note_id, :digest, :state_digest, :reason,
    :prev_hash, :hash, :rows_digest, :tombstones, :count
)
"""

COLUMNS = """
    seq, at, actor, channel, door, action, note_id, digest, state_digest, reason, prev_hash, hash,
    rows_digest, tombstones, count
"""

SELECT_LAST_LINK = "SELECT seq, hash FROM events WHERE seq = (SELECT max(seq) FROM events)"

SELECT_HASH = "SELECT hash FROM events WHERE seq = :seq"

SELECT_EVENT = "SELECT" + COLUMNS + "FROM events WHERE seq = :seq"

# events_by_note
SELECT_EVENTS_OF_NOTE = "SELECT" + COLUMNS + "FROM events WHERE note_id = :note_id ORDER BY seq"

# By primary key, a page at a time.
SELECT_NOTES_GONE = """
SELECT stored.seq, stored.note_id
FROM events AS stored
WHERE stored.seq > :after AND stored.action = 'insert'
  AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = stored.note_id)
ORDER BY stored.seq
LIMIT :count_max
"""

# By primary key, a page at a time.
SELECT_EVENTS_AFTER = (
    "SELECT" + COLUMNS + "FROM events WHERE seq > :after ORDER BY seq LIMIT :count_max"
)

END_OF_EVENTS = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row of the trail.

    Attributes:
        channel: the agent's session, where there is one.
        note_id: None where it is about no single note.
        digest: keyed digest of the content hash of the note, or of whatever else it is about.
        state_digest: keyed digest of the state row that it made; empty when it made none.
        prev_hash: hash of the event before; zeros for the first.
        rows_digest: keyed digests of what the note had when its change was done; empty where that
            stands in another event, None where an earlier version of the program wrote it.
        tombstones: keyed digests of the rejections that its change made or lifted, each after the
            number of its row.
        count: how often it happened, where that was counted.
        hash: keyed hash over everything before it in this class.
    """

    seq: EventSeq
    at_ms: int
    actor: str
    channel: str
    door: str
    action: str
    note_id: NoteId | None
    digest: bytes
    state_digest: bytes
    reason: str
    prev_hash: bytes
    hash: bytes = b""
    rows_digest: bytes | None = None
    tombstones: bytes = b""
    count: int = 1

    def sealed_bytes(self) -> bytes:
        """Return what its hash is made of."""
        more = () if self.rows_digest is None else (self.rows_digest, self.tombstones, self.count)
        return encode_fields(
            self.seq,
            self.at_ms,
            self.actor,
            self.channel,
            self.door,
            self.action,
            self.note_id,
            self.digest,
            self.state_digest,
            self.reason,
            self.prev_hash,
            *more,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a chain ends, or ended: how many events, and the hash of the last."""

    count: int
    hash: bytes


def insert_event(connection: apsw.Connection, event: Event) -> None:
    """Append a sealed event."""
    change(
        connection,
        INSERT_EVENT,
        {
            "seq": event.seq,
            "at": event.at_ms,
            "actor": event.actor,
            "channel": event.channel,
            "door": event.door,
            "action": event.action,
            "note_id": event.note_id,
            "digest": event.digest,
            "state_digest": event.state_digest,
            "reason": event.reason,
            "prev_hash": event.prev_hash,
            "hash": event.hash,
            "rows_digest": event.rows_digest,
            "tombstones": event.tombstones,
            "count": event.count,
        },
    )


def read_last_seq(connection: apsw.Connection) -> EventSeq:
    """Return the number of the last event; 0 before the first."""
    last = read_last_link(connection)
    return EventSeq(0 if last is None else last.count)


def read_last_link(connection: apsw.Connection) -> Link | None:
    """Return where the chain ends, None when it is empty."""
    row = select_one(connection, SELECT_LAST_LINK, {})
    return None if row is None else Link(count=row[0], hash=row[1])


def read_hash(connection: apsw.Connection, seq: int) -> bytes | None:
    """Return the hash of an event, None when it is not there."""
    row = select_one(connection, SELECT_HASH, {"seq": seq})
    return None if row is None else bytes(row[0])


def read_event(connection: apsw.Connection, seq: int) -> Event | None:
    """Return an event, None when it is not there."""
    if seq > END_OF_EVENTS:  # SQLite knows no such numbers
        return None
    row = select_one(connection, SELECT_EVENT, {"seq": seq})
    return None if row is None else event_from(row)


def read_events_after(connection: apsw.Connection, after: int, count_max: int) -> list[Event]:
    """Return a page of the trail."""
    rows = select(connection, SELECT_EVENTS_AFTER, {"after": after, "count_max": count_max})
    return [event_from(row) for row in rows]


def read_events_of(connection: apsw.Connection, note_id: NoteId) -> list[Event]:
    """Return all that happened to a note, in order."""
    rows = select(connection, SELECT_EVENTS_OF_NOTE, {"note_id": note_id})
    return [event_from(row) for row in rows]


def read_notes_gone(
    connection: apsw.Connection, after: int, count_max: int
) -> list[tuple[int, NoteId]]:
    """Return a page of the notes that were stored and are not there: event, id."""
    rows = select(connection, SELECT_NOTES_GONE, {"after": after, "count_max": count_max})
    return [(row[0], NoteId(row[1])) for row in rows]


def event_from(row: Row) -> Event:
    """Read an event from `COLUMNS`."""
    seq, at, actor, channel, door, action, note_id, digest, state_digest, *rest = row
    reason, prev, own, rows_digest, tombstones, count = rest
    return Event(
        seq=EventSeq(seq),
        at_ms=at,
        actor=actor,
        channel=channel,
        door=door,
        action=action,
        note_id=None if note_id is None else NoteId(note_id),
        digest=digest,
        state_digest=state_digest,
        reason=reason,
        prev_hash=prev,
        hash=own,
        rows_digest=rows_digest,
        tombstones=tombstones or b"",
        count=count,
    )
