"""How often a token's calls may come, and how many of them at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from graft.wire.errors import BusyError
from graft_memstore.access import AccessToken

MINUTE_SECONDS = 60.0
RETRY_AFTER_MS = 250


@dataclass(slots=True)
class _Used:
    """What a token has used: a bucket that a minute fills, and the calls that run."""

    left: float
    seen: float
    running: int = 0


class Pace:
    """Counts calls by token; a token bucket, so that a burst may take a minute's calls at once.

    Args:
        seconds: clock that only goes forward.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._used: dict[str, _Used] = {}

    @contextmanager
    def running(self, token: AccessToken) -> Iterator[None]:
        """Let one call of *token* run.

        Raises:
            BusyError: too many run already, or have come.
        """
        with self._lock:
            used = self._filled(token)
            if used.running >= token.calls_at_once:
                raise BusyError(
                    f"{used.running} calls of this token run already; try again",
                    retry_after_ms=RETRY_AFTER_MS,
                )
            if used.left < 1:
                wait_ms = (1 - used.left) * MINUTE_SECONDS / token.calls_per_minute * 1_000
                raise BusyError(
                    f"this token has made its {token.calls_per_minute} calls a minute; try again",
                    retry_after_ms=int(wait_ms) + 1,
                )
            used.left -= 1
            used.running += 1
        try:
            yield
        finally:
            with self._lock:
                used.running -= 1

    def forget(self, token: AccessToken) -> None:
        """Count no more of a token that was revoked."""
        with self._lock:
            self._used.pop(token.id, None)

    def _filled(self, token: AccessToken) -> _Used:
        now = self._seconds()
        used = self._used.setdefault(token.id, _Used(left=token.calls_per_minute, seen=now))
        came = (now - used.seen) / MINUTE_SECONDS * token.calls_per_minute
        used.left, used.seen = min(used.left + came, token.calls_per_minute), now
        return used
