"""Finds notes by their words, and by runs of letters inside them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graft_memstore.lexical import (
    FoldedQuestion,
    choose_pieces,
    choose_terms,
    match_any,
    match_pieces,
    match_term,
    terms_to_count,
)
from graft_memstore.store.database import Connection
from graft_memstore.store.search import (
    Eligible,
    last_seq,
    search_pieces,
    search_words,
)
from graft_memstore.store.term_counts import count_terms, find_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class WordHits:
    """Notes that share words with a question.

    Attributes:
        words: BM25 over words by the note's seq, best first.
        pieces: BM25 over runs of letters by the note's seq, best first.
        counts: in how many notes each term of the question is found, about.
        notes: how many notes there are at most.
    """

    words: Mapping[int, float]
    pieces: Mapping[int, float]
    counts: Mapping[str, int]
    notes: int


def find_by_words(
    connection: Connection, question: FoldedQuestion, eligible: Eligible, count: int
) -> WordHits:
    """Return at most *count* notes of those that may answer, by each of the two indexes."""
    counts, notes = count_words(connection, question, eligible.without)
    if eligible.scope.walled:
        counts = _known_inside(connection, counts, eligible)
    chosen, common = choose_terms(counts)
    words = _any_of(connection, chosen, eligible, count)
    if not words:
        # In this scope nobody uses the rare words; the common ones may still say something.
        words = _any_of(connection, common, eligible, count)
    pieces = choose_pieces(question, counts)
    return WordHits(
        words=words,
        pieces=search_pieces(connection, match_pieces(pieces), eligible, count) if pieces else {},
        counts=counts,
        notes=notes,
    )


def count_words(
    connection: Connection, question: FoldedQuestion, without: int = 0
) -> tuple[dict[str, int], int]:
    """Return in how many notes each term of the question is found, and how many there are.

    The note whose number is *without* is not counted.
    """
    terms = terms_to_count(question)
    notes = last_seq(connection)
    counted = count_terms(connection, [match_term(term) for term in terms], notes, without)
    return dict(zip(terms, counted, strict=True)), notes


def _known_inside(
    connection: Connection, counts: Mapping[str, int], eligible: Eligible
) -> dict[str, int]:
    """Return *counts* with nothing of words that no note inside the wall holds."""
    inside = replace(eligible, keywords=(), keywords_min=0)
    found = find_terms(connection, [match_term(term) for term in counts], inside)
    return {
        term: count if known else 0
        for (term, count), known in zip(counts.items(), found, strict=True)
    }


def _any_of(
    connection: Connection, terms: list[str], eligible: Eligible, count: int
) -> dict[int, float]:
    return search_words(connection, match_any(terms), eligible, count) if terms else {}
