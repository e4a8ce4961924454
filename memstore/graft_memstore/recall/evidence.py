"""What a note's words say to a question's: how much of it they cover, how alike the titles are."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graft_memstore.lexical import FoldedQuestion, rarity, trigrams, words_of
from graft_memstore.store.search import FoldedText

STEM_CHARS_MIN = 5
"""Shorter words are compared whole."""
STEM_SHARE = 0.75
"""Longer ones agree when they begin with the same three quarters, as inflected forms do."""
PREFIX_CHARS = 4
"""Words are looked up by their beginnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordEvidence:
    """How a note's words answer a question's.

    Attributes:
        coverage: share of the question's words that the note has, rare words counting more.
        named: identifiers and numbers that both have.
        covered: words of the question that the note has, of those that tell anything.
        telling: words of the question that tell anything.
        title_trigrams: overlap of title and question in three-letter runs, 0 to 1.
    """

    coverage: float
    named: tuple[str, ...]
    covered: int
    telling: int
    title_trigrams: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedQuestion:
    """A question whose words have been weighed by the store.

    Attributes:
        weights: how rare each word and pair is; above 0.
        prefixes: beginnings of those words that may be there in another form.
        trigrams: its three-letter runs.
    """

    folded: FoldedQuestion
    weights: Mapping[str, float]
    prefixes: frozenset[str]
    trigrams: frozenset[str]


def weigh(question: FoldedQuestion, counts: Mapping[str, int], notes: int) -> WeighedQuestion:
    """Weigh a question's single words by how many of *notes* hold them."""
    single = [term for term in counts if term not in question.wholes or term in question.words]
    return WeighedQuestion(
        folded=question,
        weights={term: rarity(term, counts[term], notes) for term in single},
        prefixes=frozenset(term[:PREFIX_CHARS] for term in single if _inflects(term)),
        trigrams=trigrams(question.text),
    )


def compare_words(question: WeighedQuestion, note: FoldedText) -> WordEvidence:
    """Return what the words of *note* say to *question*."""
    held = _HeldWords(note, question.prefixes)
    covered = {term for term in question.weights if held.has(term)}
    total = sum(question.weights.values())
    texts = (note.title, note.keywords, note.body)
    named = tuple(
        sorted(
            name
            for name in question.folded.named
            if held.has_exactly(name) or any(name in text for text in texts)
        )
    )
    return WordEvidence(
        coverage=sum(question.weights[term] for term in covered) / total if total else 0.0,
        named=named,
        covered=len(covered),
        telling=len(question.weights),
        title_trigrams=_overlap(question.trigrams, trigrams(note.title)),
    )


class _HeldWords:
    """The words of a note, found by themselves or by another form of them."""

    def __init__(self, note: FoldedText, prefixes: frozenset[str]) -> None:
        self._words = frozenset(_all_words(note))
        self._by_prefix: dict[str, list[str]] = {}
        for word in self._words:
            if word[:PREFIX_CHARS] in prefixes:
                self._by_prefix.setdefault(word[:PREFIX_CHARS], []).append(word)

    def has_exactly(self, word: str) -> bool:
        return word in self._words

    def has(self, word: str) -> bool:
        if word in self._words:
            return True
        return _inflects(word) and any(
            _same_stem(word, other) for other in self._by_prefix.get(word[:PREFIX_CHARS], ())
        )


def _all_words(note: FoldedText) -> Iterable[str]:
    for text in (note.title, note.keywords, note.body, note.cjk):
        yield from words_of(text)


def _inflects(word: str) -> bool:
    return len(word) >= STEM_CHARS_MIN and word.isalpha()


def _same_stem(left: str, right: str) -> bool:
    longest = max(len(left), len(right))
    stem = max(PREFIX_CHARS, math.ceil(longest * STEM_SHARE))
    return left[:stem] == right[:stem]


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return twice the common runs over all runs: 1 for equal texts, 0 for strangers."""
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))
