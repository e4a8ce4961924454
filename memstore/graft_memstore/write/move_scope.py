"""Moves the notes of one scope to another, in one transaction with an event for each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graft.wire.errors import BadFieldError, WrongStateError
from graft_memstore.lifecycle import REVIEWER, is_protected
from graft_memstore.model import Caller, EventSeq, ScopeFilter
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.scope_moves import (
    Movable,
    copy_rejections,
    count_rejections_to_come,
    move_items,
    move_note,
    read_movable,
)
from graft_memstore.store.states import read_state
from graft_memstore.store.tombstones import find_rejected_words, rejects_words
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_act
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply
from graft_memstore.write.restatement import words_hashes
from graft_memstore.write.state_change import Saying
from graft_memstore.write.validate import check_reason, check_scopes

ACTION_MOVE = "move-scope"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOrder:
    """From which scope to which all notes are to go; *dry_run*: only count them."""

    source: str
    target: str
    key: RequestKey
    saying: Saying
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What moved, or would; see MoveScopeResponse."""

    moved: int
    left: int
    reviewed: int = 0
    duplicates: int
    rejections: int
    event: int = 0


def move_scope(profile: Profile[Index], order: MoveOrder, wait_seconds: float) -> Moved:
    """Do what *order* wants.

    Raises:
        BadFieldError: a scope cannot be, both are one, or there is no reason.
        WrongStateError: no note is there.
        ServiceError: see `Profile.write`.
    """
    check_scopes(ScopeFilter(scopes=(order.source, order.target)))
    if order.source == order.target:
        raise BadFieldError("to", f"{order.target!r} is where the notes are; name another scope")
    if order.dry_run:
        with profile.snapshot() as connection:
            found = _movable(connection, order)
            rejections = count_rejections_to_come(connection, order.source, order.target)
        return _counted(_some(found, order.source), rejections)
    saying = Saying(caller=order.saying.caller, reason=check_reason(order.saying.reason))
    reply = profile.write(lambda transaction: _move(transaction, order, saying), wait_seconds)
    return Moved(**reply)


def _move(transaction: Transaction, order: MoveOrder, saying: Saying) -> Reply:
    connection = transaction.connection
    earlier = recall_reply(connection, order.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    found = _some(_movable(connection, order), order.source)
    # Where it was is nowhere else on record.
    reason = f"{order.source} -> {order.target}: {saying.reason}"
    event = 0
    for each in found:
        if each.refused or each.reviewed:
            continue
        event = _record(transaction, saying.caller, reason, each)
        move_note(connection, each.note_id, order.target)
        # Where it stands now it has other neighbours.
        ask_for_edges(connection, each.note_id)
    rejections = copy_rejections(connection, order.source, order.target)
    move_items(connection, order.source, order.target)
    if rejections and not event:
        event = record_act(transaction, saying.caller, ACTION_MOVE, reason)
    for tombstone_id in rejections:
        transaction.seal_tombstone(tombstone_id)
    counted = _counted(found, len(rejections))
    reply = {
        "moved": counted.moved,
        "left": counted.left,
        "reviewed": counted.reviewed,
        "duplicates": counted.duplicates,
        "rejections": counted.rejections,
        "event": event,
    }
    remember_reply(connection, order.key, reply, transaction.at_ms)
    return reply


def _movable(connection: Connection, order: MoveOrder) -> list[Movable]:
    """Return all notes of a scope, and how each would fare where it is to go."""
    found = read_movable(connection, order.source, order.target)
    if order.saying.caller.actor != REVIEWER:
        # Where nobody looks it would be as good as retired.
        found = [replace(each, reviewed=_is_reviewed(connection, each)) for each in found]
    if not rejects_words(connection, order.target):
        return found
    return [
        replace(each, refused=True)
        if each.shown and not each.refused and _restates(connection, each, order.target)
        else each
        for each in found
    ]


def _is_reviewed(connection: Connection, note: Movable) -> bool:
    state = read_state(connection, note.note_id)
    return state is not None and is_protected(state)


def _restates(connection: Connection, note: Movable, scope: str) -> bool:
    """Tell whether an insert of a note into *scope* would be held for its words.

    What was rejected for every scope bound the note where it was, and somebody let it pass there.
    """
    stored = read_stored(connection, note.note_id)
    assert stored is not None, "it was read a moment ago"
    found = (
        find_rejected_words(connection, words, scope)
        for words in words_hashes(stored.title, stored.body)
    )
    return any(each is not None and each.scope == scope for each in found)


def _record(transaction: Transaction, caller: Caller, reason: str, note: Movable) -> EventSeq:
    """Record that a note was moved."""
    return transaction.record(
        EventDraft(
            caller=caller,
            action=ACTION_MOVE,
            note_id=note.note_id,
            content_hash=note.content_hash,
            reason=reason,
        )
    )


def _some(found: Sequence[Movable], source: str) -> Sequence[Movable]:
    if not found:
        raise WrongStateError(
            f"no note is in the scope {source!r}; see: graft scope list",
            metadata={"state": "empty"},
        )
    return found


def _counted(found: Sequence[Movable], rejections: int) -> Moved:
    reviewed = sum(each.reviewed for each in found)
    moving = [each for each in found if not each.refused and not each.reviewed]
    return Moved(
        moved=len(moving),
        left=len(found) - len(moving) - reviewed,
        reviewed=reviewed,
        duplicates=sum(each.repeated for each in moving),
        rejections=rejections,
    )
