"""Does what a reviewer decides of something that waits: one transaction with its event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graft.wire.errors import BadFieldError, WrongStateError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import (
    Decision,
    EventSeq,
    ItemId,
    ItemKind,
    Lifecycle,
    NoteId,
    Oracle,
    OracleKind,
    Trust,
)
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import ReviewItem, decide_item, read_item
from graft_memstore.store.tombstones import lift_tombstone, read_rejection
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.change import ChangeOrder, Time, Times, do
from graft_memstore.write.delete import erase
from graft_memstore.write.identify import find_note
from graft_memstore.write.merge import give_all, merge_keyword_of_scope
from graft_memstore.write.queue import TOMBSTONE, item_not_found
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply
from graft_memstore.write.reject import reject
from graft_memstore.write.state_change import Saying, check_reviewer, read_present, say, state_facts
from graft_memstore.write.supersede import supersede
from graft_memstore.write.validate import check_reason

ACTION_REVIEW = "review"
LIFTED = "lifted"
ERASED = "erased"
UNDECIDED = "left as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOrder:
    """What a reviewer decides.

    Attributes:
        piece: of a pair, the note that stays (supersede) or that was wrong (reject); an id or a
            piece of one, empty where the item itself says which.
    """

    item_id: ItemId
    decision: Decision
    piece: str
    key: RequestKey
    saying: Saying


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a decision came to.

    Attributes:
        event: of the decision.
        outcome: what was done, in a word.
        note_id: the note that changed; None where none did.
        note_event: of that change, which `undo` takes; 0 where no note changed.
    """

    item_id: ItemId
    decision: Decision
    event: EventSeq
    outcome: str
    note_id: NoteId | None = None
    note_event: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done to which note, by which event."""

    word: str
    note_id: NoteId | None = None
    event: int = 0


Step = Callable[[Transaction, ReviewItem, DecisionOrder], Outcome]


def decide(profile: Profile[Index], order: DecisionOrder, wait_seconds: float) -> Decided:
    """Decide of an open item and do what that means.

    Raises:
        NotAllowedError: the caller is no reviewer.
        ItemNotFoundError: there is no such item.
        WrongStateError: it was decided, or its notes have changed so that it cannot be done.
        BadFieldError: nothing of its kind is decided so, or a note must be named.
        ServiceError: see `change_note` and `Profile.write`.
    """
    reason = check_reason(order.saying.reason)
    saying = Saying(caller=order.saying.caller, reason=reason)
    checked = DecisionOrder(
        item_id=order.item_id,
        decision=order.decision,
        piece=order.piece,
        key=order.key,
        saying=saying,
    )
    reply = profile.write(lambda transaction: _decide(transaction, checked), wait_seconds)
    if reply["outcome"] == ERASED:
        profile.clean()
    note_id = reply["note_id"]
    return Decided(
        item_id=ItemId(reply["item"]),
        decision=Decision(reply["decision"]),
        event=EventSeq(reply["event"]),
        outcome=reply["outcome"],
        note_id=None if note_id is None else NoteId(note_id),
        note_event=reply["note_event"],
    )


def decisions_of(kind: ItemKind) -> tuple[Decision, ...]:
    """Return how an item of a kind may be decided."""
    return tuple(_STEPS[kind])


def _decide(transaction: Transaction, order: DecisionOrder) -> Reply:
    connection, caller = transaction.connection, order.saying.caller
    check_reviewer(caller)
    earlier = recall_reply(connection, order.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    item = read_item(connection, order.item_id)
    if item is None:
        raise item_not_found(order.item_id)
    if item.decision is not None:
        raise WrongStateError(
            f"item {item.item_id} was decided before: {item.decision}",
            metadata={"state": item.decision, "item": str(item.item_id)},
        )
    step = _STEPS[item.kind].get(order.decision)
    if step is None:
        ways = " or ".join(_STEPS[item.kind])
        raise BadFieldError(
            "decision", f"a {item.kind} is not settled with {order.decision}; with {ways} it is"
        )
    event = _record(transaction, item, order)
    # First, since what is done may take other items of the note out of the queue.
    decide_item(connection, item.item_id, order.decision, event=event, at_ms=transaction.at_ms)
    done = step(transaction, item, order)
    reply = {
        "item": item.item_id,
        "decision": order.decision,
        "event": event,
        "outcome": done.word,
        "note_id": done.note_id,
        "note_event": done.event,
    }
    remember_reply(connection, order.key, reply, transaction.at_ms)
    return reply


def _record(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> EventSeq:
    stored = None if item.note_id is None else read_stored(transaction.connection, item.note_id)
    return transaction.record(
        EventDraft(
            caller=order.saying.caller,
            action=f"{ACTION_REVIEW}-{order.decision}",
            note_id=item.note_id,
            content_hash=item.evidence if stored is None else stored.content_hash,
            reason=order.saying.reason,
        )
    )


def _note(item: ReviewItem) -> NoteId:
    assert item.note_id is not None, f"a {item.kind} is about a note"
    return item.note_id


def _say(verb: Verb, word: str) -> Step:
    def step(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
        note_id = _note(item)
        return Outcome(
            word=word, note_id=note_id, event=say(transaction, verb, note_id, order.saying)
        )

    return step


def _leave(_: Transaction, item: ReviewItem, __: DecisionOrder) -> Outcome:
    return Outcome(word=UNDECIDED, note_id=item.note_id)


def _reject(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    note_id = _note(item) if item.other_id is None else _named(transaction, item, order)
    rejected = reject(transaction, note_id, order.saying)
    return Outcome(word=Trust.REJECTED, note_id=note_id, event=rejected.event)


def _supersede(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    """Let the named note of a pair, else the second, take the place of the other."""
    first, second = _note(item), item.other_id
    assert second is not None, f"a {item.kind} is about two notes"
    keeper = _named(transaction, item, order) if order.piece else second
    loser = first if keeper == second else second
    if item.kind is ItemKind.DUPLICATE:
        give_all(transaction, loser, keeper, order.saying)
    event = supersede(transaction, loser, keeper, order.saying)
    return Outcome(word="superseded", note_id=loser, event=event)


def _named(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> NoteId:
    """Return the note of a pair that the decision names.

    Raises:
        BadFieldError: it names none of the two.
    """
    pair = (item.note_id, item.other_id)
    if order.piece:
        named = find_note(transaction.connection, order.piece, "note_id")
        if named in pair:
            return named
    raise BadFieldError("note_id", f"must name one of the two notes, {pair[0]} or {pair[1]}")


def _merge_keyword(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    variant, keep = str(item.detail["variant"]), str(item.detail["keep"])
    merge_keyword_of_scope(transaction, item.scope, variant, keep, order.saying)
    return Outcome(word="merged")


def _mark_stale(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    return _say(Verb.MARK_STALE, Trust.STALE)(transaction, item, order)


def _erase(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    note_id = _note(item)
    present = read_present(transaction.connection, note_id)
    if present.state.lifecycle is not Lifecycle.RETIRED:
        raise WrongStateError(
            f"note {note_id} is {present.state.lifecycle} again, so it is not due to be erased",
            metadata=state_facts(present),
        )
    event = erase(transaction, present.stored, order.saying.caller, order.saying.reason)
    return Outcome(word=ERASED, note_id=note_id, event=event)


def _lift(transaction: Transaction, item: ReviewItem, _: DecisionOrder) -> Outcome:
    """Let what was rejected be said again; the event of the decision stands for it."""
    connection = transaction.connection
    rejection = read_rejection(connection, _number(item.detail[TOMBSTONE]))
    if rejection is None:
        raise WrongStateError(
            f"what item {item.item_id} is about may be said again already",
            metadata={"state": LIFTED, "item": str(item.item_id)},
        )
    decided = read_item(connection, item.item_id)
    assert decided is not None, "it was decided a moment ago"
    assert decided.decided_by is not None, "by an event"
    lift_tombstone(
        transaction,
        rejection.value_hash,
        rejection.scope,
        event=decided.decided_by,
        at_ms=transaction.at_ms,
    )
    return Outcome(word=LIFTED)


def _do_proposal(transaction: Transaction, item: ReviewItem, order: DecisionOrder) -> Outcome:
    """Do what an agent proposed, in the reviewer's name."""
    connection, detail, saying = transaction.connection, item.detail, order.saying
    verb = Verb(str(detail["verb"]))
    if verb is Verb.SUPERSEDE and item.other_id is not None:
        correction = read_present(connection, item.other_id)
        if correction.state.trust is Trust.CANDIDATE:
            say(transaction, Verb.APPROVE, item.other_id, saying)
    done = do(
        transaction,
        ChangeOrder(
            verb=verb,
            key=order.key,
            saying=saying,
            piece=_note(item),
            by=item.other_id or "",
            event=_number(detail.get("event", 0)),
            times=_times(detail.get("times")),
            oracle=_oracle(detail.get("oracle")),
        ),
    )
    return Outcome(word=f"done: {verb}", note_id=done.note_id, event=done.event)


