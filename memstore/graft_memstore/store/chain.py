"""Seals the audit trail: a keyed hash chain, and its head kept outside the database file."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import apsw
from blake3 import blake3

from graft_memstore.canonical import encode_fields
from graft_memstore.model import Caller, EventSeq, NoteId, NoteState
from graft_memstore.store.events import (
    Event,
    Link,
    insert_event,
    read_hash,
    read_last_link,
)
from graft_memstore.store.sealed_rows import read_sealed_rows
from graft_memstore.store.states import encode_state, last_named
from graft_memstore.store.tombstones import encode_tombstone

KEY_BYTES = 32
FIRST_HASH = bytes(32)
NO_LINK = Link(count=0, hash=FIRST_HASH)
KEY_FILE = "key"
KEY_SUFFIX = ".key"
"""Of a profile that came from another home, after its name: it goes on with the key of there."""

SECTION_BYTES = 16
"""Of each of a note's `SEALED_TABLES` in an event; nobody can aim at a keyed digest."""
NUMBER_BYTES = 8
TOMBSTONE_BYTES = NUMBER_BYTES + SECTION_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event before it has a place in the chain.

    Attributes:
        note_id: None where it is about no single note; it makes no state row then.
        content_hash: of the note, or of whatever else it is about.
        state: the state row that it makes, None when it makes none.
        count: how often it happened.
        refused: nothing was done, so that it seals nothing of the note.
    """

    caller: Caller
    action: str
    note_id: NoteId | None
    content_hash: bytes
    reason: str = ""
    state: NoteState | None = None
    count: int = 1
    refused: bool = False


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


class Change(Protocol):
    """The writer's transaction that events are appended in."""

    connection: apsw.Connection
    at_ms: int


