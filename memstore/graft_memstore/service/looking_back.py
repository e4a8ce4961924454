"""When a read looks: now, or back by the two clocks that a request may name."""

from dataclasses import dataclass

from graft.memory.v1 import note_pb2
from graft.wire.errors import BadFieldError
from graft_memstore.model import Condition, NoteState
from graft_memstore.visibility import condition_of
from graft_memstore.write.limits import TIME_MS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """What a read goes by; see `View`."""

    now_ms: int
    valid_at_ms: int | None
    known_at_ms: int | None

    def condition(self, state: NoteState) -> Condition:
        """Return whether searches show a note of *state* then."""
        return condition_of(state, self.now_ms, self.valid_at_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """The instants that a request names; None for one that it does not."""

    valid_at_ms: int | None
    known_at_ms: int | None

    def seen_from(self, now_ms: int) -> Instants:
        """Return when a read looks whose present is *now_ms*.

        What is to come is not known: an instant after now means what is known now.
        """
        known_at_ms = self.known_at_ms
        if known_at_ms is None or known_at_ms > now_ms:
            return Instants(now_ms=now_ms, valid_at_ms=self.valid_at_ms, known_at_ms=None)
        return Instants(now_ms=known_at_ms, valid_at_ms=self.valid_at_ms, known_at_ms=known_at_ms)


def as_of(message: note_pb2.AsOf) -> AsOf:
    """Read the instants of a request.

    Raises:
        BadFieldError: one is too far away.
    """
    valid_at_ms = message.valid_at_ms if message.HasField("valid_at_ms") else None
    known_at_ms = message.known_at_ms if message.HasField("known_at_ms") else None
    for name, instant in (("valid_at_ms", valid_at_ms), ("known_at_ms", known_at_ms)):
        if instant is not None and abs(instant) > TIME_MS_MAX:
            raise BadFieldError(f"as_of.{name}", f"{instant} ms is beyond the year 9999")
    return AsOf(valid_at_ms=valid_at_ms, known_at_ms=known_at_ms)
