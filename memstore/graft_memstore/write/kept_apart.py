"""What somebody took apart again stays apart: a judgement that upkeep asks for before it joins.

It stands in the queue as one of a person's, kept under the evidence that a scan would find.
"""

from graft_memstore.keyword_variants import find_variants
from graft_memstore.model import Decision, EventSeq, ItemKind, NoteId, StoredNote
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import read_stored
from graft_memstore.store.review_items import NewItem, evidence_of, find_item, judge_item
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
    older, newer = _by_age(one, other)
    item = NewItem(
        kind=ItemKind.DUPLICATE,
        evidence=_pair(one, other),
        note_id=older.id,
        other_id=newer.id,
        measure=1.0,
        detail={"differs": "spelling"},
    )
    judge_item(connection, item, Decision.KEEP_BOTH, event=event, at_ms=transaction.at_ms)


def keep_keyword(
    transaction: Transaction, scope: str, keyword: str, others: frozenset[str], event: EventSeq
) -> None:
    """Keep a keyword of a scope beside that of *others* of which it is a variant."""
    counts = dict.fromkeys(others, 1) | {keyword: 0}
    for variant in find_variants(counts):
        if variant.variant != keyword:
            continue
        item = NewItem(
            kind=ItemKind.KEYWORD_VARIANT,
            evidence=_variant(scope, keyword, variant.keep),
            scope=scope,
            detail={"variant": keyword, "keep": variant.keep, "differs": variant.likeness},
        )
        judge_item(
            transaction.connection,
            item,
            Decision.KEEP_BOTH,
            event=event,
            at_ms=transaction.at_ms,
        )


def are_notes_apart(connection: Connection, one: StoredNote, other: StoredNote) -> bool:
    """Tell whether two notes were judged to stay two."""
    return _is_apart(connection, ItemKind.DUPLICATE, _pair(one, other))


def are_keywords_apart(connection: Connection, scope: str, one: str, other: str) -> bool:
    """Tell whether two keywords of a scope were judged to stay two, whichever was the variant."""
    return any(
        _is_apart(connection, ItemKind.KEYWORD_VARIANT, _variant(scope, *pair))
        for pair in ((one, other), (other, one))
    )


def _is_apart(connection: Connection, kind: ItemKind, evidence: bytes) -> bool:
    known = find_item(connection, kind, evidence)
    return known is not None and known.decision in _APART


def _pair(one: StoredNote, other: StoredNote) -> bytes:
    older, newer = _by_age(one, other)
    return evidence_of(
        ItemKind.DUPLICATE, older.id, older.content_hash, newer.id, newer.content_hash
    )


def _by_age(one: StoredNote, other: StoredNote) -> tuple[StoredNote, StoredNote]:
    older, newer = sorted((one, other), key=lambda each: (each.recorded_at_ms, each.seq))
    return older, newer


def _variant(scope: str, variant: str, keep: str) -> bytes:
    return evidence_of(ItemKind.KEYWORD_VARIANT, scope, variant, keep)