def _times(detail: object) -> Times:
    given = {
        name: Time(at_ms=None if at_ms is None else _number(at_ms))
        for name, at_ms in (detail.items() if isinstance(detail, dict) else ())
    }
    return Times(**given)


def _oracle(detail: object) -> Oracle | None:
    if not isinstance(detail, dict):
        return None
    return Oracle(**{**detail, "kind": OracleKind(detail["kind"])})


def _number(value: object) -> int:
    assert isinstance(value, int), "written by ourselves"
    return value


_WAITING: Mapping[Decision, Step] = {
    Decision.APPROVE: _say(Verb.APPROVE, "approved"),
    Decision.REJECT: _reject,
}
_PAIR: Mapping[Decision, Step] = {
    Decision.KEEP_BOTH: _leave,
    Decision.SUPERSEDE: _supersede,
    Decision.REJECT: _reject,
}
# To approve of such a finding is to do what it suggests.
_SUGGESTION: Mapping[Decision, Step] = {Decision.APPROVE: _supersede, **_PAIR}
_SOURCE: Mapping[Decision, Step] = {Decision.APPROVE: _mark_stale, Decision.REJECT: _leave}
_UNUSED: Mapping[Decision, Step] = {
    Decision.APPROVE: _say(Verb.RETIRE, "retired"),
    Decision.REJECT: _leave,
}

