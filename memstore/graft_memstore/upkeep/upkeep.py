"""Everything that goes on behind the calls, for every open profile."""

import logging
import threading

from graft.wire.events import event
from graft_memstore.embedding import Embedder
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Index, Profile
from graft_memstore.upkeep.housekeeper import Housekeeper
from graft_memstore.upkeep.scribe import Scribe
from graft_memstore.upkeep.vector_worker import VectorWorker

log = logging.getLogger(__name__)


class Upkeep:
    """Starts the threads of each profile and ends them together.

    Args:
        embedder: makes the vectors.
        keep_misses: keep the questions that nothing answered.
        sweep: record what has expired and purge what a reviewer retired long ago.

    Attributes:
        sweeps: whether it does.
    """

    def __init__(self, embedder: Embedder, *, keep_misses: bool, sweep: bool) -> None:
        self.sweeps = sweep
        self._embedder = embedder
        self._keep_misses = keep_misses
        self._lock = threading.Lock()
        self._workers: dict[str, VectorWorker] = {}
        self._housekeepers: dict[str, Housekeeper] = {}
        self._scribes: dict[str, Scribe] = {}
        self._stopped = False

    def watch(self, profile: Profile[VectorIndex]) -> None:
        """Look after *profile* from now on."""
        with self._lock:
            if self._stopped:
                return
            self._workers[profile.name] = VectorWorker(profile, self._embedder)
            self._housekeepers[profile.name] = Housekeeper(profile, sweep=self.sweeps)
            self._scribes[profile.name] = Scribe(profile, keep_misses=self._keep_misses)

    def forget(self, profile: Profile[Index]) -> None:
        """Look after *profile* no more, which is to be closed."""
        log.info(event("closing", profile=profile.name))
        with self._lock:
            threads: list[VectorWorker | Housekeeper | Scribe | None] = [
                self._workers.pop(profile.name, None),
                self._housekeepers.pop(profile.name, None),
                self._scribes.pop(profile.name, None),
            ]
        for thread in threads:
            if thread is not None:
                thread.stop()

    def worker(self, profile_name: str) -> VectorWorker | None:
        """Return the thread that makes a profile's vectors, None for one that is not open."""
        with self._lock:
            return self._workers.get(profile_name)

    def scribe(self, profile_name: str) -> Scribe | None:
        """Return the thread that writes a profile's answers down, None for one that is not open."""
        with self._lock:
            return self._scribes.get(profile_name)

    def busy(self) -> bool:
        """Tell whether there is work that can be done now."""
        with self._lock:
            threads = self._threads()
        return any(thread.busy for thread in threads)

    def stop(self) -> None:
        """End all threads; what is left is done after the next start."""
        with self._lock:
            self._stopped = True
            threads = self._threads()
            self._workers.clear()
            self._housekeepers.clear()
            self._scribes.clear()
        for thread in threads:
            thread.stop()

    def _threads(self) -> list[VectorWorker | Housekeeper | Scribe]:
        return [*self._workers.values(), *self._housekeepers.values(), *self._scribes.values()]
