"""What a note's words say to a question's: how much of it they cover, how alike the titles are."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from graft_memstore.contrast import (
    differing_names,
    missing_names,
    opposite_words,
    other_numbers,
)
from graft_memstore.lexical import (
    FUNCTION_WORDS,
    FoldedQuestion,
    rarity,
    telling,
    trigrams,
    words_of,
)
from graft_memstore.store.folded import FoldedText

STEM_CHARS_MIN = 5
"""Shorter words are compared whole."""
STEM_SHARE = 0.75
"""Longer ones agree when they begin with the same three quarters, as inflected forms do."""
PREFIX_CHARS = 4
"""Words are looked up by their beginnings."""
STRETCH_SENTENCES = 2
"""So many sentences in a row of a note are one place that may answer."""
STRETCH_SENTENCES_MAX = 256
"""Sentences of a long note that are looked at."""
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordEvidence:
    """How a note's words answer a question's.

    Attributes:
        coverage: share of the question's words that the note has, rare words counting more.
        stretch: the same of the best place in the note: its title, or sentences in a row.
        shared: rarity of all the question's words that the note has, summed.
        missing: share of the question's words that other notes have and this one has not.
        missing_rarest: rarity of the rarest of these.
        missing_words: these words, rarest first, without those that only hold a sentence together.
        uncovered_rarest: rarity of the rarest word of the question that the note has not, whether
            other notes have it or not.
        differing: names with digits where the note has others of the same make; in its title.
        unnamed: names with digits that the note lacks.
        renumbered: what has a number in the question and other ones in the note.
        opposite: words whose opposite the note has.
        named: identifiers and numbers that both have.
        covered: words of the question that the note has, of those that tell anything.
        telling: words of the question that tell anything.
        title_coverage: share of the title's words that the question has, telling ones counting
            more.
        title_trigrams: overlap of title and question in three-letter runs, 0 to 1.
    """

    coverage: float
    stretch: float
    shared: float
    missing: float
    missing_rarest: float
    missing_words: tuple[str, ...]
    uncovered_rarest: float
    differing: tuple[str, ...]
    unnamed: tuple[str, ...]
    renumbered: tuple[str, ...]
    opposite: tuple[str, ...]
    named: tuple[str, ...]
    covered: int
    telling: int
    title_coverage: float
    title_trigrams: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedQuestion:
    """A question whose words have been weighed by the store.

    Attributes:
        weights: how rare each word and pair is; above 0.
        known: those that some note holds.
        prefixes: beginnings of those words that may be there in another form.
        trigrams: its three-letter runs.
    """

    folded: FoldedQuestion
    weights: Mapping[str, float]
    known: frozenset[str]
    prefixes: frozenset[str]
    trigrams: frozenset[str]


def weigh(question: FoldedQuestion, counts: Mapping[str, int], notes: int) -> WeighedQuestion:
    """Weigh a question's single words by how many of *notes* hold them."""
    single = [term for term in counts if term not in question.wholes or term in question.words]
    return WeighedQuestion(
        folded=question,
        weights={term: rarity(term, counts[term], notes) for term in single},
        known=frozenset(term for term in single if counts[term] > 0),
        prefixes=frozenset(term[:PREFIX_CHARS] for term in single if _inflects(term)),
        trigrams=trigrams(question.text),
    )


