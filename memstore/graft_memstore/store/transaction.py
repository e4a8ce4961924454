"""One governed change: one time, one order, and its events, on the writer's connection."""

from dataclasses import dataclass

import apsw

from graft_memstore.clock import next_hlc, transaction_time
from graft_memstore.model import EventSeq
from graft_memstore.store import meta
from graft_memstore.store.chain import AuditChain, EventDraft


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

    def next_hlc(self) -> int:
        """Return the place of the next change in the order of all sites."""
        self._governed = True
        self._hlc = next_hlc(self.at_ms, self._hlc)
        return self._hlc

    def record(self, draft: EventDraft) -> EventSeq:
        """Append an event and return its number."""
        self._governed = True
        return self._chain.append(self.connection, draft, self.at_ms)

    def finish(self) -> None:
        """Keep the clocks, if this change has an event; called right before COMMIT."""
        if self._governed:
            clocks = meta.Clocks(time_ms=self.at_ms, hlc=self._hlc)
            meta.write_clocks(self.connection, clocks)
