"""Does with something that upkeep found what somebody decided, as far as a role may decide it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graft.wire.errors import BadFieldError, WrongStateError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Decision, EventSeq, ItemId, ItemKind, NoteId
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import ReviewItem, decide_item, read_item
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.identify import find_note
from graft_memstore.write.merge import give_all, merge_keyword_of_scope
from graft_memstore.write.proposal import or_propose
from graft_memstore.write.queue import item_not_found
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply
from graft_memstore.write.state_change import Saying, say
from graft_memstore.write.supersede import supersede
from graft_memstore.write.validate import check_reason

ACTION_RESOLVE = "resolve"

_PAIRS = frozenset(
    {
        ItemKind.DUPLICATE,
        ItemKind.SUPERSESSION,
        ItemKind.CONTRADICTION,
        ItemKind.POSSIBLE_CONTRADICTION,
    }
)
_APPROVED: Mapping[ItemKind, Verb] = {
    ItemKind.ISOLATED: Verb.RETIRE,
    ItemKind.NEVER_USED: Verb.RETIRE,
    ItemKind.EXPIRED: Verb.RETIRE,
    ItemKind.CHANGED_SOURCE: Verb.MARK_STALE,
    ItemKind.REMOVED_SOURCE: Verb.MARK_STALE,
}
"""What it means to follow what upkeep proposes about one note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What somebody decided of an item.

    Attributes:
        keep: of a pair that is superseded the note that stays, an id or a piece of one; empty: the
            newer one.
    """

    item_id: int
    decision: Decision
    keep: str
    key: RequestKey
    saying: Saying


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An item after that.

    Attributes:
        event: of the decision.
        change: the event that `graft undo` takes back; 0 where no note's state changed.
        changed: notes that are not what they were.
    """

    item_id: int
    decision: Decision
    event: EventSeq
    change: EventSeq
    changed: tuple[NoteId, ...]


def decisions_of(kind: ItemKind) -> tuple[Decision, ...]:
    """Return what may be decided of a kind of thing without a reviewer."""
    if kind in _PAIRS:
        return (Decision.SUPERSEDE, Decision.KEEP_BOTH)
    if kind in _APPROVED or kind is ItemKind.KEYWORD_VARIANT:
        return (Decision.APPROVE, Decision.KEEP_BOTH)
    return ()


def resolve_item(profile: Profile[Index], resolution: Resolution, wait_seconds: float) -> Resolved:
    """Do what was decided and keep the decision, in one transaction.

    Raises:
        BadFieldError: the reason or the note to keep cannot be taken.
        ItemNotFoundError: there is no such item.
        ProposedError: it was not done, and waits for a reviewer.
        WrongStateError: it was decided before, takes a reviewer or another decision.
        ServiceError: see `say`, `supersede` and `Profile.write`.
    """
    saying = replace(resolution.saying, reason=check_reason(resolution.saying.reason))
    checked = replace(resolution, saying=saying)
    reply = or_propose(
        profile,
        lambda transaction: _resolve(transaction, checked),
        (saying.caller, saying.reason),
        wait_seconds,
    )
    return Resolved(
        item_id=resolution.item_id,
        decision=resolution.decision,
        event=EventSeq(reply["event"]),
        change=EventSeq(reply["change"]),
        changed=tuple(NoteId(each) for each in reply["changed"]),
    )


def _resolve(transaction: Transaction, resolution: Resolution) -> Reply:
    connection = transaction.connection
    earlier = recall_reply(connection, resolution.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    item = _open_item(connection, resolution)
    event = transaction.record(
        EventDraft(
            caller=resolution.saying.caller,
            action=ACTION_RESOLVE,
            note_id=item.note_id,
            content_hash=item.evidence,
            reason=resolution.saying.reason,
        )
    )
    # Before the change: with its notes out of use an open item would be taken for moot.
    decide_item(connection, item.item_id, resolution.decision, event=event, at_ms=transaction.at_ms)
    change, changed = _do(transaction, item, resolution)
    reply = {"event": event, "change": change, "changed": changed}
    remember_reply(connection, resolution.key, reply, transaction.at_ms)
    return reply


def _open_item(connection: Connection, resolution: Resolution) -> ReviewItem:
    item = read_item(connection, ItemId(resolution.item_id))
    if item is None:
        raise item_not_found(resolution.item_id)
    facts = {"item": str(item.item_id), "kind": str(item.kind)}
    if item.decision is not None:
        raise WrongStateError(
            f"item {item.item_id} was decided already: {item.decision}",
            metadata=facts | {"state": str(item.decision)},
        )
    may = decisions_of(item.kind)
    if not may:
        raise WrongStateError(
            f"item {item.item_id} ({item.kind}) takes a reviewer; see: graft review show "
            f"{item.item_id}",
            metadata=facts | {"state": "open"},
        )
    if resolution.decision not in may:
        raise WrongStateError(
            f"item {item.item_id} ({item.kind}) cannot be decided by {resolution.decision}; by "
            f"{' or '.join(may)} it can",
            metadata=facts | {"state": "open"},
        )
    return item


def _do(
    transaction: Transaction, item: ReviewItem, resolution: Resolution
) -> tuple[int, list[NoteId]]:
    saying = resolution.saying
    if resolution.decision is Decision.KEEP_BOTH:
        return 0, []
    if item.kind is ItemKind.KEYWORD_VARIANT:
        variant, keep = str(item.detail["variant"]), str(item.detail["keep"])
        return 0, merge_keyword_of_scope(transaction, item.scope, variant, keep, saying)
    assert item.note_id is not None, "all others are about a note"
    if resolution.decision is Decision.APPROVE:
        return say(transaction, _APPROVED[item.kind], item.note_id, saying), [item.note_id]
    assert item.other_id is not None, "it is of a pair"
    keep, lose = _sides(transaction.connection, item, resolution.keep)
    if item.kind is ItemKind.DUPLICATE:
        give_all(transaction, lose, keep, saying)
    return supersede(transaction, lose, keep, saying), [lose]


def _sides(connection: Connection, item: ReviewItem, keep: str) -> tuple[NoteId, NoteId]:
    """Return the note that stays and the one that goes."""
    older, newer = item.note_id, item.other_id
    assert older is not None, "a pair has two"
    assert newer is not None, "a pair has two"
    if not keep:
        return newer, older
    kept = find_note(connection, keep, "keep")
    if kept not in (older, newer):
        raise BadFieldError("keep", f"note {kept} is none of the two; give {older} or {newer}")
    return (newer, older) if kept == newer else (older, newer)


def titles_of(connection: Connection, item: ReviewItem) -> tuple[str, str]:
    """Return the titles of an item's notes, empty where there is none."""
    stored = [
        None if each is None else read_stored(connection, each)
        for each in (item.note_id, item.other_id)
    ]
    first, second = ("" if each is None else each.title for each in stored)
    return first, second
