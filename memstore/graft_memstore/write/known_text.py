"""What is said to whoever saves a text again that was taken out of use, or waits for a reviewer."""

from graft.wire.errors import KnownTextError
from graft_memstore.model import Lifecycle
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import KnownNote
from graft_memstore.store.successors import read_heads
from graft_memstore.write.state_change import last_event


def known_text(connection: Connection, known: KnownNote) -> KnownTextError:
    """Return the refusal of a text that a *known* note has, with what can be done."""
    lifecycle = known.state.lifecycle
    if lifecycle is Lifecycle.RETIRED:
        return KnownTextError(
            f"what this note says is here as note {known.id}, which was retired; bring it back "
            "with: graft insert --restore",
            metadata={"state": lifecycle, "note_id": known.id},
        )
    if lifecycle is Lifecycle.ACTIVE:
        return KnownTextError(
            f"what this note says is here as note {known.id}, which is held: it looks like "
            f"something that was rejected; look at it with: graft get {known.id}",
            metadata={"state": known.state.trust, "note_id": known.id},
        )
    head = read_heads(connection, [known.id]).get(known.id)
    facts = {"state": lifecycle, "note_id": known.id, "head": head or ""}
    if head is None:
        return KnownTextError(
            f"what this note says is here as note {known.id}, which was superseded by a note that "
            f"was erased since; bring it back with: graft undo {last_event(connection, known.id)}",
            metadata=facts,
        )
    return KnownTextError(
        f"what this note says is here as note {known.id}, which was superseded by note {head}; "
        f"read that with: graft get {head}, or where the old one holds again: "
        f"graft insert --supersedes {head}",
        metadata=facts,
    )
