"""Makes one of what is twice there: notes that say the very same, keywords that are spelled alike.

Nothing is lost: what the one note has goes to the other, and a keyword is replaced by the one that
stands for it. Each is one transaction with its events.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.lifecycle import Verb, allows
from graft_memstore.model import EventSeq, NoteId, ScopeFilter, Trust
from graft_memstore.store.applies import read_applies_to
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.keyword_edits import KeywordEdit, carried_keywords, record_edit
from graft_memstore.store.keywords import add_keywords, keyword_ids, read_keywords
from graft_memstore.store.sources import copy_sources
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.upkeep_reads import carriers_of
from graft_memstore.visibility import View
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.fold_again import fold_again
from graft_memstore.write.kept_apart import are_notes_apart
from graft_memstore.write.state_change import Present, Saying, read_present
from graft_memstore.write.supersede import supersede

ACTION_MERGE_NOTE = "merge-note"
ACTION_MERGE_KEYWORD = "merge-keyword"
CARRIERS_MAX = 200
"""Notes whose keyword is replaced in one go."""
_MERGED_TRUSTS = (Trust.VERIFIED, Trust.OBSERVED, Trust.CANDIDATE)
"""Trusts of notes that may be merged without asking, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Notes that are to become one."""

    keeper: NoteId
    losers: tuple[NoteId, ...]


def plan_merge(connection: Connection, note_ids: Sequence[NoteId]) -> Merge | None:
    """Return which of notes that say the same stays, and which may go into it; None: none may.

    The most trusted stays, then the oldest. A note that somebody doubts, that was verified, or
    that holds at another time, of another thing or in another way says something of its own, and
    one that was taken out of the other again stays beside it.
    """
    present = [read_present(connection, note_id) for note_id in note_ids]
    believed = [each for each in present if each.state.trust in _MERGED_TRUSTS]
    if not believed:
        return None
    keeper, *others = sorted(
        believed, key=lambda each: (_MERGED_TRUSTS.index(each.state.trust), each.stored.seq)
    )
    losers = tuple(each.id for each in others if _adds_nothing(connection, each, keeper))
    return Merge(keeper=keeper.id, losers=losers) if losers else None


def _adds_nothing(connection: Connection, loser: Present, keeper: Present) -> bool:
    was, stays = loser.state, keeper.state
    same_times = (was.valid_from_ms, was.valid_to_ms, was.expires_at_ms) == (
        stays.valid_from_ms,
        stays.valid_to_ms,
        stays.expires_at_ms,
    )
    applies = read_applies_to(connection, [loser.id, keeper.id])
    return (
        same_times
        and was.trust is not Trust.VERIFIED
        and loser.stored.kind == keeper.stored.kind
        and loser.stored.scope == keeper.stored.scope
        and applies.get(loser.id, ()) == applies.get(keeper.id, ())
        and allows(Verb.SUPERSEDE, was)
        and not are_notes_apart(connection, loser.stored, keeper.stored)
    )


def merge_notes(transaction: Transaction, merge: Merge, saying: Saying) -> list[EventSeq]:
    """Let a note take the place of others that say the same; return the events.

    Raises:
        ServiceError: see `supersede`.
    """
    events = [give_all(transaction, loser, merge.keeper, saying) for loser in merge.losers]
    return events + [supersede(transaction, loser, merge.keeper, saying) for loser in merge.losers]


def give_all(
    transaction: Transaction, giver_id: NoteId, taker_id: NoteId, saying: Saying
) -> EventSeq:
    """Give a note the keywords and sources of another, and record it."""
    connection = transaction.connection
    keywords = read_keywords(connection, [giver_id]).get(giver_id, ())
    added = add_keywords(connection, taker_id, keywords, transaction.at_ms, origin="merged")
    copy_sources(connection, giver_id, taker_id, transaction.at_ms)
    if added:
        fold_again(connection, taker_id)
        ask_for_edges(connection, taker_id)
    return _record(transaction, ACTION_MERGE_NOTE, taker_id, saying)


def merge_keyword(
    transaction: Transaction, note_ids: Sequence[NoteId], variant: str, keep: str, saying: Saying
) -> list[EventSeq]:
    """Let notes that carry *variant* carry *keep* instead; return the event of each."""
    connection = transaction.connection
    events: list[EventSeq] = []
    for note_id in note_ids:
        carried = carried_keywords(connection, note_id)
        if variant not in carried:
            continue
        event = _record(transaction, ACTION_MERGE_KEYWORD, note_id, saying)
        edit = KeywordEdit(
            event=event,
            note_id=note_id,
            added=() if keep in carried else keyword_ids(connection, [keep]),
            removed=(carried[variant],),
        )
        record_edit(connection, edit, transaction.at_ms, origin="merged")
        fold_again(connection, note_id)
        ask_for_edges(connection, note_id)
        events.append(event)
    return events


def merge_keyword_of_scope(
    transaction: Transaction, scope: str, variant: str, keep: str, saying: Saying
) -> list[NoteId]:
    """Let all notes of a scope that searches show and that carry *variant* carry *keep* instead.

    Return the notes.
    """
    view = View(scope=ScopeFilter(scopes=(scope,)), now_ms=transaction.at_ms)
    changed: list[NoteId] = []
    while carriers := carriers_of(transaction.connection, variant, view, CARRIERS_MAX):
        merge_keyword(transaction, carriers, variant, keep, saying)
        changed += carriers
    return changed


def _record(transaction: Transaction, action: str, note_id: NoteId, saying: Saying) -> EventSeq:
    stored = read_present(transaction.connection, note_id).stored
    return record_on_note(transaction, saying.caller, action, stored, saying.reason)
