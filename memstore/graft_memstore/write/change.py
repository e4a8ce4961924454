"""Changes what a note is worth: one transaction with its check, its event and its receipt."""

from dataclasses import dataclass, replace

from graft.wire.errors import BadFieldError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import EventSeq, Lifecycle, NoteId, NoteState, Oracle, Trust
from graft_memstore.store.notices import NOBODY, GivenTo
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.writer import WRITE_WAIT_SECONDS
from graft_memstore.write.identify import find_note
from graft_memstore.write.notices import given_to
from graft_memstore.write.proposal import Proposal, or_propose
from graft_memstore.write.receipts import (
    Reply,
    RequestKey,
    given_to_of,
    recall_reply,
    remember_reply,
)
from graft_memstore.write.reject import reject
from graft_memstore.write.state_change import (
    Saying,
    check_allowed,
    check_takes_nothing_back,
    read_present,
    record_state,
    say,
)
from graft_memstore.write.supersede import supersede
from graft_memstore.write.undo import undo
from graft_memstore.write.validate import check_reason, check_times
from graft_memstore.write.verify import verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """What one of a note's times is to be, UTC milliseconds; None for none."""

    at_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Which of a note's times are to be set; None leaves one as it is."""

    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOrder:
    """What somebody wants to become of a note.

    Attributes:
        piece: id of the note, or a piece of one; empty for `Verb.UNDO`.
        by: the same of the note that supersedes it.
        event: that is to be undone.
        times: for `Verb.SET_TIMES`.
        oracle: for `Verb.VERIFY`; who said so, and when, is filled in.
    """

    verb: Verb
    key: RequestKey
    saying: Saying
    piece: str = ""
    by: str = ""
    event: int = 0
    times: Times = Times()
    oracle: Oracle | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A note after a change.

    Attributes:
        event: that recorded it.
        superseded_by: the note that replaced it.
        others: notes that say the same and were rejected with it.
        given_to: sessions that were given what holds no more, and will be told.
    """

    id: NoteId
    scope: str
    state: NoteState
    event: EventSeq
    superseded_by: NoteId | None = None
    others: int = 0
    given_to: GivenTo = NOBODY


def change_note(
    profile: Profile[Index], order: ChangeOrder, wait_seconds: float = WRITE_WAIT_SECONDS
) -> Changed:
    """Do what *order* wants.

    Raises:
        BadFieldError: the id, the reason or a time cannot be taken.
        AmbiguousIdError, NoteNotFoundError: see `find_note`.
        RequestIdReusedError: the request_id belongs to another request.
        ProposedError: it was not done, and waits for a reviewer.
        ServiceError: see `say`, `supersede`, `reject`, `undo`, and `Profile.write`.
    """
    saying = replace(order.saying, reason=check_reason(order.saying.reason))
    checked = replace(order, saying=saying)
    reply = or_propose(
        profile,
        lambda transaction: _change(transaction, checked),
        (saying.caller, saying.reason),
        wait_seconds,
    )
    return _changed(reply)


def _change(transaction: Transaction, order: ChangeOrder) -> Reply:
    connection = transaction.connection
    earlier = recall_reply(connection, order.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    reply = _reply(transaction, do(transaction, order))
    remember_reply(connection, order.key, reply, transaction.at_ms)
    return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a change of a note came to; see `Changed`."""

    note_id: NoteId
    event: EventSeq
    superseded_by: NoteId | None = None
    others: int = 0


def do(transaction: Transaction, order: ChangeOrder) -> Done:
    """Do what *order* wants inside a transaction; nothing is remembered of the request.

    Raises:
        ReviewerNeededError: the caller's role may propose it.
        ServiceError: see `change_note`.
    """
    connection, saying = transaction.connection, order.saying
    if order.verb is Verb.UNDO:
        undone, event = undo(transaction, order.event, saying)
        return Done(note_id=undone, event=event)
    note_id = find_note(connection, order.piece)
    if order.verb is Verb.SUPERSEDE:
        by = find_note(connection, order.by, "by")
        event = supersede(transaction, note_id, by, saying)
        return Done(note_id=note_id, event=event, superseded_by=by)
    if order.verb is Verb.REJECT:
        rejected = reject(transaction, note_id, saying)
        return Done(note_id=note_id, event=rejected.event, others=rejected.others)
    if order.verb is Verb.SET_TIMES:
        event = _set_times(transaction, note_id, order.times, saying)
        return Done(note_id=note_id, event=event)
    if order.verb is Verb.VERIFY:
        event = verify(transaction, note_id, order.oracle, saying)
        return Done(note_id=note_id, event=event)
    return Done(note_id=note_id, event=say(transaction, order.verb, note_id, saying))


def _set_times(transaction: Transaction, note_id: NoteId, times: Times, saying: Saying) -> EventSeq:
    if times == Times():
        raise BadFieldError("valid_from", "no time is given; name at least one that is to be set")
    present = read_present(transaction.connection, note_id)
    proposal = Proposal(verb=Verb.SET_TIMES, note_id=note_id, times=_named(times))
    check_allowed(Verb.SET_TIMES, present, saying.caller, proposal)
    was = present.state
    state = replace(
        was,
        valid_from_ms=_set(times.valid_from, was.valid_from_ms),
        valid_to_ms=_set(times.valid_to, was.valid_to_ms),
        expires_at_ms=_set(times.expires_at, was.expires_at_ms),
    )
    check_times(state.valid_from_ms, state.valid_to_ms, state.expires_at_ms)
    check_takes_nothing_back(transaction, present, state, saying.caller, proposal)
    return record_state(transaction, Verb.SET_TIMES, present, state, saying)


def _named(times: Times) -> dict[str, int | None]:
    given = {
        "valid_from": times.valid_from,
        "valid_to": times.valid_to,
        "expires_at": times.expires_at,
    }
    return {name: time.at_ms for name, time in given.items() if time is not None}


def _set(time: Time | None, was_ms: int | None) -> int | None:
    return was_ms if time is None else time.at_ms


def _reply(transaction: Transaction, done: Done) -> Reply:
    """Return what is remembered of a change: no text, a scope's name being none."""
    present = read_present(transaction.connection, done.note_id)
    state, told = present.state, given_to(transaction, done.event)
    return {
        "id": done.note_id,
        "scope": present.stored.scope,
        "lifecycle": state.lifecycle,
        "trust": state.trust,
        "times": [state.valid_from_ms, state.valid_to_ms, state.expires_at_ms],
        "at": state.known_from_ms,
        "event": done.event,
        "superseded_by": done.superseded_by,
        "others": done.others,
        "given_to": [told.count, list(told.sessions)],
    }


def _changed(reply: Reply) -> Changed:
    valid_from_ms, valid_to_ms, expires_at_ms = reply["times"]
    superseded_by = reply["superseded_by"]
    return Changed(
        id=NoteId(reply["id"]),
        scope=reply["scope"],
        state=NoteState(
            lifecycle=Lifecycle(reply["lifecycle"]),
            trust=Trust(reply["trust"]),
            valid_from_ms=valid_from_ms,
            valid_to_ms=valid_to_ms,
            expires_at_ms=expires_at_ms,
            known_from_ms=reply["at"],
        ),
        event=EventSeq(reply["event"]),
        superseded_by=None if superseded_by is None else NoteId(superseded_by),
        others=reply["others"],
        given_to=given_to_of(reply),
    )
