"""The threshold of STRONG that a profile has of its own, instead of the one that comes with us."""

import json
from dataclasses import asdict, dataclass

import apsw
from blake3 import blake3

from graft_memstore.store import meta

OWN_THRESHOLD = "gate_strong"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnThreshold:
    """A threshold, and what it was measured with; with anything else it means nothing.

    Attributes:
        strong: probability, 0 to 1.
        gate: digest of the fitted gate.
        model: identity of the model that made the vectors.
    """

    strong: float
    gate: str
    model: str

    def encoded(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    def content_hash(self) -> bytes:
        """Return what an event's digest is made of."""
        return blake3(self.encoded().encode()).digest()


def read_own_threshold(connection: apsw.Connection) -> OwnThreshold | None:
    """Return the profile's own threshold, None when it has none."""
    told = meta.read(connection, OWN_THRESHOLD)
    return None if told is None else OwnThreshold(**json.loads(told))


def write_own_threshold(connection: apsw.Connection, own: OwnThreshold | None) -> None:
    """Set the profile's own threshold, or take it away."""
    if own is None:
        meta.clear(connection, OWN_THRESHOLD)
    else:
        meta.write(connection, OWN_THRESHOLD, own.encoded())
