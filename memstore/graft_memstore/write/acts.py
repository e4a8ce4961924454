"""Records what was done: to a profile and no single note of it, or to a note."""

from blake3 import blake3

from graft_memstore.model import Caller, EventSeq, StoredNote
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.transaction import Transaction


def record_act(transaction: Transaction, caller: Caller, action: str, what: str) -> EventSeq:
    """Record an act; *what* it was about stands as its reason: words of the program, never text."""
    return transaction.record(
        EventDraft(
            caller=caller,
            action=action,
            note_id=None,
            content_hash=blake3(what.encode()).digest(),
            reason=what,
        )
    )


def record_on_note(
    transaction: Transaction, caller: Caller, action: str, stored: StoredNote, reason: str
) -> EventSeq:
    """Record what was done to a note and makes no other state of it."""
    return transaction.record(
        EventDraft(
            caller=caller,
            action=action,
            note_id=stored.id,
            content_hash=stored.content_hash,
            reason=reason,
        )
    )
