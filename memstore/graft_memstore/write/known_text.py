"""Whether a text was rejected or taken out of use, or waits, and what is said to who saves it."""

from graft.wire.errors import KnownTextError
from graft_memstore.model import Lifecycle, NoteId
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import KnownNote
from graft_memstore.store.successors import has_replaced_value, read_heads
from graft_memstore.store.tombstones import Rejection, find_rejected_value, find_rejected_words
from graft_memstore.store.values import find_out_of_use
from graft_memstore.write.prepare import PreparedNote
from graft_memstore.write.state_change import last_event


def find_rejected(connection: Connection, prepared: PreparedNote) -> Rejection | None:
    """Return what rejected what a note says, by any of its spellings."""
    scope = prepared.note.scope
    found = (find_rejected_value(connection, each, scope) for each in prepared.value_hashes)
    return next((each for each in found if each is not None), None)


def find_rejected_alike(connection: Connection, prepared: PreparedNote) -> Rejection | None:
    """Return what rejected something of just the words that a note says."""
    scope = prepared.note.scope
    found = (find_rejected_words(connection, each, scope) for each in prepared.words_hashes)
    return next((each for each in found if each is not None), None)


def find_known(connection: Connection, prepared: PreparedNote) -> KnownNote | None:
    """Return the note that says the same and was taken out of use, or is held."""
    note = prepared.note
    found = (
        find_out_of_use(connection, each, note.kind, note.scope) for each in prepared.value_hashes
    )
    return next((each for each in found if each is not None), None)


def may_change_back(connection: Connection, prepared: PreparedNote, old: NoteId) -> bool:
    """Tell whether what a note says is one of the values that led to *old*."""
    return any(
        has_replaced_value(connection, old, each, prepared.note.kind)
        for each in prepared.value_hashes
    )


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
