"""The thread that keeps a profile's index fresh, its deleted words gone, its old notes read."""

import logging
import threading
import time

from graft.wire.errors import ServiceError
from graft.wire.events import event
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.integrity import foreign_key_problems, integrity_problems
from graft_memstore.store.migration_copies import copies_of, remove_copies
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.requests import prune
from graft_memstore.store.transaction import Transaction
from graft_memstore.upkeep.back_off import BackOff
from graft_memstore.upkeep.read_errors import read_some
from graft_memstore.upkeep.sweeper import Sweeper

ERASE_RETRY_SECONDS = 2.0
PRUNE_SECONDS = 3600.0
PRUNE_ROWS_MAX = 10_000
STOP_SECONDS = 10.0

log = logging.getLogger(__name__)


class Housekeeper:
    """Looks after a profile whenever something is committed, and now and then."""

    def __init__(self, profile: Profile[Index], *, sweep: bool) -> None:
        self._profile = profile
        self._sweeper = Sweeper(profile, time.monotonic) if sweep else None
        self._stopping = threading.Event()
        self._loaded: Index | None = None
        self._next_prune = 0.0
        self._erasing = False
        self._reading = True
        self._copies_seen = False
        self._back_off = BackOff(time.monotonic)
        self._thread = threading.Thread(
            target=self._work, name=f"housekeeper-{profile.name}", daemon=True
        )
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether the file is still to be cleaned of deleted notes, or old ones to be read."""
        return self._erasing or (self._reading and not self._back_off.problem)

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._profile.changes.notify()
        self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        while not self._stopping.is_set():
            count = self._profile.changes.count
            try:
                self._keep_index()
                self._clean()
                self._forget_copies()
                self._prune()
                self._sweep()
                self._read_errors()
                self._back_off.succeeded()
            except ServiceError as error:
                self._back_off.failed(error.message)
                if not self._stopping.is_set():
                    log.info(
                        event(
                            "housekeeping waits", profile=self._profile.name, because=error.message
                        ),
                    )
            except Exception:
                # The thread's root: a bug must not end what every later note relies on.
                self._back_off.failed("internal error; see the log")
                log.exception(event("bug in housekeeping", profile=self._profile.name))
            self._profile.changes.wait(count, self._pause_seconds())

    def _pause_seconds(self) -> float:
        if self._back_off.problem:
            return self._back_off.left()
        return ERASE_RETRY_SECONDS if self._erasing else PRUNE_SECONDS

    def _keep_index(self) -> None:
        index = self._profile.index
        if index is None:
            return
        with self._profile.snapshot() as connection:
            if index is self._loaded:
                index.refresh(connection)
            else:
                index.load(connection)
                self._loaded = index

    def _clean(self) -> None:
        with self._profile.snapshot() as connection:
            waits = self._erasing = count_erasures(connection) > 0
        # The snapshot above is closed: a reader would hold up the checkpoint.
        if waits and self._profile.clean():
            self._erasing = False

    def _forget_copies(self) -> None:
        """Remove copies made before a migration once the profile was found whole after a start."""
        if self._copies_seen:
            return
        self._copies_seen = True
        profile = self._profile
        if profile.was_migrated or not copies_of(profile.path):
            return
        with profile.snapshot() as connection:
            problems = [*integrity_problems(connection), *foreign_key_problems(connection)]
        problems += [profile.chain.problem] if profile.chain.problem else []
        if problems:
            log.warning(event("keeping copies", profile=profile.name, because=problems[0]))
        else:
            remove_copies(profile.path)

    def _read_errors(self) -> None:
        # What it keeps is a commit, which wakes this thread for the next step.
        self._reading = self._reading and read_some(self._profile)

    def _sweep(self) -> None:
        if self._sweeper is not None:
            self._sweeper.sweep()

    def _prune(self) -> None:
        now = time.monotonic()
        if now < self._next_prune:
            return

        def forget(transaction: Transaction) -> int:
            return prune(transaction.connection, transaction.at_ms, PRUNE_ROWS_MAX)

        if self._profile.write(forget) < PRUNE_ROWS_MAX:
            self._next_prune = now + PRUNE_SECONDS
