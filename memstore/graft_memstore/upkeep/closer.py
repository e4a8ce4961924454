"""The thread that closes profiles which nobody uses, so that many do not cost what few do."""

import logging
import threading
from typing import Generic, TypeVar

from graft.wire.errors import ServiceError
from graft.wire.events import event
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.resume import work_waits

UNUSED_SECONDS = 600.0
"""A profile that nobody used for so long is closed until its next use; three threads, its
connections and its index in memory go with it."""

LOOK_SECONDS = 60.0
STOP_SECONDS = 10.0

log = logging.getLogger(__name__)

IndexT = TypeVar("IndexT", bound=Index)


class Closer(Generic[IndexT]):
    """Looks every now and then which profiles are used.

    Args:
        profiles: the open ones.
        unused_seconds: how long nobody has worked with one that is closed.
        look_seconds: how often it looks.
    """

    def __init__(
        self,
        profiles: Profiles[IndexT],
        *,
        unused_seconds: float = UNUSED_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._profiles = profiles
        self._unused_seconds = unused_seconds
        self._look_seconds = look_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="closer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)

    def look(self) -> None:
        """Close what is unused now, unless something waits to be done in it."""
        self._profiles.close_unused(self._unused_seconds, spare=_must_stay)

    def _work(self) -> None:
        while not self._stopping.wait(self._look_seconds):
            try:
                self.look()
            except Exception:
                # The thread's root: what could not be closed now is looked at again.
                log.exception(event("bug while closing profiles"))


def _must_stay(profile: Profile[Index]) -> bool:
    """Tell whether something waits to be done in *profile*, or that cannot be told now."""
    try:
        with profile.snapshot() as connection:
            return work_waits(connection)
    except ServiceError:
        return True
