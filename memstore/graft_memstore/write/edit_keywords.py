"""Changes which keywords a note carries: what it carried before stays on record."""

from dataclasses import dataclass

from graft.wire.errors import BadFieldError, WrongStateError
from graft_memstore.lifecycle import Ruling, Verb, ruling_of_undo
from graft_memstore.model import EventSeq, Lifecycle, NoteId, NoteState
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.events import Event
from graft_memstore.store.keyword_edits import (
    KeywordEdit,
    carried_keywords,
    last_edit,
    record_edit,
)
from graft_memstore.store.keywords import keyword_ids
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.visibility import NEVER_SHOWN
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.fold_again import fold_again
from graft_memstore.write.identify import find_note
from graft_memstore.write.kept_apart import keep_keyword
from graft_memstore.write.limits import KEYWORDS_MAX
from graft_memstore.write.merge import ACTION_MERGE_KEYWORD
from graft_memstore.write.proposal import Proposal, ReviewerNeededError
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply
from graft_memstore.write.state_change import (
    Present,
    Saying,
    described,
    not_last_change,
    read_present,
    role_refused,
    state_facts,
)
from graft_memstore.write.validate import check_keyword_filter, check_reason

ACTION_KEYWORDS = "keywords"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordOrder:
    """Which keywords a note is to carry as well, and which no more.

    Attributes:
        piece: id of the note, or a piece of one.
    """

    piece: str
    add: tuple[str, ...]
    remove: tuple[str, ...]
    key: RequestKey
    saying: Saying


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyworded:
    """A note after its keywords were changed; *event* is 0 where nothing was."""

    id: NoteId
    scope: str
    state: NoteState
    keywords: tuple[str, ...]
    event: int


def edit_keywords(profile: Profile[Index], order: KeywordOrder, wait_seconds: float) -> Keyworded:
    """Do what *order* wants, as one transaction.

    Raises:
        BadFieldError: a keyword, the id or the reason cannot be taken, a keyword is to come and to
            go, or one that is to go is none of the note's.
        WrongStateError: the note is out of use, held or rejected.
        ServiceError: see `find_note` and `Profile.write`.
    """
    reason = check_reason(order.saying.reason)
    saying = Saying(caller=order.saying.caller, reason=reason)
    checked = KeywordOrder(
        piece=order.piece,
        add=check_keyword_filter(order.add),
        remove=check_keyword_filter(order.remove),
        key=order.key,
        saying=saying,
    )
    _check_disjoint(checked)
    reply = profile.write(lambda transaction: _edit(transaction, checked), wait_seconds)
    with profile.snapshot() as connection:
        present = read_present(connection, NoteId(reply["id"]))
        carried = carried_keywords(connection, present.id)
    return Keyworded(
        id=present.id,
        scope=present.stored.scope,
        state=present.state,
        keywords=tuple(carried),
        event=reply["event"],
    )


def undo_keywords(
    transaction: Transaction, event: Event, edit: KeywordEdit, saying: Saying
) -> EventSeq:
    """Take back what an event changed of a note's keywords; return the event of that.

    Raises:
        NotLastChangeError: they were changed since.
        NotAllowedError: the caller's role may take nothing back.
        ReviewerNeededError: the caller's role may propose it.
    """
    connection = transaction.connection
    last = last_edit(connection, edit.note_id)
    if last != edit.event:
        raise not_last_change(edit.event, edit.note_id, last)
    # As of a note's times: who made the change may take it back.
    ruling = ruling_of_undo(Verb.SET_TIMES, event.actor, saying.caller.actor)
    if ruling is Ruling.REFUSED:
        raise role_refused(Verb.UNDO, saying.caller)
    if ruling is Ruling.PROPOSED:
        raise ReviewerNeededError(
            f"event {event.seq} by {event.actor} is taken back by a reviewer alone",
            Proposal(verb=Verb.UNDO, note_id=edit.note_id, event=edit.event),
        )
    present = read_present(connection, edit.note_id)
    # Others may have been given or taken since by other means.
    before = carried_keywords(connection, edit.note_id)
    carried = frozenset(before.values())
    added = tuple(each for each in edit.removed if each not in carried)
    removed = tuple(each for each in edit.added if each in carried)
    undone = _record(transaction, present, (added, removed), saying, action=Verb.UNDO)
    if event.action == ACTION_MERGE_KEYWORD:
        for keyword in carried_keywords(connection, edit.note_id).keys() - before.keys():
            keep_keyword(transaction, present.stored.scope, keyword, frozenset(before), undone)
    return undone


def _check_disjoint(order: KeywordOrder) -> None:
    both = [each for each in order.add if each in order.remove]
    if both:
        raise BadFieldError("remove", f"{both[0]!r} is to be added as well; leave one out")
    if not order.add and not order.remove:
        raise BadFieldError("add", "no keyword is given; name at least one to add or to remove")


def _edit(transaction: Transaction, order: KeywordOrder) -> Reply:
    connection = transaction.connection
    earlier = recall_reply(connection, order.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    present = read_present(connection, find_note(connection, order.piece))
    _check_state(present)
    carried = carried_keywords(connection, present.id)
    for keyword in order.remove:
        if keyword not in carried:
            has = f"it carries {', '.join(carried)}" if carried else "it carries none"
            raise BadFieldError(
                "remove", f"note {present.id} does not carry the keyword {keyword!r}; {has}"
            )
    fresh = [each for each in order.add if each not in carried]
    count = len(carried) + len(fresh) - len(order.remove)
    if count > KEYWORDS_MAX:
        raise BadFieldError("add", f"it would carry {count} keywords; {KEYWORDS_MAX} at most")
    event = 0
    if fresh or order.remove:
        added = keyword_ids(connection, fresh)
        removed = tuple(carried[each] for each in order.remove)
        event = _record(transaction, present, (added, removed), order.saying)
    reply = {"id": present.id, "event": event}
    remember_reply(connection, order.key, reply, transaction.at_ms)
    return reply


def _check_state(present: Present) -> None:
    state = present.state
    if state.lifecycle is Lifecycle.ACTIVE and state.trust not in NEVER_SHOWN:
        return
    raise WrongStateError(
        f"note {present.id} is {described(state)}, so its keywords stay as they are; look at it "
        f"with: graft get {present.id}",
        metadata=state_facts(present),
    )


def _record(
    transaction: Transaction,
    present: Present,
    edited: tuple[tuple[int, ...], tuple[int, ...]],
    saying: Saying,
    *,
    action: str = ACTION_KEYWORDS,
) -> EventSeq:
    """Record that keywords came, and that others went; by their numbers."""
    connection, (added, removed) = transaction.connection, edited
    event = record_on_note(transaction, saying.caller, action, present.stored, saying.reason)
    edit = KeywordEdit(event=event, note_id=present.id, added=added, removed=removed)
    record_edit(connection, edit, transaction.at_ms)
    fold_again(connection, present.id)
    ask_for_edges(connection, present.id)
    return event
