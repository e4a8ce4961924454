"""In what two notes about one thing differ: one denies the other, or says another value.

Compared are sentences that are made of nearly the same words. A negation counts by what it negates:
"not for jobs" denies nothing of a note that never speaks of jobs. Everything is folded text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import lru_cache

from graft_memstore.contrast import plainly
from graft_memstore.lexical import CJK_RUN, FUNCTION_WORDS, fold
from graft_memstore.polarity import (
    NEGATIONS,
    opposite_of,
    spread_negations,
    stem,
)

SENTENCES_MAX = 8
"""Sentences of one note that are compared, its title first."""
CHARS_MAX = 2_000
"""Characters of a body that are read for them."""
OVERLAP_MIN = 0.6
"""Share of common words from which two sentences are about one thing."""
OVERLAP_SURE = 0.85
"""From here on they say the same but for what they differ in."""
TOKENS_KEPT = 65_536
"""Tokens of which it is kept what they are: notes share most of theirs."""
NEGATED_WORDS_MAX = 3
"""Words behind a negation that it may be about."""

_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u3002\uff01\uff1f", "\n"),
        **dict.fromkeys("\u3001\uff0c\uff1b\uff1a\u2013\u2014", ","),
        "\u2019": "'",
    }
)
"""Marks that end a sentence or a part of one and that folding would take away."""
_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")
_CLAUSE = re.compile(r"[,;:()]|\s-\s")
_TOKEN = re.compile(r"[^\W_]+(?:[.\-/][^\W_]+)*")
_VALUE = re.compile(r"v?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?")
_LINE = "\n"

_NUMBERS = {
    "2": "two twice zwei zweimal deux dos",
    "3": "three thrice drei dreimal trois tres tre",
    "4": "four vier quatre cuatro quattro",
    "5": "five funf cinq cinco cinque",
    "6": "six sechs seis",
    "7": "seven sieben siete sette",
    "8": "eight acht huit ocho otto",
    "9": "nine neun nueve nove",
    "10": "ten zehn dix diez dieci",
    "11": "eleven elf",
    "12": "twelve zwolf douze doce dodici",
    "15": "fifteen funfzehn quinze quince quindici",
    "20": "twenty zwanzig vingt veinte venti",
    "30": "thirty dreissig trente treinta trenta",
    "40": "forty vierzig quarante cuarenta quaranta",
    "50": "fifty funfzig cinquante cincuenta cinquanta",
    "60": "sixty sechzig soixante sesenta sessanta",
    "100": "hundred hundert ciento cento",
    "1000": "thousand tausend mille mil",
}
NUMBER_WORDS = {word: value for value, words in _NUMBERS.items() for word in words.split()}
"""Numbers as they are written out, folded; not those that are other words as well, in another
language too: one, due, once, sei, neuf."""
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
        words: stems of what it is about, without negations and values.
        negated: those of them that a negation is about.
        values: numbers and versions that stand alone.
        names: other words with digits, which name one thing and no other.
    """

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
    text = f"{title.replace(_LINE, ' ')}{_LINE}{body[:CHARS_MAX]}".translate(_MARKS)
    spaced = CJK_RUN.sub(lambda run: f" {spread_negations(run[0])} ", text)
    # One word for each way to say "enable" and "disable", and for each to say "not".
    folded = plainly(fold(spaced)).replace("n't", " not").replace(" n'", " ne ")
    found: list[Sentence] = []
    for piece in _SENTENCE.split(folded):
        sentence = _sentence(piece)
        if sentence.words:
            found.append(sentence)
        if len(found) == SENTENCES_MAX:
            break
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A note taken apart.

    Attributes:
        words: of all sentences; values and names are words, too, so that notes about other values
            are never quite the same.
        details: the values and names among them.
    """

    sentences: tuple[Sentence, ...]
    words: frozenset[str]
    details: frozenset[str]


def statement_of(title: str, body: str) -> Statement:
    """Take a note apart."""
    sentences = sentences_of(title, body)
    details = frozenset().union(*(each.values | each.names for each in sentences))
    words = frozenset().union(*(each.words for each in sentences))
    return Statement(sentences=sentences, words=words | details, details=details)


def divergence(one: Statement, other: Statement) -> Divergence | None:
    """Return in what two notes differ most surely; None where they do not, as far as can be seen.

    A denial comes before another value: who denies a thing need not say the same value of it.
    """
    best: Divergence | None = None
    for left in one.sentences:
        if not _may_overlap(left.words, other.words, len(left.words)):
            continue
        for right in other.sentences:
            longer = max(len(left.words), len(right.words))
            if not _may_overlap(left.words, right.words, longer):
                continue
            found = _difference(left, right)
            if found is not None and (best is None or _rank(found) > _rank(best)):
                best = found
    return best


def overlap_of(one: Statement, other: Statement) -> float:
    """Return which share of the words of two notes is in both: 0 to 1."""
    if not one.words or not other.words:
        return 0.0
    return len(one.words & other.words) / len(one.words | other.words)


def same_values(one: Statement, other: Statement) -> bool:
    """Tell whether two notes hold the same numbers, versions and names, or one holds none more."""
    return one.details <= other.details or other.details <= one.details


def _may_overlap(one: frozenset[str], other: frozenset[str], longer: int) -> bool:
    """Tell whether enough words may be common; most sentences share too few.

    Two opposites may take the place of one word more.
    """
    return len(one & other) + 1 >= OVERLAP_MIN * longer


def _rank(found: Divergence) -> tuple[bool, float]:
    return found.difference is not Difference.VALUE, found.overlap


def _difference(left: Sentence, right: Sentence) -> Divergence | None:
    shared = left.words & right.words
    if not shared or _names_apart(left, right):
        return None
    opposites = _opposites(left, right)
    if any((word in left.negated) != (other in right.negated) for word, other in opposites):
        return None  # "not disabled" says what "enabled" does
    opposed = frozenset().union(*opposites)
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


class _Part(Enum):
    """What a token is to a sentence."""

    NOTHING = 0
    NEGATION = 1
    WORD = 2
    VALUE = 3
    NAME = 4


def _sentence(folded: str) -> Sentence:
    words: set[str] = set()
    negated: set[str] = set()
    values: set[str] = set()
    names: set[str] = set()
    for clause in _CLAUSE.split(folded):
        parts = [_part(token) for token in _tokens(clause)]
        for place, (part, text) in enumerate(parts):
            if part is _Part.WORD:
                words.add(text)
            elif part is _Part.NEGATION:
                negated |= _about(parts, place)
            elif part is _Part.VALUE:
                values.add(text)
            elif part is _Part.NAME:
                names.add(text)
    return Sentence(
        words=frozenset(words),
        negated=frozenset(negated),
        values=frozenset(values),
        names=frozenset(names),
    )


@lru_cache(TOKENS_KEPT)
def _part(token: str) -> tuple[_Part, str]:
    """Return what a token is to a sentence, and as what it is compared."""
    if token in NEGATIONS:
        return _Part.NEGATION, token
    if token in NUMBER_WORDS:
        return _Part.VALUE, NUMBER_WORDS[token]
    if _VALUE.fullmatch(token):
        return _Part.VALUE, token.removeprefix("v")
    if _HAS_DIGIT.search(token):
        return _Part.NAME, token
    stemmed = stem(token)
    if token in FUNCTION_WORDS and not opposite_of(stemmed):
        return _Part.NOTHING, token
    return _Part.WORD, stemmed


def _tokens(clause: str) -> list[str]:
    """Return the words of a folded clause in their order; of CJK runs the pairs of letters."""
    if clause.isascii():
        return _TOKEN.findall(clause)
    tokens: list[str] = []
    for token in _TOKEN.findall(clause):
        if not token.isascii() and token not in NEGATIONS and CJK_RUN.fullmatch(token):
            tokens += (token[at : at + 2] for at in range(max(len(token) - 1, 1)))
        else:
            tokens.append(token)
    return tokens


def _about(parts: Sequence[tuple[_Part, str]], place: int) -> set[str]:
    """Return the stems of what the negation at *place* is about.

    That is what follows it, and what goes before where nothing does: "startet nicht".
    """
    behind = [text for part, text in parts[place + 1 :] if part is _Part.WORD]
    before = [text for part, text in parts[:place] if part is _Part.WORD]
    return set(behind[:NEGATED_WORDS_MAX] or before[-NEGATED_WORDS_MAX:])
