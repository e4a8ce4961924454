"""Records what has expired and purges what a reviewer put aside long ago, a little at a time."""

import logging
from collections.abc import Callable
from functools import partial

from graft.wire.events import event
from graft_memstore.lifecycle import REVIEWER, SYSTEM, Verb
from graft_memstore.model import Caller, Lifecycle, ScopeFilter
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.states import read_last_states
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.upkeep_reads import RetiredNote, read_expired, read_retired
from graft_memstore.upkeep.apply_safe import record_expiry
from graft_memstore.upkeep.scan import DAY_MS, RETENTION_DAYS
from graft_memstore.visibility import View
from graft_memstore.write.delete import erase
from graft_memstore.write.state_change import read_present

SWEEP_SECONDS = 3_600.0
"""Between two passes that leave nothing over."""
SWEPT_MAX = 200
"""Notes that one pass records or purges at most."""
ACTION_PURGE = "purge"
SYSTEM_CALLER = Caller(actor=SYSTEM, door="upkeep")

log = logging.getLogger(__name__)


class Sweeper:
    """Sweeps one profile whenever it is time.

    Args:
        profile: the profile.
        monotonic: seconds that never go back.
    """

    def __init__(self, profile: Profile[Index], monotonic: Callable[[], float]) -> None:
        self._profile = profile
        self._monotonic = monotonic
        self._next = 0.0
        self._since_ms = 0

    def sweep(self) -> None:
        """Do one pass, if it is time for one.

        Raises:
            ServiceError: see `Profile.write`.
        """
        if self._monotonic() < self._next:
            return
        full = self._record_expired()
        full = self._purge() or full
        # What is left over is done at the next change, and at the latest with the next pass.
        self._next = self._monotonic() + (0.0 if full else SWEEP_SECONDS)

    def _record_expired(self) -> bool:
        """Record what has expired; tell whether there may be more."""
        with self._profile.snapshot() as connection:
            view = View(scope=ScopeFilter(all=True), now_ms=self._profile.now_ms(connection))
            page = read_expired(connection, view, count_max=SWEPT_MAX, since_ms=self._since_ms)
        fresh = [each for each in page if not each.recorded]
        if fresh:
            self._profile.write(
                lambda transaction: [
                    record_expiry(transaction, each, SYSTEM_CALLER) for each in fresh
                ]
            )
        full = len(page) == SWEPT_MAX
        # From the last one on next time, so that those on record are not read again and again;
        # from the beginning when all have been seen: a time in the past may have been set since.
        last_ms = page[-1].expires_at_ms if page else 0
        self._since_ms = last_ms + (last_ms == self._since_ms) if full else 0
        return full

    def _purge(self) -> bool:
        """Erase what a reviewer retired long enough ago; tell whether there may be more.

        By the clock on the wall as well as by the store's own time: a clock that ran ahead for a
        while, and went back, leaves the store's time ahead, and nothing is due by that alone.
        """
        before_ms = self._profile.wall_ms() - RETENTION_DAYS * DAY_MS
        with self._profile.snapshot() as connection:
            view = View(scope=ScopeFilter(all=True), now_ms=self._profile.now_ms(connection))
            due = [
                each
                for each in read_retired(
                    connection, view, before_ms=before_ms, count_max=10 * SWEPT_MAX
                )
                if each.actor == REVIEWER and each.action == Verb.RETIRE
            ]
        for each in due[:SWEPT_MAX]:
            if self._profile.write(partial(_purge, retired=each)):
                log.info(event("purged", profile=self._profile.name, note=each.id))
        return len(due) > SWEPT_MAX


def _purge(transaction: Transaction, retired: RetiredNote) -> bool:
    """Erase a note if it still is what it was when it was found."""
    states = read_last_states(transaction.connection, retired.id)
    if not states:
        return False
    state = states[0].state
    if state.lifecycle is not Lifecycle.RETIRED or state.known_from_ms != retired.retired_at_ms:
        return False
    stored = read_present(transaction.connection, retired.id).stored
    reason = f"retired by a reviewer {RETENTION_DAYS} days ago"
    erase(transaction, stored, SYSTEM_CALLER, reason, ACTION_PURGE)
    return True