_STEPS: Mapping[ItemKind, Mapping[Decision, Step]] = {
    ItemKind.CANDIDATE: _WAITING,
    ItemKind.HELD: _WAITING,
    ItemKind.PROPOSAL: {Decision.APPROVE: _do_proposal, Decision.REJECT: _leave},
    ItemKind.RESTATED_REJECTION: {Decision.APPROVE: _lift, Decision.REJECT: _leave},
    ItemKind.DUPLICATE: _SUGGESTION,
    ItemKind.SUPERSESSION: _SUGGESTION,
    ItemKind.CONTRADICTION: _PAIR,
    ItemKind.POSSIBLE_CONTRADICTION: _PAIR,
    ItemKind.CHANGED_SOURCE: _SOURCE,
    ItemKind.REMOVED_SOURCE: _SOURCE,
    ItemKind.KEYWORD_VARIANT: {
        Decision.APPROVE: _merge_keyword,
        Decision.KEEP_BOTH: _leave,
        Decision.REJECT: _leave,
    },
    ItemKind.ISOLATED: _UNUSED,
    ItemKind.NEVER_USED: _UNUSED,
    ItemKind.EXPIRED: _UNUSED,
    ItemKind.PURGE_DUE: {Decision.APPROVE: _erase, Decision.REJECT: _leave},
}
"""What each decision does to each kind of item; nothing else may be decided of it."""
