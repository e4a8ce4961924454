"""The gate as it stands in one profile: the fitted one, with the profile's own threshold."""

from dataclasses import replace

from graft_memstore.gate import GateModel
from graft_memstore.gate_model import GATE_DIGEST, GATE_MODEL
from graft_memstore.model import Model
from graft_memstore.store.database import Connection
from graft_memstore.store.own_threshold import OwnThreshold, read_own_threshold


def gate_of(connection: Connection, serving: Model | None) -> GateModel:
    """Return the gate for vectors of *serving*.

    A threshold that was measured with another fitted gate or another model is passed over.
    """
    own = read_own_threshold(connection)
    if own is None or not _holds(own, serving):
        return GATE_MODEL
    return replace(GATE_MODEL, strong=own.strong, strong_is_own=True)


def passed_over(connection: Connection, serving: Model | None) -> float | None:
    """Return the profile's own threshold where it is passed over, else None."""
    own = read_own_threshold(connection)
    return None if own is None or _holds(own, serving) else own.strong


def _holds(own: OwnThreshold, serving: Model | None) -> bool:
    return serving is not None and (own.gate, own.model) == (GATE_DIGEST, serving.identity)
