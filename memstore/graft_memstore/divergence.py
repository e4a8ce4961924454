"""In what two notes about one thing differ: one denies the other, or says another value.

Compared are sentences that are made of nearly the same words. A negation counts by what it negates:
"not for jobs" denies nothing of a note that never speaks of jobs. Everything is folded text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graft_memstore.contrast import opposite_words
from graft_memstore.lexical import CJK_RUN, FUNCTION_WORDS, fold
from graft_memstore.polarity import (
    NEGATIONS,
    opposite_of,
    spread_negations,
    stem,
)

SENTENCES_MAX = 12
"""Sentences of one note that are compared, its title first."""
CHARS_MAX = 4_000
"""Characters of a body that are read for them."""
OVERLAP_MIN = 0.6
"""Share of common words from which two sentences are about one thing."""
OVERLAP_SURE = 0.85
"""From here on they say the same but for what they differ in."""
NEGATED_WORDS_MAX = 3
"""Words behind a negation that it may be about."""

_SENTENCE = re.compile(r"[.!?](?=\s|$)|[\u3002\uff01\uff1f\n]")
_CLAUSE = re.compile(r"[,;:()\u3001\uff0c\uff1b\uff1a]|\s[-\u2013\u2014]\s")
_TOKEN = re.compile(r"[^\W_]+(?:[.\-/][^\W_]+)*")
_VALUE = re.compile(r"v?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?")
_HAS_DIGIT = re.compile(r"\d")


class Difference(StrEnum):
    """What two sentences differ in."""

    NEGATION = "negation"
    OPPOSITE = "opposite"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, as it is compared.

    Attributes:
        text: folded.
        words: stems of what it is about, without negations and values.
        negated: those of them that a negation is about.
        values: numbers and versions that stand alone.
        names: other words with digits, which name one thing and no other.
    """

    text: str
    words: frozenset[str]
    negated: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """How two notes differ, and how much of the two sentences is the same: 0 to 1."""

    difference: Difference
    overlap: float


def sentences_of(title: str, body: str) -> tuple[Sentence, ...]:
    """Return the sentences of a note that are compared, its title first."""
    found = [_sentence(title)]
    for piece in _SENTENCE.split(body[:CHARS_MAX]):
        if len(found) == SENTENCES_MAX:
            break
        sentence = _sentence(piece)
        if sentence.words:
            found.append(sentence)
    return tuple(found)


def divergence(one: Sequence[Sentence], other: Sequence[Sentence]) -> Divergence | None:
    """Return in what two notes differ most surely; None where they do not, as far as can be seen.

    A denial comes before another value: who denies a thing need not say the same value of it.
    """
    best: Divergence | None = None
    for left in one:
        for right in other:
            found = _difference(left, right)
            if found is not None and (best is None or _rank(found) > _rank(best)):
                best = found
    return best


def overlap_of(one: Sequence[Sentence], other: Sequence[Sentence]) -> float:
    """Return which share of the words of two notes is in both: 0 to 1.

    Values and names count as words, so that notes about other values are never quite the same.
    """
    left, right = _all_words(one), _all_words(other)
    return len(left & right) / len(left | right) if left and right else 0.0


def same_values(one: Sequence[Sentence], other: Sequence[Sentence]) -> bool:
    """Tell whether two notes hold the same numbers, versions and names, or one holds none more."""
    left, right = _details(one), _details(other)
    return left <= right or right <= left


