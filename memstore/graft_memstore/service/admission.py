"""How many calls of one costly kind may run at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graft.wire.errors import BusyError
from graft_memstore.deadline import Deadline

MARGIN_SECONDS = 1.0
RETRY_AFTER_MS = 500


class Admission:
    """Lets so many calls in, and the others wait until shortly before their deadline.

    Who waits holds one of the server's threads; `graft.wire.server.CALLS_MAX` bounds all of them
    together, so that status and health always find one free.

    Args:
        calls_max: how many may run at once.
        what: what they do, for the refusal.
    """

    def __init__(self, calls_max: int, what: str) -> None:
        self._free = threading.BoundedSemaphore(calls_max)
        self._calls_max = calls_max
        self._what = what

    @contextmanager
    def enter(self, deadline: Deadline) -> Iterator[None]:
        """Run the body once there is room.

        Raises:
            BusyError: there was none in time.
        """
        if not self._free.acquire(timeout=deadline.sooner(MARGIN_SECONDS)):
            raise BusyError(
                f"{self._calls_max} calls that {self._what} run already; try again",
                retry_after_ms=RETRY_AFTER_MS,
            )
        try:
            yield
        finally:
            self._free.release()
