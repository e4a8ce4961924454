"""Rejects what a note says: the note, all that say the same, and whoever says it again."""

from dataclasses import dataclass

from graft.wire.errors import WrongStateError
from graft_memstore.lifecycle import Ruling, Verb, after, ruling_of
from graft_memstore.model import USER_SCOPE, EventSeq, Lifecycle, NoteId
from graft_memstore.store.notes import KnownNote
from graft_memstore.store.tombstones import Tombstone, insert_tombstone
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import notes_saying, value_of
from graft_memstore.write.proposal import Proposal, ReviewerNeededError
from graft_memstore.write.restatement import words_hash
from graft_memstore.write.state_change import (
    Present,
    Saying,
    check_allowed,
    read_present,
    record_state,
    say,
    state_facts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The event of a rejection, and how many other notes went with it."""

    event: EventSeq
    others: int


def reject(transaction: Transaction, note_id: NoteId, saying: Saying) -> Rejected:
    """Reject a note, the others of its scope that say the same, and what they say.

    A tombstone of the scope `user` binds every scope, so there those of all scopes go.

    Raises:
        WrongStateError: it is rejected already, or is out of use while another says the same.
        NotAllowedError: the caller's role may not say it.
        ReviewerNeededError: the caller's role may propose it.
    """
    connection = transaction.connection
    present = read_present(connection, note_id)
    check_allowed(Verb.REJECT, present, saying.caller)
    stored, value = present.stored, value_of(connection, note_id)
    saying_the_same = notes_saying(
        connection, value, stored.scope, every_scope=stored.scope == USER_SCOPE
    )
    others = [each for each in saying_the_same if each.id != note_id]
    _check_in_use(present, others)
    _check_none_reviewed(present, others, saying)
    insert_tombstone(
        transaction,
        Tombstone(
            value_hash=value,
            words_hash=words_hash(stored.title, stored.body),
            scope=stored.scope,
            reason=saying.reason,
            actor=saying.caller.actor,
            at_ms=transaction.at_ms,
        ),
    )
    event = record_state(
        transaction, Verb.REJECT, present, after(Verb.REJECT, present.state), saying
    )
    for other in others:
        say(transaction, Verb.REJECT, other.id, saying)
    return Rejected(event=event, others=len(others))


def _check_none_reviewed(present: Present, others: list[KnownNote], saying: Saying) -> None:
    """See that a rejection takes no note along that its caller could not reject by itself.

    Raises:
        ReviewerNeededError: it would.
    """
    for other in others:
        if ruling_of(Verb.REJECT, other.state, saying.caller.actor) is not Ruling.DONE:
            raise ReviewerNeededError(
                f"note {other.id} says the same as {present.id}, and a reviewer verified it",
                Proposal(verb=Verb.REJECT, note_id=present.id),
            )


def _check_in_use(present: Present, others: list[KnownNote]) -> None:
    """See that rejecting a note that is out of use takes none away that is in use.

    Raises:
        WrongStateError: it would: a value that changed back is the present one.
    """
    in_use = [each for each in others if each.state.lifecycle is Lifecycle.ACTIVE]
    if present.state.lifecycle is Lifecycle.ACTIVE or not in_use:
        return
    raise WrongStateError(
        f"note {present.id} is {present.state.lifecycle}, and another note that is active says "
        "the same; where that is wrong, reject it instead",
        metadata=state_facts(present),
    )
