"""Takes back the last change of a note's state, as a new change."""

from graft.wire.errors import (
    EventNotFoundError,
    NotLastChangeError,
    SupersedingCycleError,
    WrongStateError,
)
from graft_memstore.lifecycle import Ruling, Verb, ruling_of_undo
from graft_memstore.model import EventSeq, Lifecycle, NoteId, Trust
from graft_memstore.store.database import Connection
from graft_memstore.store.events import Event, read_event
from graft_memstore.store.keyword_edits import read_edit
from graft_memstore.store.notes import read_stored
from graft_memstore.store.states import KnownState, read_last_states
from graft_memstore.store.successors import (
    join_successor,
    part_successor,
    read_heads,
    successor_until,
)
from graft_memstore.store.tombstones import lift_tombstone
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import value_of
from graft_memstore.write.edit_keywords import undo_keywords
from graft_memstore.write.kept_apart import keep_notes_apart
from graft_memstore.write.proposal import Proposal, ReviewerNeededError
from graft_memstore.write.state_change import (
    Saying,
    check_not_rejected,
    not_last_change,
    read_present,
    record_state,
    role_refused,
    state_facts,
)

NOTE_ID = "note_id"


def undo(transaction: Transaction, event_seq: int, saying: Saying) -> tuple[NoteId, EventSeq]:
    """Take back what an event changed; return its note and the event of that.

    Raises:
        EventNotFoundError: there is no such event.
        NotLastChangeError: it is not the last change of its note, or changed no state.
        NotAllowedError: the caller's role may take nothing back.
        ReviewerNeededError: the caller's role may propose it.
        WrongStateError: the note is gone, or was only just stored.
        RejectedTextError: the note would come back, and what it says is rejected by another.
        SupersedingCycleError: its successor has been superseded by it meanwhile.
    """
    connection = transaction.connection
    event = _event(connection, event_seq)
    note_id = _note_of(connection, event)
    edit = read_edit(connection, event.seq)
    if edit is not None:
        return note_id, undo_keywords(transaction, event, edit, saying)
    last, *before = read_last_states(connection, note_id)
    if last.event != event.seq:
        raise not_last_change(event.seq, note_id, last.event)
    present = read_present(connection, note_id)
    if not before:
        raise WrongStateError(
            f"event {event.seq} stored note {note_id}; take it away with: graft retire {note_id}",
            metadata=state_facts(present),
        )
    _check_role(event, note_id, saying)
    _rejoin(transaction, note_id, last, before[0])
    undone = record_state(transaction, Verb.UNDO, present, before[0].state, saying)
    was, becomes = last.state.lifecycle, before[0].state.lifecycle
    if was is Lifecycle.SUPERSEDED and becomes is not was:
        replaced_by = successor_until(connection, note_id, transaction.at_ms)
        keep_notes_apart(transaction, present.stored, replaced_by, undone)
    if last.state.trust is Trust.REJECTED and before[0].state.trust is not Trust.REJECTED:
        value = value_of(connection, note_id)
        scope = present.stored.scope
        lift_tombstone(transaction, value, scope, event=undone, at_ms=transaction.at_ms)
    check_not_rejected(connection, present, before[0].state)
    return note_id, undone


def _event(connection: Connection, event_seq: int) -> Event:
    event = read_event(connection, event_seq)
    if event is None:
        raise event_not_found(event_seq)
    return event


def event_not_found(event_seq: int) -> EventNotFoundError:
    """Return the refusal of an event that is not there."""
    return EventNotFoundError(
        f"no event has the number {event_seq}; the last one is that of the last change"
    )


def _note_of(connection: Connection, event: Event) -> NoteId:
    if event.note_id is None:
        raise NotLastChangeError(
            f"event {event.seq} is about no note", metadata={"event": str(event.seq)}
        )
    if read_stored(connection, event.note_id) is None:
        raise WrongStateError(
            f"note {event.note_id} has been erased, and nothing can bring it back",
            metadata={NOTE_ID: event.note_id, "state": "deleted"},
        )
    return event.note_id


def _check_role(event: Event, note_id: NoteId, saying: Saying) -> None:
    ruling = ruling_of_undo(event.action, event.actor, saying.caller.actor)
    if ruling is Ruling.REFUSED:
        raise role_refused(Verb.UNDO, saying.caller)
    if ruling is Ruling.PROPOSED:
        raise ReviewerNeededError(
            f"event {event.seq} ({event.action} by {event.actor}) is taken back by a reviewer "
            "alone",
            Proposal(verb=Verb.UNDO, note_id=note_id, event=event.seq),
        )


def _rejoin(
    transaction: Transaction, note_id: NoteId, last: KnownState, before: KnownState
) -> None:
    """Part a note from its successor, or join it with the one that it had."""
    connection = transaction.connection
    was, becomes = last.state.lifecycle, before.state.lifecycle
    if was is Lifecycle.SUPERSEDED and becomes is not was:
        part_successor(connection, note_id, transaction.at_ms)
    if becomes is not Lifecycle.SUPERSEDED or becomes is was:
        return
    successor = successor_until(connection, note_id, last.state.known_from_ms)
    if successor is None:
        raise WrongStateError(
            f"the note that had superseded {note_id} has been erased",
            metadata={NOTE_ID: note_id, "state": was},
        )
    head = read_heads(connection, [successor]).get(successor, successor)
    if head == note_id:
        raise SupersedingCycleError(
            f"note {successor}, which had superseded {note_id}, was superseded by it since",
            metadata={NOTE_ID: note_id, "state": was, "head": head},
        )
    join_successor(connection, note_id, successor, transaction.at_ms)
