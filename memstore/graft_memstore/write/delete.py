"""Takes a note away: erased where its caller may erase, else retired."""

from dataclasses import dataclass
from enum import StrEnum

from graft_memstore.lifecycle import Verb, is_person
from graft_memstore.model import Caller, EventSeq, NoteId, StoredNote
from graft_memstore.store.erasures import insert_erasure, is_erasing
from graft_memstore.store.fts import delete_words
from graft_memstore.store.keywords import delete_unused as delete_unused_keywords
from graft_memstore.store.keywords import read_keyword_ids
from graft_memstore.store.notes import delete_note, read_stored
from graft_memstore.store.notices import NOBODY, GivenTo
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.sealed_rows import read_predecessors
from graft_memstore.store.sources import delete_unused as delete_unused_sources
from graft_memstore.store.sources import read_source_ids
from graft_memstore.store.successors import bridge
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.upkeep_reads import forget_unknown_keywords
from graft_memstore.store.vectors import delete_chunks_of_note
from graft_memstore.store.writer import WRITE_WAIT_SECONDS
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.identify import find_note
from graft_memstore.write.notices import given_to, tell_erased
from graft_memstore.write.proposal import or_propose
from graft_memstore.write.receipts import (
    Reply,
    RequestKey,
    given_to_of,
    recall_reply,
    remember_reply,
)
from graft_memstore.write.state_change import Saying, read_present, say
from graft_memstore.write.validate import check_reason

ACTION_DELETE = "delete"
ACTION_REJOIN = "rejoin"


class DeleteOutcome(StrEnum):
    """How a note was taken away."""

    ERASED = "erased"
    ERASING = "erasing"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOrder:
    """What somebody wants gone, and why.

    Attributes:
        has_reviewer: whether a reviewer has been set up, who alone erases then.
    """

    piece: str
    reason: str
    key: RequestKey
    caller: Caller
    has_reviewer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReply:
    """How it went, and the event that recorded it."""

    id: NoteId
    outcome: DeleteOutcome
    event: EventSeq
    given_to: GivenTo = NOBODY


def take_away(
    profile: Profile[Index], order: DeleteOrder, wait_seconds: float = WRITE_WAIT_SECONDS
) -> DeleteReply:
    """Erase or retire a note, as the caller's door allows.

    Raises:
        BadFieldError: the id or the reason cannot be taken.
        AmbiguousIdError, NoteNotFoundError: see `find_note`.
        WrongStateError: it would be retired, and is not active.
        ProposedError: it would be retired, and a reviewer verified it.
        RequestIdReusedError: the request_id belongs to another request.
        ServiceError: see `Profile.write`.
    """
    reason = check_reason(order.reason)
    reply = or_propose(
        profile,
        lambda transaction: _take_away(transaction, order, reason),
        (order.caller, reason),
        wait_seconds,
    )
    note_id = NoteId(reply["id"])
    if reply["retired"]:
        return DeleteReply(
            id=note_id,
            outcome=DeleteOutcome.RETIRED,
            event=EventSeq(reply["event"]),
            given_to=given_to_of(reply),
        )
    with profile.snapshot() as connection:
        waits = is_erasing(connection, note_id)
    # The snapshot above is closed: a reader would hold up the checkpoint.
    clean = not waits or profile.clean()
    outcome = DeleteOutcome.ERASED if clean else DeleteOutcome.ERASING
    return DeleteReply(
        id=note_id,
        outcome=outcome,
        event=EventSeq(reply["event"]),
        given_to=given_to_of(reply),
    )


def _take_away(transaction: Transaction, order: DeleteOrder, reason: str) -> Reply:
    connection = transaction.connection
    earlier = recall_reply(connection, order.key, transaction.at_ms)
    if earlier is not None:
        return earlier
    note_id = find_note(connection, order.piece)
    erases = is_person(order.caller, has_reviewer=order.has_reviewer)
    if erases:
        stored = read_present(connection, note_id).stored
        event = erase(transaction, stored, order.caller, reason)
    else:
        saying = Saying(caller=order.caller, reason=reason)
        event = say(transaction, Verb.RETIRE, note_id, saying)
    told = given_to(transaction, event)
    given = [told.count, list(told.sessions)]
    reply = {"id": note_id, "event": event, "retired": not erases, "given_to": given}
    remember_reply(connection, order.key, reply, transaction.at_ms)
    return reply


def erase(
    transaction: Transaction,
    stored: StoredNote,
    caller: Caller,
    reason: str,
    action: str = ACTION_DELETE,
) -> EventSeq:
    """Erase a note with everything that hangs on it; return the event, which stays.

    `Profile.clean` must run after the commit: the words are in the file's log until then.
    """
    connection = transaction.connection
    event = record_on_note(transaction, caller, action, stored, reason)
    keyword_ids = read_keyword_ids(connection, stored.id)
    source_ids = read_source_ids(connection, stored.id)
    bridge(connection, stored.id)
    replaced = read_predecessors(connection, stored.id)
    # Bits and words are in tables that know no foreign keys, so they go first.
    delete_chunks_of_note(connection, stored.id)
    delete_words(connection, stored.seq)
    delete_note(connection, stored.id)
    delete_unused_keywords(connection, keyword_ids)
    delete_unused_sources(connection, source_ids)
    forget_unknown_keywords(connection)
    insert_erasure(connection, stored.id, transaction.at_ms)
    tell_erased(transaction, stored.id, event)
    for note_id in replaced:
        _record_rejoined(transaction, note_id, caller, f"what replaced it, {stored.id}, was erased")
    return event


def _record_rejoined(
    transaction: Transaction, note_id: NoteId, caller: Caller, reason: str
) -> None:
    """Record that what replaced a note, now or once, has gone, and with it that it did."""
    stored = read_stored(transaction.connection, note_id)
    assert stored is not None, "it was replaced by a note a moment ago"
    record_on_note(transaction, caller, ACTION_REJOIN, stored, reason)
