"""What was erased or rejected since a backup was made, done again in what is restored from it.

Nothing that was removed comes back: a deletion goes by the note's id, a rejection by what it says,
and both are taken from the profile that was there, whatever else became of that.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from graft_memstore.lifecycle import Verb, after
from graft_memstore.model import USER_SCOPE, Caller, NoteId, ScopeFilter
from graft_memstore.store.answers import delete_answers
from graft_memstore.store.database import Connection
from graft_memstore.store.erasures import insert_erasure
from graft_memstore.store.event_pages import EventFilter, read_event_page
from graft_memstore.store.events import END_OF_EVENTS, read_notes_gone
from graft_memstore.store.misses import clear_misses
from graft_memstore.store.notes import read_stored
from graft_memstore.store.tombstones import Tombstone, insert_tombstone, read_binding_after
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import notes_saying
from graft_memstore.write.clear_answers import ACTION_CLEAR_ANALYTICS
from graft_memstore.write.clear_misses import ACTION_CLEAR_MISSES, ERASED_MISSES
from graft_memstore.write.delete import erase
from graft_memstore.write.state_change import Saying, read_present, record_state

PAGE_ROWS = 1_000
WHY_ERASED = "erased since the backup was made"
WHY_REJECTED = "rejected since the backup was made"
EVERYWHERE = ScopeFilter(all=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """How many notes of a backup were erased, and how many rejected."""

    erased: int = 0
    rejected: int = 0


@dataclass(slots=True, kw_only=True)
class Removed:
    """What a profile has erased and rejected.

    Attributes:
        gone: notes that were stored and are not there.
        rejections: that bind.
        misses, answers: whether any were cleared since a backup was made.
    """

    gone: set[NoteId] = field(default_factory=set)
    rejections: list[Tombstone] = field(default_factory=list)
    misses: bool = False
    answers: bool = False


def read_removed(before: Connection, made_at_ms: int, into: Removed) -> None:
    """Add to *into* what a profile of the newest schema has erased and rejected.

    Of one that is damaged it holds what could be read when this raises.

    Args:
        before: reads it.
        made_at_ms: when the backup was made.
        into: gets it.
    """
    into.rejections.extend(_rejections(before))
    into.gone.update(_gone(before))
    into.misses |= _was_done(before, ACTION_CLEAR_MISSES, made_at_ms)
    into.answers |= _was_done(before, ACTION_CLEAR_ANALYTICS, made_at_ms)


def carry_over(transaction: Transaction, removed: Removed, caller: Caller) -> Carried:
    """Erase and reject in a change what was erased and rejected in another profile.

    `Profile.clean` must run after the commit.

    Args:
        transaction: of the profile that is being restored; an event is recorded in it already.
        removed: see `read_removed`.
        caller: who restores.
    """
    erased = 0
    for note_id in sorted(removed.gone):
        stored = read_stored(transaction.connection, note_id)
        if stored is not None:
            erase(transaction, stored, caller, WHY_ERASED)
            erased += 1
    rejected = sum(_reject(transaction, each, caller) for each in removed.rejections)
    if removed.misses:
        groups, _ = clear_misses(transaction.connection, EVERYWHERE)
        if groups:
            insert_erasure(transaction.connection, ERASED_MISSES, transaction.at_ms)
    if removed.answers:
        delete_answers(transaction.connection, EVERYWHERE)
    return Carried(erased=erased, rejected=rejected)


def _gone(before: Connection) -> Iterator[NoteId]:
    seq = 0
    while page := read_notes_gone(before, seq, PAGE_ROWS):
        for each, note_id in page:
            seq = each
            yield note_id


def _rejections(before: Connection) -> Iterator[Tombstone]:
    number = 0
    while page := read_binding_after(before, number, PAGE_ROWS):
        for each, tombstone in page:
            number = each
            yield tombstone


def _reject(transaction: Transaction, tombstone: Tombstone, caller: Caller) -> int:
    """Reject what a tombstone binds; return how many notes that were."""
    insert_tombstone(transaction, tombstone)
    saying = Saying(caller=caller, reason=tombstone.reason or WHY_REJECTED)
    found = notes_saying(
        transaction.connection,
        tombstone.value_hash,
        tombstone.scope,
        every_scope=tombstone.scope == USER_SCOPE,
    )
    for each in found:
        # Whoever rejected it was allowed to, so that it is not asked who restores.
        present = read_present(transaction.connection, each.id)
        record_state(transaction, Verb.REJECT, present, after(Verb.REJECT, present.state), saying)
    return len(found)


def _was_done(before: Connection, action: str, since_ms: int) -> bool:
    wanted = EventFilter(since_ms=since_ms, action=action)
    return bool(read_event_page(before, wanted, before=END_OF_EVENTS, count_max=1))
