"""Puts a memstore's inside together for tests: real files and threads, a fake embedder."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw
from tests.unit.memstore.fake_embedder import FakeEmbedder

from graft.wire.errors import StoppingError
from graft_memstore.deadline import Deadline
from graft_memstore.ids import IdMaker
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Caller, NewNote, Note, NoteId
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.review.reviewer import Reviewer, ReviewerParts
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.filesystem import read_mounts
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.pending import count_pending
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles, StoreOptions
from graft_memstore.store.reviewer_file import ReviewerFiles
from graft_memstore.store.token_file import TokenFile
from graft_memstore.tokens import TokenParts, Tokens
from graft_memstore.upkeep.trail_report import TrailReport
from graft_memstore.upkeep.upkeep import Upkeep
from graft_memstore.upkeep.verify_trail import verify_trail
from graft_memstore.write.change import Changed, ChangeOrder, change_note
from graft_memstore.write.delete import DeleteOrder, DeleteReply, take_away
from graft_memstore.write.insert import Inserter, InsertOrder
from graft_memstore.write.insert_reply import InsertedNote, InsertReply
from graft_memstore.write.receipts import RequestKey
from graft_memstore.write.state_change import Saying

START_MS = 1_700_000_000_000
WAIT_SECONDS = 20.0
PERSON = Caller(session="s-1", door="cli")
AGENT = Caller(session="s-1", door="mcp")


class FixedClock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.ms = START_MS

    def __call__(self) -> int:
        return self.ms


class Room:
    """A home with one profile open.

    Args:
        root: folder of the home.
        watched: let the background threads run.
        mounts: tells what is mounted where.
        keep_misses: keep the questions that nothing answered.

    Attributes:
        on_open: called with each profile that has been opened, on the thread that opened it.
        on_close: called with each that is to be closed while others stay open.
        tampered: the test changes the files itself, so that they need not agree with their trail.
    """

    def __init__(
        self,
        root: Path,
        *,
        watched: bool = True,
        mounts: Callable[[], str] = read_mounts,
        keep_misses: bool = True,
        sweep: bool = True,
    ) -> None:
        self.root = root
        self.tampered = False
        self.clock = FixedClock()
        self.embedder = FakeEmbedder()
        self.upkeep = Upkeep(self.embedder, keep_misses=keep_misses, sweep=sweep)
        self.profiles: Profiles[VectorIndex] = Profiles(
            StoreOptions(
                profiles=root / "profiles",
                audit=root / "audit",
                make_index=VectorIndex,
                now_ms=self.clock,
                random=os.urandom,
                opened=self._opened,
                closing=self._closing,
                mounts=mounts,
            ),
            seconds=lambda: self.clock.ms / 1_000,
        )
        self.on_open: Callable[[Profile[VectorIndex]], None] = (
            self.upkeep.watch if watched else lambda _: None
        )
        self.on_close: Callable[[Profile[VectorIndex]], None] = self.upkeep.forget
        self.reviewer = Reviewer(
            ReviewerParts(
                files=ReviewerFiles(root / "audit"),
                open=self.profiles.open,
                now_ms=self.clock,
                seconds=lambda: self.clock.ms / 1_000,
                random=os.urandom,
            )
        )
        self.tokens = Tokens(
            TokenParts(
                file=TokenFile(root / "tokens.json"),
                open=self.profiles.open,
                now_ms=self.clock,
                random=os.urandom,
                has_reviewer=self.reviewer.exists,
            )
        )
        self.inserter = Inserter(self.embedder, SimilarNotes(self.clock), IdMaker(os.urandom))

    @property
    def profile(self) -> Profile[VectorIndex]:
        return self.profiles.open("")

    def key(self, method: str = "InsertNote", payload: bytes = b"") -> RequestKey:
        """Return the key of a new request."""
        request_id = str(UUID(bytes=os.urandom(16)))
        return RequestKey(request_id=request_id, method=method, payload_hash=payload)

    def insert(
        self,
        title: str = "a title",
        body: str = "",
        *,
        note: NewNote | None = None,
        key: RequestKey | None = None,
        wait: bool = False,
    ) -> InsertedNote:
        """Store one note and return what became of it."""
        return self.insert_all(
            [note or NewNote(title=title, body=body)], key=key, single=True, wait=wait
        ).notes[0]

    def insert_all(
        self,
        notes: list[NewNote],
        *,
        caller: Caller = AGENT,
        key: RequestKey | None = None,
        single: bool = False,
        wait: bool = False,
        seconds: float = WAIT_SECONDS,
    ) -> InsertReply:
        """Store notes together and return what became of them."""
        order = InsertOrder(
            notes=notes,
            key=key or self.key(),
            caller=caller,
            single=single,
            wait_for_passages=wait,
        )
        return self.inserter.insert(self.profile, order, Deadline(seconds))

    def delete(
        self,
        piece: str,
        *,
        caller: Caller = PERSON,
        key: RequestKey | None = None,
        reason: str = "no longer true",
    ) -> DeleteReply:
        """Take a note away."""
        order = DeleteOrder(
            piece=piece, reason=reason, key=key or self.key("DeleteNote"), caller=caller
        )
        return take_away(self.profile, order)

    def change(
        self,
        verb: Verb,
        piece: str = "",
        *,
        caller: Caller = AGENT,
        key: RequestKey | None = None,
        reason: str = "because",
        **what: Any,
    ) -> Changed:
        """Change what a note is worth; *what* is more of the `ChangeOrder`."""
        order = ChangeOrder(
            verb=verb,
            piece=piece,
            key=key or self.key(verb),
            saying=Saying(caller=caller, reason=reason),
            **what,
        )
        return change_note(self.profile, order)

    def note(self, note_id: str) -> Note:
        """Return a stored note."""
        with self.profile.snapshot() as connection:
            return read_full_notes(connection, [NoteId(note_id)])[0]

    def count(self, statement: str) -> int:
        """Return the single number that *statement* gives."""
        with self.profile.snapshot() as connection:
            ((number,),) = connection.execute(statement).fetchall()
        assert isinstance(number, int)
        return number

    def verify(self) -> TrailReport:
        """Compare the profile with its trail."""
        return verify_trail(self.profile)

    def wait_until_embedded(self) -> None:
        """Wait until nothing waits for a vector."""
        self._wait_until_none(count_pending, "texts still wait for their vectors")

    def wait_until_joined(self) -> None:
        """Wait until nothing waits for a vector or for edges."""
        self.wait_until_embedded()
        self._wait_until_none(count_asked, "notes still wait for their edges")

    def _wait_until_none(self, count: Callable[[Connection], int], problem: str) -> None:
        deadline = Deadline(WAIT_SECONDS)
        while True:
            seen = self.profile.changes.count
            with self.profile.snapshot() as connection:
                if not count(connection):
                    return
            assert deadline.left() > 0, problem
            self.profile.changes.wait(seen, deadline.left())

    def _opened(self, profile: Profile[VectorIndex]) -> None:
        self.on_open(profile)

    def _closing(self, profile: Profile[VectorIndex]) -> None:
        self.on_close(profile)

    def check_trails(self) -> None:
        """See that every open profile agrees with its audit trail, whatever was done in it."""
        for profile in () if self.tampered else self.profiles.opened():
            with suppress(StoppingError):  # the test has closed it
                report = verify_trail(profile)
                assert report.ok, report.summary

    def close(self) -> None:
        """End the threads and close the files."""
        self.upkeep.stop()
        self.profiles.close()


@contextmanager
def open_room(
    root: Path,
    *,
    watched: bool = True,
    mounts: Callable[[], str] = read_mounts,
    keep_misses: bool = True,
    sweep: bool = True,
) -> Iterator[Room]:
    """Open a room for the length of a test."""
    room = Room(root, watched=watched, mounts=mounts, keep_misses=keep_misses, sweep=sweep)
    try:
        yield room
        room.check_trails()
    finally:
        room.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's write lock as another program would, after whoever writes now."""
    with closing(apsw.Connection(str(path))) as other:
        other.set_busy_timeout(int(WAIT_SECONDS * 1_000))
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