class AuditChain:
    """Appends to one profile's chain, anchors it, and tells what fits to it."""

    def __init__(self, key: bytes, head: ChainHead) -> None:
        self._key = key
        self._head = head
        self._last: Link | None = None
        self._anchored: Link | None = None
        self._problem = ""

    @property
    def key(self) -> bytes:
        """What it seals with; whoever has it can make events that fit."""
        return self._key

    @property
    def problem(self) -> str:
        """Why the chain and its head do not agree; empty while they do."""
        return self._problem

    def read_head(self) -> Link | None:
        """Return where the chain ended when that was last kept outside; see `ChainHead.read`."""
        return self._head.read()

    def end(self, connection: apsw.Connection) -> Link:
        """Return what the next event follows; its number is one more than the count."""
        last = read_last_link(connection) or NO_LINK
        if self._last is not None and last != self._last and not self._problem:
            # Nobody else writes while this process holds the home.
            self._problem = _other_end(self._last, last)
        if not self._problem:
            return last
        # Events that were cut off leave states behind that name them, whose numbers stay theirs.
        return Link(count=max(last.count, last_named(connection)), hash=last.hash)

    def append(
        self,
        change: Change,
        last: Link,
        drafts: Sequence[EventDraft],
        tombstone_ids: Sequence[int],
    ) -> None:
        """Seal *drafts* and append them after *last* at the end of a change.

        The last one of a note seals what the note has now, the last one of all the rejections.
        """
        connection = change.connection
        sealing = {
            draft.note_id: number for number, draft in enumerate(drafts) if not draft.refused
        }
        for number, draft in enumerate(drafts):
            seals = draft.note_id is not None and sealing.get(draft.note_id) == number
            event = self._event(draft, last, change.at_ms)
            event = replace(
                event,
                rows_digest=self.rows_digest(connection, draft.note_id)
                if seals and draft.note_id is not None
                else b"",
                tombstones=self._tombstones(connection, tombstone_ids)
                if number == len(drafts) - 1
                else b"",
            )
            sealed = replace(event, hash=self.seal(event))
            insert_event(connection, sealed)
            last = Link(count=sealed.seq, hash=sealed.hash)

    def anchor(self, connection: apsw.Connection) -> None:
        """Move the head to the end of the committed chain.

        While they do not agree the head stays where it is: it is the evidence.

        Raises:
            OSError: the head cannot be written; the chain is then ahead of it, which the next
                call or the next start mends.
        """
        if self._problem:
            return
        # Known from now on, also where the head cannot be written.
        self._last = read_last_link(connection)
        if self._last is not None and self._last != self._anchored:
            self._head.write(self._last)
            self._anchored = self._last

    def compare_with_head(self, connection: apsw.Connection) -> None:
        """See on opening whether the chain still holds what the head remembers."""
        try:
            head = self._head.read()
        except (OSError, ValueError) as error:
            self._problem = f"the head of the audit chain cannot be read: {error}"
            return
        self._problem = "" if head is None else self.disagreement(connection, head)

    def disagreement(self, connection: apsw.Connection, head: Link) -> str:
        """Return why a chain does not hold what a head remembers, empty where it does.

        The head must have been read before the connection's snapshot began.
        """
        if self.holds(connection, head):
            return ""
        last = read_last_link(connection) or NO_LINK
        return f"{_other_end(head, last)}. Where you did so, remove its head too: {self._head.path}"

    def holds(self, connection: apsw.Connection, link: Link) -> bool:
        """Tell whether a chain holds the event that *link* ends with."""
        return read_hash(connection, link.count) == link.hash

    def seal(self, event: Event) -> bytes:
        """Return the hash that an event must have."""
        return self.digest("event", event.sealed_bytes())

    def digest(self, purpose: str, raw: bytes) -> bytes:
        """Return a digest that only who has the key can make; one of two purposes never fits."""
        return blake3(encode_fields(purpose, raw), key=self._key).digest()

    def is_about(self, event: Event, content: bytes) -> bool:
        """Tell whether *content* is what an event was recorded of."""
        return event.digest == self.digest("content", content)

    def state_digest(self, note_id: NoteId, state: NoteState) -> bytes:
        """Return what stands in the event that made a state of a note."""
        return self.digest("state", encode_state(note_id, state))

    def rows_digest(self, connection: apsw.Connection, note_id: NoteId) -> bytes:
        """Return what an event seals of a note that has what it has now.

        That is a digest for each of `SEALED_TABLES`, or a single one where the note is gone.
        """
        rows = read_sealed_rows(connection, note_id)
        if rows is None:
            return self.digest("gone", note_id.encode())[:SECTION_BYTES]
        return b"".join(self.digest("rows", each)[:SECTION_BYTES] for each in rows)

    def tombstone_digest(self, connection: apsw.Connection, tombstone_id: int) -> bytes:
        """Return what an event seals of a rejection."""
        encoded = encode_tombstone(connection, tombstone_id)
        return self.digest("tombstone", encoded)[:SECTION_BYTES]

    def _event(self, draft: EventDraft, last: Link, at_ms: int) -> Event:
        state_digest = b""
        if draft.state is not None:
            assert draft.note_id is not None, "a state is some note's"
            state_digest = self.state_digest(draft.note_id, draft.state)
        return Event(
            seq=EventSeq(last.count + 1),
            at_ms=at_ms,
            actor=draft.caller.actor,
            channel=draft.caller.session,
            door=draft.caller.door,
            action=draft.action,
            note_id=draft.note_id,
            digest=self.digest("content", draft.content_hash),
            state_digest=state_digest,
            reason=draft.reason,
            prev_hash=last.hash,
            count=draft.count,
        )

    def _tombstones(self, connection: apsw.Connection, tombstone_ids: Sequence[int]) -> bytes:
        return b"".join(
            each.to_bytes(NUMBER_BYTES) + self.tombstone_digest(connection, each)
            for each in tombstone_ids
        )


def tombstones_in(event: Event) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of the rejections that an event seals, with their digests."""
    for start in range(0, len(event.tombstones), TOMBSTONE_BYTES):
        entry = event.tombstones[start : start + TOMBSTONE_BYTES]
        yield int.from_bytes(entry[:NUMBER_BYTES]), entry[NUMBER_BYTES:]


def _other_end(known: Link, last: Link) -> str:
    """Say how a chain that ends with *last* is not the one that was known to hold *known*."""
    if last.count < known.count:
        gone = _events(last.count + 1, known.count)
        return f"{gone} gone: cut off, or the file was replaced by an older copy"
    return (
        f"event {known.count} is not the one that was last known: the file was replaced by another "
        "copy, or changed from outside"
    )


def _events(first: int, last: int) -> str:
    return f"event {first} is" if first == last else f"events {first} to {last} are"


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
    return _read_key(path)


def profile_key(folder: Path, name: str, random: Callable[[int], bytes]) -> bytes:
    """Return the key of a profile: its own where it came from another home, else the home's.

    Raises:
        OSError, ValueError: see `audit_key`.
    """
    own = folder / f"{name}{KEY_SUFFIX}"
    return _read_key(own) if own.exists() else audit_key(folder, random)


def _read_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} is not an audit key of {KEY_BYTES} bytes; restore it")
    return key
