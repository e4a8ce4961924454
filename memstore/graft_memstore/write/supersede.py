"""Puts one note in the place of another."""

from graft.wire.errors import (
    SelfReferenceError,
    SupersededAlreadyError,
    SupersedingCycleError,
    WrongStateError,
)
from graft_memstore.lifecycle import Verb, after
from graft_memstore.model import Condition, EventSeq, Lifecycle, NoteId
from graft_memstore.store.successors import join_successor, read_heads
from graft_memstore.store.transaction import Transaction
from graft_memstore.visibility import condition_of
from graft_memstore.write.proposal import Proposal
from graft_memstore.write.state_change import (
    Present,
    Saying,
    check_allowed,
    last_event,
    read_present,
    record_state,
    state_facts,
)


def supersede(transaction: Transaction, old_id: NoteId, new_id: NoteId, saying: Saying) -> EventSeq:
    """Let *new_id* replace *old_id*; return the event of that.

    Raises:
        SelfReferenceError: they are one note.
        SupersededAlreadyError: the old one was replaced before.
        SupersedingCycleError: the old one has replaced the new one.
        WrongStateError: the old one's state does not take it, or searches do not show the new one.
        NotAllowedError: the caller's role may not say it.
        ReviewerNeededError: the caller's role may propose it.
    """
    connection = transaction.connection
    if old_id == new_id:
        raise SelfReferenceError(
            f"note {old_id} cannot supersede itself; name the note that replaces it",
            metadata={"note_id": old_id},
        )
    old, new = read_present(connection, old_id), read_present(connection, new_id)
    heads = read_heads(connection, [old_id, new_id])
    if old.state.lifecycle is Lifecycle.SUPERSEDED:
        raise _superseded_already(old, heads.get(old_id), last_event(connection, old_id))
    if heads.get(new_id) == old_id:
        raise SupersedingCycleError(
            f"note {new_id} was itself superseded by {old_id}, so it cannot replace that; where "
            f"what it says holds again, save it anew with: graft insert --supersedes {old_id}",
            metadata=state_facts(new) | {"head": old_id},
        )
    proposal = Proposal(verb=Verb.SUPERSEDE, note_id=old_id, by=new_id)
    check_allowed(Verb.SUPERSEDE, old, saying.caller, proposal)
    _check_shown(new, transaction.at_ms)
    event = record_state(transaction, Verb.SUPERSEDE, old, after(Verb.SUPERSEDE, old.state), saying)
    join_successor(connection, old_id, new_id, transaction.at_ms)
    return event


def _superseded_already(
    old: Present, head: NoteId | None, event: EventSeq
) -> SupersededAlreadyError:
    facts = state_facts(old) | {"head": head or ""}
    if head is None:
        return SupersededAlreadyError(
            f"note {old.id} was superseded already, by a note that was erased since; bring it back "
            f"first: graft undo {event}",
            metadata=facts,
        )
    return SupersededAlreadyError(
        f"note {old.id} was superseded already; supersede the last of its successors instead: "
        f"{head}",
        metadata=facts,
    )


def _check_shown(new: Present, now_ms: int) -> None:
    """See that searches show the new note: else none would show either.

    Raises:
        WrongStateError: they do not.
    """
    condition = condition_of(new.state, now_ms)
    if condition is Condition.SHOWN:
        return
    hint = (
        "let the old one end when the new one begins instead: graft set OLD --valid-to TIME"
        if condition is Condition.NOT_YET_VALID
        else f"look at it with: graft get {new.id}"
    )
    raise WrongStateError(
        f"note {new.id} is {condition}, so it cannot take the place of another; {hint}",
        metadata=state_facts(new) | {"state": condition},
    )