def _all_words(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset().union(*(each.words | each.values | each.names for each in sentences))


def _details(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset().union(*(each.values | each.names for each in sentences))


def _rank(found: Divergence) -> tuple[bool, float]:
    return found.difference is not Difference.VALUE, found.overlap


def _difference(left: Sentence, right: Sentence) -> Divergence | None:
    shared = left.words & right.words
    if not shared or _names_apart(left, right):
        return None
    opposites = _opposites(left, right)
    if any((word in left.negated) != (other in right.negated) for word, other in opposites):
        return None  # "not disabled" says what "enabled" does
    opposed = frozenset().union(*opposites) or _switched(left, right)
    # Two opposites are of one word more that both sentences have.
    union = (left.words | right.words) - opposed
    overlap = (len(shared) + bool(opposed)) / (len(union) + bool(opposed))
    difference: Difference | None = None
    if opposed:
        difference = Difference.OPPOSITE
    elif (left.negated ^ right.negated) & shared:
        difference = Difference.NEGATION
    elif _values_apart(left, right):
        difference = Difference.VALUE
    if difference is None or overlap < OVERLAP_MIN:
        return None
    return Divergence(difference=difference, overlap=overlap)


def _names_apart(left: Sentence, right: Sentence) -> bool:
    """Tell whether each speaks of a thing by name that the other does not: web1 is not web2."""
    return bool(left.names - right.names) and bool(right.names - left.names)


def _values_apart(left: Sentence, right: Sentence) -> bool:
    """Tell whether each has a value that the other lacks, of the same thing.

    Where each has another word as well, they are about two things that have a value each.
    """
    if not (left.values - right.values and right.values - left.values):
        return False
    return left.words <= right.words or right.words <= left.words


def _opposites(left: Sentence, right: Sentence) -> list[tuple[str, str]]:
    """Return the stems that are opposites and stand in one of the sentences each."""
    mine, others = left.words - right.words, right.words - left.words
    return [(word, other) for word in mine for other in opposite_of(word) & others]


def _switched(left: Sentence, right: Sentence) -> frozenset[str]:
    """Return the stems of opposites that take several words: "switch on" and "turn off"."""
    if left.negated ^ right.negated:
        return frozenset()
    one, other = opposite_words(left.text, right.text), opposite_words(right.text, left.text)
    return frozenset(stem(word) for word in (*one, *other)) if one and other else frozenset()


def _sentence(text: str) -> Sentence:
    folded = fold(text.replace("\u2019", "'"))
    words: set[str] = set()
    negated: set[str] = set()
    values: set[str] = set()
    names: set[str] = set()
    # Marks that end a clause are gone from folded text where they are not ASCII.
    for clause in _CLAUSE.split(text):
        tokens = _tokens(clause)
        for place, token in enumerate(tokens):
            if token in NEGATIONS:
                negated |= _about(tokens, place)
            elif _VALUE.fullmatch(token):
                values.add(token.removeprefix("v"))
            elif _HAS_DIGIT.search(token):
                names.add(token)
            elif _tells(token):
                words.add(stem(token))
    return Sentence(
        text=folded,
        words=frozenset(words),
        negated=frozenset(negated),
        values=frozenset(values),
        names=frozenset(names),
    )


def _tokens(clause: str) -> list[str]:
    """Return the words of a clause in their order; of CJK runs the pairs of letters."""
    spaced = CJK_RUN.sub(lambda run: f" {spread_negations(run[0])} ", clause.replace("\u2019", "'"))
    folded = fold(spaced).replace("n't", " not").replace("n'", "ne ")
    tokens: list[str] = []
    for token in _TOKEN.findall(folded):
        if token not in NEGATIONS and CJK_RUN.fullmatch(token) and len(token) > 1:
            tokens += (token[at : at + 2] for at in range(len(token) - 1))
        else:
            tokens.append(token)
    return tokens


def _about(tokens: Sequence[str], place: int) -> set[str]:
    """Return the stems of what the negation at *place* is about.

    That is what follows it, and what goes before where nothing does: "startet nicht".
    """
    behind = [stem(token) for token in tokens[place + 1 :] if _may_be_negated(token)]
    before = [stem(token) for token in tokens[:place] if _may_be_negated(token)]
    return set(behind[:NEGATED_WORDS_MAX] or before[-NEGATED_WORDS_MAX:])


def _may_be_negated(token: str) -> bool:
    return token not in NEGATIONS and not _HAS_DIGIT.search(token) and _tells(token)


def _tells(token: str) -> bool:
    return token not in FUNCTION_WORDS or bool(opposite_of(stem(token)))
