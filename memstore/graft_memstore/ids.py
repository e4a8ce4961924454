"""Makes ids: UUIDv7, so that ids sort by the time they were made."""

from collections.abc import Callable

from graft_memstore.model import NoteId

NewId = Callable[[int], NoteId]
"""Makes an id for a note of the given time, UTC milliseconds."""

RANDOM_BYTES = 10
RANDOM_A_MASK = 0x0FFF
VERSION_7 = 0x7000
RANDOM_B_MASK = 0x3FFF_FFFF_FFFF_FFFF
VARIANT = 0x8000_0000_0000_0000
TIME_MASK = 0xFFFF_FFFF_FFFF


def uuid7(now_ms: int, random: bytes) -> NoteId:
    """Return the UUIDv7 of *now_ms* and ten *random* bytes, as 32 hex digits (RFC 9562, 5.7)."""
    assert len(random) == RANDOM_BYTES, "a UUIDv7 takes ten random bytes"
    high = (now_ms & TIME_MASK) << 16 | VERSION_7 | int.from_bytes(random[:2]) & RANDOM_A_MASK
    low = int.from_bytes(random[2:]) & RANDOM_B_MASK | VARIANT
    return NoteId(f"{high:016x}{low:016x}")


def id_maker(random: Callable[[int], bytes]) -> NewId:
    """Return a maker of ids that draws from *random*, such as `os.urandom`."""

    def new_id(now_ms: int) -> NoteId:
        return uuid7(now_ms, random(RANDOM_BYTES))

    return new_id
