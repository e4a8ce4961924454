"""Seals the audit trail: a keyed hash chain, and its head kept outside the database file."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import apsw
from blake3 import blake3

from graft_memstore.canonical import encode_fields
from graft_memstore.model import Caller, EventSeq, NoteId, NoteState
from graft_memstore.store.events import (
    Event,
    Link,
    insert_event,
    read_events_after,
    read_hash,
    read_last_link,
)
from graft_memstore.store.states import encode_state, read_states_after

KEY_BYTES = 32
FIRST_HASH = bytes(32)
PAGE_ROWS = 1000
KEY_FILE = "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event before it has a place in the chain.

    Attributes:
        note_id: None where it is about no single note; it makes no state row then.
        content_hash: of the note, or of whatever else it is about.
        state: the state row that it makes, None when it makes none.
    """

    caller: Caller
    action: str
    note_id: NoteId | None
    content_hash: bytes
    reason: str = ""
    state: NoteState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What a look at the chain found.

    Attributes:
        ok: False when something was changed behind the store's back.
        count: events in the file.
        detail: what was seen, in words.
    """

    ok: bool
    count: int
    detail: str


class ChainHead:
    """The file that remembers where a profile's chain ended when it was last written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._path

    def read(self) -> Link | None:
        """Return what it remembers, None when it was never written.

        Raises:
            ValueError: the file holds something else.
        """
        try:
            content = json.loads(self._path.read_text("utf-8"))
            return Link(count=int(content["count"]), hash=bytes.fromhex(content["hash"]))
        except FileNotFoundError:
            return None
        except (KeyError, TypeError) as error:
            raise ValueError(f"{self._path} is not the head of a chain") from error

    def write(self, link: Link) -> None:
        """Remember *link*: the file is whole, old or new, whenever the power fails."""
        content = json.dumps({"count": link.count, "hash": link.hash.hex()})
        fresh = self._path.with_suffix(".fresh")
        with os.fdopen(
            os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w"
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


class AuditChain:
    """Appends to one profile's chain, anchors it, and checks it."""

    def __init__(self, key: bytes, head: ChainHead) -> None:
        self._key = key
        self._head = head
        self._anchored = 0
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why the chain and its head do not agree; empty while they do."""
        return self._problem

    def append(self, connection: apsw.Connection, draft: EventDraft, at_ms: int) -> EventSeq:
        """Seal *draft* and append it inside the writer's transaction."""
        last = read_last_link(connection) or Link(count=0, hash=FIRST_HASH)
        event = Event(
            seq=EventSeq(last.count + 1),
            at_ms=at_ms,
            actor=draft.caller.actor,
            channel=draft.caller.session,
            door=draft.caller.door,
            action=draft.action,
            note_id=draft.note_id,
            digest=self._digest("content", draft.content_hash),
            state_digest=self._state_digest(draft),
            reason=draft.reason,
            prev_hash=last.hash,
        )
        insert_event(connection, replace(event, hash=self._seal(event)))
        return event.seq

    def is_about(self, event: Event, content: bytes) -> bool:
        """Tell whether *content* is what an event was recorded of."""
        return event.digest == self._digest("content", content)

    def anchor(self, connection: apsw.Connection) -> None:
        """Move the head to the end of the committed chain.

        While they do not agree the head stays where it is: it is the evidence.

        Raises:
            OSError: the head cannot be written; the chain is then ahead of it, which the next
                call or the next start mends.
        """
        if self._problem:
            return
        last = read_last_link(connection)
        if last is not None and last.count != self._anchored:
            self._head.write(last)
            self._anchored = last.count

    def compare_with_head(self, connection: apsw.Connection) -> None:
        """See on opening whether the chain still holds what the head remembers."""
        self._problem = self._disagreement(connection)

    def verify(self, connection: apsw.Connection) -> ChainReport:
        """Recompute every hash of the chain and of the states that its events made."""
        after, previous = 0, FIRST_HASH
        while page := read_events_after(connection, after, PAGE_ROWS):
            for event in page:
                wrong = self._wrong_with(event, after, previous)
                if wrong:
                    return ChainReport(ok=False, count=after, detail=wrong)
                after, previous = event.seq, event.hash
        problem = self._problem or self._disagreement(connection) or self._wrong_state(connection)
        return ChainReport(ok=not problem, count=after, detail=problem or f"{after} events agree")

    def _wrong_with(self, event: Event, after: int, previous: bytes) -> str:
        if event.seq != after + 1:
            return f"events {after + 1} to {event.seq - 1} are missing"
        if event.prev_hash != previous:
            return f"event {event.seq} does not follow event {after}"
        if event.hash != self._seal(event):
            return f"event {event.seq} was changed, or the audit key was"
        return ""

    def _wrong_state(self, connection: apsw.Connection) -> str:
        after = 0
        while page := read_states_after(connection, after, PAGE_ROWS):
            for state_id, note_id, digest, state in page:
                if digest != self._digest("state", encode_state(note_id, state)):
                    return f"the state of note {note_id} is not the one that its event recorded"
                after = state_id
        return ""

    def _disagreement(self, connection: apsw.Connection) -> str:
        try:
            head = self._head.read()
        except (OSError, ValueError) as error:
            return f"the head of the audit chain cannot be read: {error}"
        if head is None:
            return ""
        if read_hash(connection, head.count) != head.hash:
            last = read_last_link(connection)
            return (
                f"the chain does not hold event {head.count}, its last known one "
                f"(it has {last.count if last else 0}): the file was replaced by an older copy, "
                "or changed from outside. Where you removed it yourself, remove its head too: "
                f"{self._head.path}"
            )
        return ""

    def _seal(self, event: Event) -> bytes:
        return self._digest("event", event.sealed_bytes())

    def _state_digest(self, draft: EventDraft) -> bytes:
        if draft.state is None:
            return b""
        assert draft.note_id is not None, "a state is some note's"
        return self._digest("state", encode_state(draft.note_id, draft.state))

    def _digest(self, purpose: str, raw: bytes) -> bytes:
        return blake3(encode_fields(purpose, raw), key=self._key).digest()


def audit_key(folder: Path, random: Callable[[int], bytes]) -> bytes:
    """Return the home's audit key; the first call makes it, and it is never made again.

    Raises:
        OSError: it can be neither read nor made.
        ValueError: the file holds something else than a key.
    """
    path = folder / KEY_FILE
    if not path.exists():
        fresh = folder / f"{KEY_FILE}.{random(8).hex()}"
        with os.fdopen(
            os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb"
        ) as file:
            file.write(random(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link fails where the name is taken: of two that start at once one wins.
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} is not an audit key of {KEY_BYTES} bytes; restore it")
    return key
