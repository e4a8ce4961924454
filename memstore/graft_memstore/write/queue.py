"""Keeps in the reviewer's queue just those notes that wait for a reviewer."""

from graft.wire.errors import ItemNotFoundError
from graft_memstore.lifecycle import WAITING
from graft_memstore.model import EventSeq, ItemKind, Lifecycle, NoteId, NoteState, Trust
from graft_memstore.store.review_items import (
    NewItem,
    drop_moot_items,
    drop_waiting_items,
    evidence_of,
    find_item,
    open_item,
)
from graft_memstore.store.tombstones import Rejection
from graft_memstore.store.transaction import Transaction

REJECTED_NOTE = "rejected"
"""Name, in an item's detail, of the rejected note that a held one looks like."""

TOMBSTONE = "tombstone"
"""Name, in an item's detail, of the rejection that somebody ran into."""


def item_not_found(number: int) -> ItemNotFoundError:
    """Return the refusal of an item that is not there."""
    return ItemNotFoundError(
        f"the queue has no item {number}; what it was about may have been taken away: "
        "graft review list"
    )


def keep_queue(
    transaction: Transaction,
    note_id: NoteId,
    state: NoteState,
    event: EventSeq,
    *,
    like: NoteId | None = None,
) -> None:
    """Do what a note's new *state*, made by *event*, means for the queue.

    Args:
        transaction: the change that made it.
        note_id: the note.
        state: as it is now.
        event: that made it so: a note that waits again is a new thing to judge.
        like: the rejected note that a held one looks like, where it is still there.
    """
    connection = transaction.connection
    if state.lifecycle is not Lifecycle.ACTIVE or state.trust is Trust.REJECTED:
        drop_moot_items(connection, note_id)
        return
    drop_waiting_items(connection, note_id)
    if state.trust not in WAITING:
        return
    item = NewItem(
        kind=ItemKind(state.trust),
        evidence=evidence_of(state.trust, note_id, event),
        note_id=note_id,
        detail={} if like is None else {REJECTED_NOTE: like},
        event=event,
    )
    open_item(connection, item, transaction.at_ms)


def tell_restated(transaction: Transaction, rejection: Rejection) -> None:
    """Tell the reviewer that somebody wanted to store again what was rejected, and how often."""
    connection = transaction.connection
    kind, evidence = ItemKind.RESTATED_REJECTION, evidence_of(rejection.tombstone_id)
    known = find_item(connection, kind, evidence)
    times = 1 if known is None or known.measure is None else known.measure + 1
    item = NewItem(
        kind=kind,
        evidence=evidence,
        scope=rejection.scope,
        measure=times,
        detail={TOMBSTONE: rejection.tombstone_id},
    )
    open_item(connection, item, transaction.at_ms)
