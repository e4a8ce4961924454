"""What somebody took apart again stays apart: a judgement that upkeep asks for before it joins.

It stands in the queue as one of a person's, as the candidate that a scan would find.
"""

from graft_memstore.candidates import Candidate, by_age, pair_candidate, variant_candidate
from graft_memstore.keyword_variants import Likeness, Variant, find_variants
from graft_memstore.model import Decision, EventSeq, ItemKind, NoteId, StoredNote
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import read_stored
from graft_memstore.store.review_items import evidence_for, find_item, item_for, judge_item
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import value_of

_APART = frozenset({Decision.KEEP_BOTH, Decision.REJECT})


def keep_notes_apart(
    transaction: Transaction, one: StoredNote, other_id: NoteId | None, event: EventSeq
) -> None:
    """Keep a note and the one that had replaced it apart where they say the very same.

    Of others upkeep joins none by itself, nor can it one that has been erased.
    """
    connection = transaction.connection
    other = None if other_id is None else read_stored(connection, other_id)
    if other is None or value_of(connection, one.id) != value_of(connection, other.id):
        return
    _keep(transaction, _same(one, other), event)


def keep_keyword(
    transaction: Transaction, scope: str, keyword: str, others: frozenset[str], event: EventSeq
) -> None:
    """Keep a keyword of a scope beside that of *others* of which it is a variant."""
    counts = dict.fromkeys(others, 1) | {keyword: 0}
    for variant in find_variants(counts):
        if variant.variant == keyword:
            # One note carries it again; how many others do makes no difference here.
            _keep(transaction, variant_candidate(scope, variant, 1), event)


def are_notes_apart(connection: Connection, one: StoredNote, other: StoredNote) -> bool:
    """Tell whether two notes were judged to stay two."""
    return _is_apart(connection, _same(one, other))


def are_keywords_apart(connection: Connection, scope: str, one: str, other: str) -> bool:
    """Tell whether two keywords of a scope were judged to stay two, whichever was the variant."""
    pairs = (
        Variant(variant=variant, keep=keep, likeness=Likeness.SPELLING)
        for variant, keep in ((one, other), (other, one))
    )
    return any(_is_apart(connection, variant_candidate(scope, pair, 0)) for pair in pairs)


def _keep(transaction: Transaction, candidate: Candidate, event: EventSeq) -> None:
    judge_item(
        transaction.connection,
        item_for(candidate),
        Decision.KEEP_BOTH,
        event=event,
        at_ms=transaction.at_ms,
    )


def _is_apart(connection: Connection, candidate: Candidate) -> bool:
    known = find_item(connection, candidate.kind, evidence_for(candidate))
    return known is not None and known.decision in _APART


def _same(one: StoredNote, other: StoredNote) -> Candidate:
    """Return what is asked about two notes that say the very same."""
    older, newer = by_age(one, other)
    return pair_candidate(ItemKind.DUPLICATE, older, newer, 1.0, "spelling")
