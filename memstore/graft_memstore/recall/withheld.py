"""Finds the notes that were kept from being candidates by their state alone."""

import numpy as np

from graft_memstore.lexical import (
    choose_pieces,
    choose_terms,
    fold_question,
    match_any,
    match_pieces,
)
from graft_memstore.model import Condition, NoteId
from graft_memstore.recall.answer import Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.receipt import Withheld
from graft_memstore.recall.signature_arm import HOLDERS_MAX, best_holders
from graft_memstore.recall.words_arm import count_words
from graft_memstore.store.database import Connection
from graft_memstore.store.vectors import nearest_bits
from graft_memstore.store.withheld import (
    any_hidden,
    newer_chunk_ids,
    notes_by_digests,
    notes_by_pieces,
    notes_by_words,
    vectors_by_id,
)
from graft_memstore.visibility import View

PLACES = 16
"""Best notes of each arm among which a hidden one counts as withheld."""
BITS_LOOKED_AT = 256
"""Nearest rows by their signs that are scored while there is no index in memory."""
NEWER_LOOKED_AT = 256
"""Rows above the index's mark that are scored as well."""
WITHHELD_MAX = 16
"""Notes that a receipt names as withheld."""


def find_withheld(
    connection: Connection, index: VectorIndex | None, question: Question
) -> tuple[Withheld, ...]:
    """Return hidden notes of the asked scopes that an arm would have put among its `PLACES` best.

    It costs about as much as asking all arms anew, so it is no part of an answer.
    """
    asked = question.every_note
    if not any_hidden(connection, asked):
        return ()
    found = dict(_by_words(connection, question, asked))
    if question.said.signatures:
        found |= _by_signature(connection, question, asked)
    if index is not None and question.vector is not None:
        found |= _by_vector(connection, index, question, asked)
    hidden = [
        Withheld(note_id=note_id, condition=condition)
        for note_id, condition in found.items()
        if condition is not Condition.SHOWN
    ]
    return tuple(hidden[:WITHHELD_MAX])


def _by_words(
    connection: Connection, question: Question, asked: View
) -> list[tuple[NoteId, Condition]]:
    folded = fold_question(question.said.focus)
    counts, _ = count_words(connection, folded)
    chosen, common = choose_terms(counts)
    found = []
    if chosen or common:
        found += notes_by_words(connection, match_any(chosen or common), asked, PLACES)
    pieces = choose_pieces(folded, counts)
    if pieces:
        found += notes_by_pieces(connection, match_pieces(pieces), asked, PLACES)
    return found


def _by_signature(
    connection: Connection, question: Question, asked: View
) -> dict[NoteId, Condition]:
    signatures = question.said.signatures
    digests = [each.digest for each in signatures]
    holders = notes_by_digests(connection, digests, asked, HOLDERS_MAX)
    return dict(holders.notes[seq] for seq in best_holders(signatures, holders.held, PLACES))


def _by_vector(
    connection: Connection, index: VectorIndex, question: Question, asked: View
) -> dict[NoteId, Condition]:
    """Return the nearest notes: proposed by the index or the signs, then scored exactly."""
    vector = question.vector
    assert vector is not None, "the caller has looked"
    view = index.view
    if view is None:
        chunk_ids = nearest_bits(connection, index.model_id, vector, BITS_LOOKED_AT)
    else:
        scopes = None if question.scope.all else question.scope.scopes
        chunk_ids = [
            *view.propose(vector, PLACES, scopes=scopes).chunk_ids,
            *newer_chunk_ids(connection, index.model_id, view.mark, NEWER_LOOKED_AT),
        ]
    near = vectors_by_id(connection, index.model_id, chunk_ids, asked)
    if not near.notes:
        return {}
    order = np.argsort(-(near.vectors @ vector), kind="stable")
    best: dict[NoteId, Condition] = {}
    for place in order.tolist():
        note_id, condition = near.notes[place]
        best.setdefault(note_id, condition)
        if len(best) == PLACES:
            break
    return best
