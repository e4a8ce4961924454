"""Compares a profile with its audit trail, and names every row that does not fit it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store import meta
from graft_memstore.store.chain import (
    FIRST_HASH,
    SECTION_BYTES,
    AuditChain,
    tombstones_in,
)
from graft_memstore.store.database import Connection
from graft_memstore.store.events import (
    Event,
    Link,
    read_events_after,
    read_events_of,
    read_last_seq,
    read_notes_gone,
)
from graft_memstore.store.note_rows import NoteRow, read_note_rows
from graft_memstore.store.own_threshold import read_own_threshold
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.sealed_rows import SEALED_TABLES
from graft_memstore.store.states import StateRow, read_states_of
from graft_memstore.store.tombstones import read_tombstones_after
from graft_memstore.upkeep.measure_gate import ACTION_APPLY, ACTION_RESET
from graft_memstore.upkeep.trail_report import FLAWS_MAX, ExpectedHead, Flaw, TrailReport
from graft_memstore.write.delete import ACTION_DELETE
from graft_memstore.write.hashes import content_hash
from graft_memstore.write.move_scope import ACTION_MOVE
from graft_memstore.write.store_note import ACTION_INSERT

EVENT_ROWS = 1_000
NOTE_ROWS = 50
"""Notes that are read at once; each may have a body of 1 MiB."""
MOVED_MAX = 1_000
"""How far from its place an event is looked for."""

WHAT = {
    "notes": "its author, scope, times or place in the order of things",
    "note_keywords": "its keywords",
    "note_sources": "its sources",
    "note_applies": "what it applies to",
    "edges": "what replaced it",
}


def verify_trail(profile: Profile[Index], expected: ExpectedHead | None = None) -> TrailReport:
    """Compare a profile with its trail, and that with a head that was kept elsewhere.

    Raises:
        ServiceError: see `Profile.snapshot`.
    """
    # Before the snapshot: what is committed meanwhile is in the head and not in the snapshot.
    head = read_head(profile.chain)
    with profile.snapshot() as connection:
        return compare(connection, profile.chain, head, expected)


def read_head(chain: AuditChain) -> Link | Flaw | None:
    """Return what the head remembers, None where there is none, or why that cannot be told."""
    try:
        return chain.read_head()
    except (OSError, ValueError) as error:
        return Flaw(table="head", row="", detail=f"cannot be read: {error}")


def compare(
    connection: Connection,
    chain: AuditChain,
    head: Link | Flaw | None,
    expected: ExpectedHead | None = None,
) -> TrailReport:
    """Compare in a snapshot that began after *head* was read; see `verify_trail`."""
    check = _Check(connection, chain)
    check.events()
    check.head(head)
    if expected is not None:
        check.expected(expected)
    if not check.wrong_key:
        check.gate()
        check.notes()
        check.notes_gone()
        check.tombstones()
    return check.report()


class _Check:
    """Walks over the tables once, a page at a time."""

    def __init__(self, connection: Connection, chain: AuditChain) -> None:
        self._connection = connection
        self._chain = chain
        self._flaws: list[Flaw] = []
        self._more = 0
        self._events = 0
        self._notes = 0
        self._uncovered_notes = 0
        self._uncovered: list[str] = []
        self._gate: Event | None = None
        # Of the notes in the order of their numbers the event that stored each.
        self._places: list[tuple[EventSeq, NoteId]] = []
        # Of each rejection the digest that was sealed last, and where.
        self._sealed: dict[int, tuple[bytes, EventSeq]] = {}
        self._rejected_before: set[tuple[str, str, int]] = set()
        self.wrong_key = False

    def report(self) -> TrailReport:
        """Return what was found."""
        if self._uncovered_notes:
            self._uncovered.append(
                f"{self._uncovered_notes:,} notes were stored by an earlier version: their"
                " keywords, sources, ranges and successors are sealed with their next change"
            )
        return TrailReport(
            events=self._events,
            notes=self._notes,
            flaws=tuple(self._flaws),
            more=self._more,
            uncovered=tuple(self._uncovered),
        )

    def events(self) -> None:
        """Recompute every hash of the chain."""
        after, wrong = 0, 0
        # What the event before may be followed by; None where that cannot be told.
        followed: set[bytes] | None = {FIRST_HASH}
        while page := read_events_after(self._connection, after, EVENT_ROWS):
            for event in page:
                if event.seq != after + 1:
                    self._flaw("events", _span(after + 1, event.seq - 1), "gone from the trail")
                    followed = None
                seal = self._chain.seal(event)
                moved = 0
                if seal != event.hash:
                    wrong += 1
                    moved = self._place_of(event)
                    self._flaw("events", str(event.seq), _how_wrong(moved))
                elif followed is not None and event.prev_hash not in followed:
                    self._flaw("events", str(event.seq), f"does not follow event {after}")
                followed = None if moved else {event.hash, seal}
                after = event.seq
                self._events += 1
                self._remember(event)
        if wrong == self._events > 1:
            self.wrong_key = True
            flaw = Flaw(table="key", row="", detail="is not the one that sealed these events")
            self._flaws.insert(0, flaw)

    def head(self, head: Link | Flaw | None) -> None:
        """Compare the chain with what is kept of it outside the file."""
        if isinstance(head, Flaw):
            self._flaws.append(head)
        elif head is not None:
            detail = self._chain.disagreement(self._connection, head)
            if detail:
                self._flaw("events", self._end(head), detail)
                return
        elif self._events:
            self._uncovered.append(
                "no head of the chain was kept: whether its end was cut off cannot be told"
            )
        problem = self._chain.problem
        if problem and not isinstance(head, Flaw):
            self._flaw("events", self._end(Link(count=self._events, hash=b"")), problem)

    def expected(self, expected: ExpectedHead) -> None:
        """Compare the chain with a head that somebody kept elsewhere."""
        site = meta.read(self._connection, meta.SITE) or ""
        if expected.profile_id and expected.profile_id != site:
            detail = f"is of profile {expected.profile_id}, and this one is {site}"
            self._flaw("expected head", str(expected.link.count), detail)
            return
        last = read_last_seq(self._connection)
        if last < expected.link.count:
            detail = f"the trail ends before it, with event {last}"
            self._flaw("expected head", str(expected.link.count), detail)
        elif not self._chain.holds(self._connection, expected.link):
            detail = "another event stands there: the trail was made anew"
            self._flaw("expected head", str(expected.link.count), detail)

    def gate(self) -> None:
        """Compare the profile's own threshold with the last event about it."""
        event = self._gate
        was_set = event is not None and event.action == ACTION_APPLY
        try:
            own = read_own_threshold(self._connection)
        except (TypeError, ValueError):
            fits = False
        else:
            fits = (own is not None) == was_set and (
                own is None or event is None or self._chain.is_about(event, own.content_hash())
            )
        if not fits:
            last = "no event set one" if event is None else f"event {event.seq} is the last word"
            self._flaw("meta", "gate threshold", f"is not the one that was recorded: {last}")

    def notes(self) -> None:
        """Compare every note, its states and what hangs on it with its events."""
        after = 0
        while page := read_note_rows(self._connection, after, NOTE_ROWS):
            for row in page:
                self._note(row)
                after = row.seq
                self._notes += 1
        # They were numbered as they came.
        for place, in_order in zip(self._places, sorted(self._places), strict=True):
            if place != in_order:
                self._misplaced(*place)

    def notes_gone(self) -> None:
        """See that of every note that is not there an event says so."""
        after = 0
        while page := read_notes_gone(self._connection, after, EVENT_ROWS):
            for seq, note_id in page:
                if not self._was_erased(note_id):
                    self._flaw("notes", note_id, "is gone, and no event erased it")
                after = seq

    def tombstones(self) -> None:
        """Compare every rejection with the event that recorded it."""
        after, old = 0, 0
        while page := read_tombstones_after(self._connection, after, EVENT_ROWS):
            for number, scope, reason, actor, at_ms in page:
                after = number
                sealed = self._sealed.pop(number, None)
                if sealed is not None:
                    digest, seq = sealed
                    if self._chain.tombstone_digest(self._connection, number) != digest:
                        detail = f"of scope {scope} is not what event {seq} recorded"
                        self._flaw("tombstones", str(number), detail)
                elif (actor, reason, at_ms) in self._rejected_before:
                    old += 1
                else:
                    detail = f"of scope {scope} was recorded by no event"
                    self._flaw("tombstones", str(number), detail)
        for number, (_, seq) in self._sealed.items():
            self._flaw("tombstones", str(number), f"is gone, which event {seq} recorded")
        if old:
            self._uncovered.append(f"{old:,} rejections were made by an earlier version")

    def _flaw(self, table: str, row: str, detail: str) -> None:
        if len(self._flaws) < FLAWS_MAX:
            self._flaws.append(Flaw(table=table, row=row, detail=detail))
        else:
            self._more += 1

    def _end(self, head: Link) -> str:
        """Return which events a chain is missing that a head knows, or that it has another of."""
        count = read_last_seq(self._connection)
        return _span(count + 1, head.count) if count < head.count else str(head.count)

    def _place_of(self, event: Event) -> int:
        """Return where an event belongs that stands in another's place; 0: nowhere near."""
        first = max(event.seq - MOVED_MAX, 1)
        for seq in range(first, event.seq + MOVED_MAX + 1):
            if self._chain.seal(replace(event, seq=EventSeq(seq))) == event.hash:
                return seq
        return 0

    def _remember(self, event: Event) -> None:
        for number, digest in tombstones_in(event):
            self._sealed[number] = (digest, event.seq)
        if event.rows_digest is None and event.action == "reject":
            self._rejected_before.add((event.actor, event.reason, event.at_ms))
        if event.action in {ACTION_APPLY, ACTION_RESET}:
            self._gate = event

    def _note(self, row: NoteRow) -> None:
        events = read_events_of(self._connection, row.id)
        stored = next((event for event in events if event.action == ACTION_INSERT), None)
        if stored is None:
            self._flaw("notes", row.id, "was stored by no event")
            return
        whole = self._is_whole(row, stored)
        if not whole:
            detail = f"its title, body or kind is not what event {stored.seq} recorded"
            self._flaw("notes", row.id, detail)
        if row.indexed:
            self._places.append((stored.seq, row.id))
        else:
            # Its words stand in the index under the number that it had.
            self._misplaced(stored.seq, row.id)
        self._rows(row.id, [event for event in events if event.rows_digest], whole=whole)
        self._states(row.id, {event.seq: event for event in events if event.state_digest})

    def _is_whole(self, row: NoteRow, stored: Event) -> bool:
        note = row.note
        if note is None:
            return False
        text = content_hash(note.title, note.body, note.kind)
        return text == note.content_hash and self._chain.is_about(stored, text)

    def _misplaced(self, stored: EventSeq, note_id: NoteId) -> None:
        detail = f"its number is not the one under which event {stored} stored it"
        self._flaw("notes", note_id, detail)

    def _rows(self, note_id: NoteId, sealing: list[Event], *, whole: bool) -> None:
        """Compare what hangs on a note with what its events have sealed."""
        if not sealing:
            self._uncovered_notes += 1
            return
        last = sealing[-1]
        if _is_of_erased(last):
            self._flaw("notes", note_id, f"is there, though event {last.seq} erased it")
            return
        now = _sections(self._chain.rows_digest(self._connection, note_id))
        moves = (place for place, each in enumerate(sealing) if each.action == ACTION_MOVE)
        moved = max(moves, default=0)
        for table, digest in now.items():
            # What a note's own row says changes with its scope alone: it is what each of its
            # events has sealed since.
            by = sealing[moved:] if table == SEALED_TABLES[0] else [last]
            other = next((each for each in by if _sections_of(each)[table] != digest), None)
            if other is not None and (whole or table != SEALED_TABLES[0]):
                detail = f"{WHAT[table]} is not what event {other.seq} sealed"
                self._flaw(table, note_id, detail)

    def _states(self, note_id: NoteId, events: dict[EventSeq, Event]) -> None:
        """Compare a note's states, each with the event that made it, and with the next."""
        rows = read_states_of(self._connection, note_id)
        fits = True
        for row in rows:
            event = events.pop(row.event, None)
            if event is None:
                detail = f"of note {note_id} was recorded by no event"
            elif row.state is None or event.state_digest != self._chain.state_digest(
                note_id, row.state
            ):
                detail = f"of note {note_id} is not what event {event.seq} recorded"
            else:
                continue
            fits = False
            self._flaw("note_states", str(row.state_id), detail)
        for event in events.values():
            fits = False
            detail = f"the state that event {event.seq} recorded is gone"
            self._flaw("note_states", f"of note {note_id}", detail)
        if fits:
            self._ends(note_id, rows)

    def _ends(self, note_id: NoteId, rows: list[StateRow]) -> None:
        """See that each state of a note ends when the next begins, and the last one not at all."""
        begins = [row.state.known_from_ms for row in rows[1:] if row.state is not None]
        for row, end_ms in zip(rows, [*begins, None], strict=True):
            if row.known_to_ms != end_ms:
                detail = f"of note {note_id} does not end where the next one begins"
                self._flaw("note_states", str(row.state_id), detail)

    def _was_erased(self, note_id: NoteId) -> bool:
        events = read_events_of(self._connection, note_id)
        sealing = [event for event in events if event.rows_digest]
        if sealing:
            gone = self._chain.rows_digest(self._connection, note_id)
            return sealing[-1].rows_digest == gone
        return any(event.action == ACTION_DELETE for event in events)


def _is_of_erased(event: Event) -> bool:
    return len(event.rows_digest or b"") == SECTION_BYTES


def _sections_of(event: Event) -> Mapping[str, bytes]:
    return _sections(event.rows_digest or b"")


def _sections(digests: bytes) -> Mapping[str, bytes]:
    return dict(zip(SEALED_TABLES, _pieces(digests), strict=False))


def _pieces(digests: bytes) -> Iterator[bytes]:
    for start in range(0, len(digests), SECTION_BYTES):
        yield digests[start : start + SECTION_BYTES]


def _how_wrong(moved_from: int) -> str:
    if moved_from:
        return f"is event {moved_from}, in another place"
    return "was changed, or put in from outside"


def _span(first: int, last: int) -> str:
    return str(first) if first >= last else f"{first} to {last}"
