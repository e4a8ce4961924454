"""Sees to it that whoever was given a note hears what became of it."""

from graft_memstore.model import EventSeq, Happening, Lifecycle, NoteId, NoteState, Trust
from graft_memstore.store.events import read_events_of
from graft_memstore.store.notices import (
    GivenTo,
    add_given,
    add_notices,
    delete_notices_of,
    forget_given,
    given_to_since,
)
from graft_memstore.store.states import read_last_states
from graft_memstore.store.transaction import Transaction

SESSIONS_NAMED_MAX = 20
"""Sessions that a reply names; of more it tells how many there are."""


def tell_change(
    transaction: Transaction,
    note_id: NoteId,
    was: NoteState,
    becomes: NoteState,
    event: EventSeq,
) -> None:
    """Have those told who were given a note that holds no more; of one that holds again, nobody.

    The session that made the change is told as well: an agent shares its own with its helpers.
    """
    before, after = standing(was), standing(becomes)
    if after == before:
        return
    if after is None:
        delete_notices_of(transaction.connection, note_id)
    else:
        add_notices(transaction.connection, note_id, after, event, transaction.at_ms)


def tell_erased(transaction: Transaction, note_id: NoteId, event: EventSeq) -> None:
    """Have those told who were given a note that is erased."""
    connection = transaction.connection
    add_notices(connection, note_id, Happening.DELETED, event, transaction.at_ms)
    forget_given(connection, note_id)


def note_given(
    transaction: Transaction, session: str, note_id: NoteId, at_ms: int, seen: EventSeq
) -> None:
    """Remember that a session was given a note when *seen* was the last event of all.

    That is written after the answer: what happened to the note in between is told as well.
    """
    connection = transaction.connection
    add_given(connection, session, note_id, at_ms)
    states = read_last_states(connection, note_id)
    if not states:
        events = read_events_of(connection, note_id)
        if events:
            happened, event = Happening.DELETED, events[-1].seq
            add_notices(connection, note_id, happened, event, transaction.at_ms, session=session)
        forget_given(connection, note_id)
        return
    now = standing(states[0].state)
    if states[0].event > seen and now is not None:
        event = states[0].event
        add_notices(connection, note_id, now, event, transaction.at_ms, session=session)


def given_to(transaction: Transaction, event: EventSeq) -> GivenTo:
    """Return which sessions were given what this change took away, by its first event."""
    return given_to_since(transaction.connection, event, SESSIONS_NAMED_MAX)


def standing(state: NoteState) -> Happening | None:
    """Return what speaks against a note in *state*, None for nothing that is told."""
    if state.trust is Trust.REJECTED:
        return Happening.REJECTED
    if state.lifecycle is not Lifecycle.ACTIVE:
        return Happening(state.lifecycle)
    return Happening.DISPUTED if state.trust is Trust.DISPUTED else None
