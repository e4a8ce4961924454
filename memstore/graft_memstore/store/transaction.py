"""One governed change: one time, one order, and its events, on the writer's connection."""

from dataclasses import dataclass

import apsw

from graft_memstore.clock import next_hlc, transaction_time
from graft_memstore.model import EventSeq
from graft_memstore.store import meta
from graft_memstore.store.chain import NO_LINK, AuditChain, EventDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """What every change of a profile needs besides the connection.

    Attributes:
        site: id of this copy of the profile, for sync.
    """

    chain: AuditChain
    site: str


class Transaction:
    """The change that runs now.

    Attributes:
        connection: the writer's, inside BEGIN IMMEDIATE.
        at_ms: time of everything in it, never before the last change's.
        site: id of this copy of the profile.
    """

    def __init__(self, connection: apsw.Connection, context: WriteContext, now_ms: int) -> None:
        clocks = meta.read_clocks(connection)
        self.connection = connection
        self.at_ms = transaction_time(now_ms, clocks.time_ms)
        self.site = context.site
        self._chain = context.chain
        self._hlc = clocks.hlc
        self._governed = False
        self._drafts: list[EventDraft] = []
        self._before = NO_LINK
        self._tombstones: list[int] = []

    def next_hlc(self) -> int:
        """Return the place of the next change in the order of all sites."""
        self._governed = True
        self._hlc = next_hlc(self.at_ms, self._hlc)
        return self._hlc

    def record(self, draft: EventDraft) -> EventSeq:
        """Have an event recorded when this change is done, and return the number that it gets.

        It seals what its note has by then, whatever the order of the steps.
        """
        if not self._drafts:
            self._governed = True
            # Rows may name an event that is written after them, at the end of this transaction.
            self.connection.execute("PRAGMA defer_foreign_keys = ON")
            self._before = self._chain.end(self.connection)
        self._drafts.append(draft)
        return EventSeq(self._before.count + len(self._drafts))

    def seal_tombstone(self, tombstone_id: int) -> None:
        """Have the last event of this change seal a rejection, as it is by then."""
        self._tombstones.append(tombstone_id)

    def finish(self) -> None:
        """Seal the events and keep the clocks, if there are any; called right before COMMIT."""
        if self._drafts:
            self._chain.append(self, self._before, self._drafts, self._tombstones)
        assert self._drafts or not self._tombstones, "a rejection is recorded by an event"
        if self._governed:
            clocks = meta.Clocks(time_ms=self.at_ms, hlc=self._hlc)
            meta.write_clocks(self.connection, clocks)