def compare_words(question: WeighedQuestion, note: FoldedText) -> WordEvidence:
    """Return what the words of *note* say to *question*."""
    words = _words_by_place(note)
    held = _HeldWords(
        frozenset().union(words.title, words.elsewhere, *words.sentences), question.prefixes
    )
    forms = {term: found for term in question.weights if (found := held.forms_of(term))}
    covered = frozenset(forms)
    missing = sorted(question.known - covered, key=lambda term: (-question.weights[term], term))
    total = sum(question.weights.values())
    shared = _weight_of(question, covered)
    text = f"{note.title}\n{note.keywords}\n{note.body}"
    return WordEvidence(
        coverage=shared / total if total else 0.0,
        stretch=_best_stretch(question, words, forms) / total if total else 0.0,
        shared=shared,
        missing=sum(question.weights[term] for term in missing) / total if total else 0.0,
        missing_rarest=question.weights[missing[0]] if missing else 0.0,
        missing_words=tuple(term for term in missing if term not in FUNCTION_WORDS),
        uncovered_rarest=max(
            (weight for term, weight in question.weights.items() if term not in covered),
            default=0.0,
        ),
        differing=differing_names(question.folded.text, note.title),
        unnamed=missing_names(question.folded.text, text),
        renumbered=other_numbers(question.folded.text, text),
        opposite=opposite_words(question.folded.text, text),
        named=tuple(
            sorted(name for name in question.folded.named if held.has_exactly(name) or name in text)
        ),
        covered=len(covered),
        telling=len(question.weights),
        title_coverage=_title_coverage(question, note.title),
        title_trigrams=_overlap(question.trigrams, trigrams(note.title)),
    )


def _weight_of(question: WeighedQuestion, terms: frozenset[str]) -> float:
    # Added up in the question's order: a set has another one in every process.
    return sum(weight for term, weight in question.weights.items() if term in terms)


def _title_coverage(question: WeighedQuestion, title: str) -> float:
    # How common a title's words are in the store was not looked up: only the question's were.
    weights = {word: telling(word) for word in words_of(title)}
    prefixes = frozenset(word[:PREFIX_CHARS] for word in weights if _inflects(word))
    asked = _HeldWords(frozenset(words_of(question.folded.text)), prefixes)
    total = sum(weights.values())
    found = sum(weights[word] for word in weights if asked.forms_of(word))
    return found / total if total else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordsByPlace:
    """The words of a note by where they stand: title, first sentences, everything else."""

    title: frozenset[str]
    sentences: list[frozenset[str]]
    elsewhere: frozenset[str]


def _words_by_place(note: FoldedText) -> _WordsByPlace:
    sentences = [each for each in _SENTENCE_END.split(note.body) if each.strip()]
    others = (note.keywords, note.cjk, *sentences[STRETCH_SENTENCES_MAX:])
    return _WordsByPlace(
        title=frozenset(words_of(note.title)),
        sentences=[frozenset(words_of(each)) for each in sentences[:STRETCH_SENTENCES_MAX]],
        elsewhere=frozenset(word for text in others for word in words_of(text)),
    )


def _best_stretch(
    question: WeighedQuestion, words: _WordsByPlace, forms: Mapping[str, frozenset[str]]
) -> float:
    """Return the most rarity of the question's words that stands close together in the note.

    *forms* are the words of the note that each covered word of the question is there as.
    """
    title, *covered = (
        frozenset(term for term, found in forms.items() if not found.isdisjoint(place))
        for place in (words.title, *words.sentences)
    )
    stretches = [
        frozenset[str]().union(*covered[start : start + STRETCH_SENTENCES])
        for start in range(len(covered))
    ]
    return max(_weight_of(question, each) for each in (title, *stretches))


class _HeldWords:
    """Words of a text, found by themselves or by another form of them."""

    def __init__(self, words: frozenset[str], prefixes: frozenset[str]) -> None:
        self._words = words
        self._by_prefix: dict[str, list[str]] = {}
        for word in words:
            if word[:PREFIX_CHARS] in prefixes:
                self._by_prefix.setdefault(word[:PREFIX_CHARS], []).append(word)

    def has_exactly(self, word: str) -> bool:
        return word in self._words

    def forms_of(self, word: str) -> frozenset[str]:
        """Return *word* and its other forms, as far as they are there."""
        found = {word} & self._words
        if _inflects(word):
            others = self._by_prefix.get(word[:PREFIX_CHARS], ())
            found |= {other for other in others if _same_stem(word, other)}
        return frozenset(found)


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
