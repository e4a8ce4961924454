"""Makes ids: UUIDv7, so that ids sort by the time they were made, and inside it by their order."""

import threading
from collections.abc import Callable

from graft_memstore.model import NoteId

NewId = Callable[[int], NoteId]
"""Makes an id for a note of the given time, UTC milliseconds."""

RANDOM_BITS = 74
RANDOM_BYTES = 10
STEP_BYTES = 4
TIME_MASK = 0xFFFF_FFFF_FFFF
VERSION_7 = 0x7000
VARIANT = 0x8000_0000_0000_0000
LOW_BITS = 62


def uuid7(now_ms: int, random: int) -> NoteId:
    """Return the UUIDv7 of *now_ms* and 74 *random* bits, as 32 hex digits (RFC 9562, 5.7)."""
    high = (now_ms & TIME_MASK) << 16 | VERSION_7 | random >> LOW_BITS
    low = VARIANT | random & ((1 << LOW_BITS) - 1)
    return NoteId(f"{high:016x}{low:016x}")


class IdMaker:
    """Makes ids; those of one millisecond go up by a random step (RFC 9562, 6.2, method 2).

    Args:
        random: random bytes, such as `os.urandom`.
    """

    def __init__(self, random: Callable[[int], bytes]) -> None:
        self._random = random
        self._lock = threading.Lock()
        self._last_ms = -1
        self._last = 0

    def __call__(self, now_ms: int) -> NoteId:
        """Return a new id for a note of *now_ms*."""
        with self._lock:
            if now_ms == self._last_ms:
                self._last += 1 + int.from_bytes(self._random(STEP_BYTES))
            else:
                self._last_ms = now_ms
                # One bit less than there is room for, so that steps do not run over.
                self._last = int.from_bytes(self._random(RANDOM_BYTES)) % (1 << RANDOM_BITS - 1)
            return uuid7(now_ms, self._last)
