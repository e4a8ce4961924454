"""One change of a note's state: the old row is closed, the new one recorded with its event."""

from dataclasses import dataclass, replace

from graft.wire.errors import (
    NotAllowedError,
    NotLastChangeError,
    RejectedTextError,
    WrongStateError,
)
from graft_memstore.lifecycle import (
    REVIEWER,
    Ruling,
    Verb,
    after,
    allows,
    is_protected,
    ruling_of,
    takes_back,
)
from graft_memstore.model import (
    Caller,
    EventSeq,
    Lifecycle,
    NoteId,
    NoteState,
    StoredNote,
)
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.notes import read_stored
from graft_memstore.store.states import (
    close_state,
    insert_state,
    read_acts,
    read_last_states,
    read_state,
)
from graft_memstore.store.tombstones import find_rejected_value
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import value_of
from graft_memstore.visibility import NEVER_SHOWN
from graft_memstore.write.notices import tell_change
from graft_memstore.write.proposal import Proposal, ReviewerNeededError
from graft_memstore.write.queue import keep_queue

DONE = {
    Verb.SUPERSEDE: "superseded",
    Verb.RETIRE: "retired",
    Verb.RESTORE: "restored",
    Verb.REJECT: "rejected",
    Verb.DISPUTE: "disputed",
    Verb.MARK_STALE: "marked as stale",
    Verb.SET_TIMES: "given other times",
    Verb.VERIFY: "verified",
    Verb.APPROVE: "approved",
    Verb.UNDO: "undone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """Who changes something, and why."""

    caller: Caller
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A note as it is now."""

    stored: StoredNote
    state: NoteState

    @property
    def id(self) -> NoteId:
        """Its id."""
        return self.stored.id


def read_present(connection: Connection, note_id: NoteId) -> Present:
    """Return a note that is there."""
    stored, state = read_stored(connection, note_id), read_state(connection, note_id)
    assert stored is not None, "its id was found in this transaction"
    assert state is not None, "every note has a present state"
    return Present(stored=stored, state=state)


def last_event(connection: Connection, note_id: NoteId) -> EventSeq:
    """Return the event of the last change of a note that is there."""
    return read_last_states(connection, note_id)[0].event


def say(transaction: Transaction, verb: Verb, note_id: NoteId, saying: Saying) -> EventSeq:
    """Say *verb* of a note and return its event.

    Raises:
        NotAllowedError: the caller's role may not say it.
        WrongStateError: the note's state does not take it.
        RejectedTextError: it would come back, and what it says was rejected meanwhile.
        ReviewerNeededError: the caller's role may propose it.
    """
    present = read_present(transaction.connection, note_id)
    check_allowed(verb, present, saying.caller)
    becomes = after(verb, present.state)
    if verb is Verb.RESTORE:
        check_not_rejected(transaction.connection, present, becomes)
    proposal = Proposal(verb=verb, note_id=note_id)
    check_takes_nothing_back(transaction, present, becomes, saying.caller, proposal)
    return record_state(transaction, verb, present, becomes, saying)


def check_allowed(
    verb: Verb, present: Present, caller: Caller, proposal: Proposal | None = None
) -> None:
    """See that *caller* may say *verb* of a note as it is.

    Args:
        verb: what is said.
        present: of which note.
        caller: by whom.
        proposal: what it becomes where only a reviewer may do it; None where the verb says all.

    Raises:
        NotAllowedError: the caller's role may not say it.
        WrongStateError: the note's state does not take it.
        ReviewerNeededError: the caller's role may propose it.
    """
    ruling = ruling_of(verb, present.state, caller.actor)
    if ruling is Ruling.REFUSED:
        raise role_refused(verb, caller)
    if not allows(verb, present.state):
        raise WrongStateError(
            f"note {present.id} is {described(present.state)}, so it cannot be {DONE[verb]}; "
            f"look at it with: graft get {present.id}",
            metadata=state_facts(present),
        )
    if ruling is Ruling.PROPOSED:
        raise ReviewerNeededError(
            _why_proposed(verb, present), proposal or Proposal(verb=verb, note_id=present.id)
        )


def check_takes_nothing_back(
    transaction: Transaction,
    present: Present,
    becomes: NoteState,
    caller: Caller,
    proposal: Proposal,
) -> None:
    """See that nobody but a reviewer lifts what a reviewer's act set of a note.

    Raises:
        ReviewerNeededError: *proposal* would, by making *becomes* of it.
    """
    if caller.actor == REVIEWER:
        return
    if takes_back(proposal.verb, becomes, read_acts(transaction.connection, present.id)):
        raise ReviewerNeededError(
            f"note {present.id} is as a reviewer left it, so that it is {DONE[proposal.verb]} by "
            "one alone",
            proposal,
        )


def check_not_rejected(connection: Connection, present: Present, becomes: NoteState) -> None:
    """See that a note that comes back says nothing that was rejected where it stands.

    It may have been out of use as that was rejected elsewhere, and have met the rejection since,
    when one of the two was moved.

    Raises:
        RejectedTextError: it does.
    """
    if becomes.lifecycle is not Lifecycle.ACTIVE or becomes.trust in NEVER_SHOWN:
        return
    scope = present.stored.scope
    if find_rejected_value(connection, value_of(connection, present.id), scope) is None:
        return
    # A caller that is bound to scopes is not told in which of the two.
    raise RejectedTextError(
        f"what note {present.id} says was rejected, in {scope} or in every scope, and must not "
        "come back; where it holds after all, a reviewer takes the rejection back first, with: "
        "graft review",
        metadata=state_facts(present),
    )


def check_reviewer(caller: Caller) -> None:
    """See that *caller* is a reviewer.

    Raises:
        NotAllowedError: it is not.
    """
    if caller.actor != REVIEWER:
        raise NotAllowedError(
            "a reviewer decides this; prove the passphrase on a terminal, with: graft review"
        )


def role_refused(verb: Verb, caller: Caller) -> NotAllowedError:
    """Return the refusal of a verb that the caller's role may not say at all."""
    return NotAllowedError(
        f"the role {caller.actor} may not {verb} notes; a reviewer does that with: graft review"
    )


def _why_proposed(verb: Verb, present: Present) -> str:
    if is_protected(present.state):
        return f"a reviewer verified note {present.id}, so that it is {DONE[verb]} by one alone"
    return f"note {present.id} waits for a reviewer, so that it is {DONE[verb]} by one alone"


def record_state(
    transaction: Transaction, verb: Verb, present: Present, state: NoteState, saying: Saying
) -> EventSeq:
    """Make *state* the present one of a note, since now and for its reason; return its event."""
    connection, stored = transaction.connection, present.stored
    fresh = replace(state, known_from_ms=transaction.at_ms, reason=saying.reason)
    event = transaction.record(
        EventDraft(
            caller=saying.caller,
            action=verb,
            note_id=stored.id,
            content_hash=stored.content_hash,
            reason=saying.reason,
            state=fresh,
        )
    )
    close_state(connection, stored.id, transaction.at_ms)
    insert_state(connection, stored.id, fresh, event)
    keep_queue(transaction, stored.id, fresh, event)
    tell_change(transaction, stored.id, present.state, fresh, event)
    if fresh.lifecycle is Lifecycle.ACTIVE and present.state.lifecycle is not Lifecycle.ACTIVE:
        # While it was hidden no note was joined with it.
        ask_for_edges(connection, stored.id)
    return event


def not_last_change(event: int, note_id: NoteId, last: int | None) -> NotLastChangeError:
    """Return the refusal of an event that is not the *last* change of its note."""
    return NotLastChangeError(
        f"event {event} is not the last change of note {note_id}: that is event {last}",
        metadata={"note_id": note_id, "event": str(last)},
    )


def described(state: NoteState) -> str:
    """Return a state in words."""
    return f"{state.lifecycle} and {state.trust}"


def state_facts(present: Present) -> dict[str, str]:
    """Return what a refusal tells programs of a note as it is."""
    state = present.state
    return {
        "note_id": present.id,
        "state": state.lifecycle if state.lifecycle is not Lifecycle.ACTIVE else state.trust,
        "lifecycle": state.lifecycle,
        "trust": state.trust,
    }
