"""Whether a text only retells a piece of another one, or how much of it stands there.

Compared are the words that say something, in their order, sentence by sentence. A piece adds
nothing: no other word, no number, name or identifier, and no sentence without what negates or
limits it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.contrast import OPPOSITES
from graft_memstore.write.hashes import spelled_once
from graft_memstore.write.restatement import telling_sequence, telling_words

RETOLD_CHARS_MAX = 32 * 1024
"""A longer text is none that is compared."""
TOLD_CHARS_MAX = 128 * 1024
"""Nor is it compared with a longer one."""
WORDS_MIN = 3
"""Fewer words say too little to be a piece of anything."""
WORDS_FOR_ANOTHER = 8
"""In so many words one may be another plain one."""
PLAIN_CHARS_MIN = 3

_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[-*+#>]|\d+[.)])\s)")
_WORD = re.compile(r"[^\W\d_]+")

_LIMITS = (
    # English
    "not no never none neither nor cannot without unless except only if when until while before "
    "after always hardly barely instead "
    # Italian, German, French, Spanish
    "non mai senza solo soltanto se quando finche tranne nicht kein keine keinen keinem keiner nie "
    "niemals ohne nur wenn falls bis ausser statt ne pas jamais sans si sauf seulement quand nunca "
    "sin salvo cuando"
)
LIMITS = frozenset(_LIMITS.split())
"""Words that turn a sentence around, or say when it holds."""

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve hundred thousand million "
    "once twice first second third half double null eins zwei drei vier funf sechs sieben acht "
    "neun zehn due tre quattro cinque sei sette otto nove dieci deux trois quatre cinq huit neuf "
    "dix dos tres cuatro cinco seis siete ocho nueve diez"
)
NUMBERS = frozenset(_NUMBERS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A text as it is compared.

    Attributes:
        words: in order, without those that say nothing.
        sentences: number of the sentence that each word stands in.
        names: words that begin with a capital letter somewhere.
    """

    words: tuple[str, ...]
    sentences: tuple[int, ...]
    names: frozenset[str]

    def limits(self, begin: int, end: int) -> frozenset[str]:
        """Return what limits the sentences that the words from *begin* to *end* stand in."""
        within = set(self.sentences[begin:end])
        return frozenset(
            word
            for word, sentence in zip(self.words, self.sentences, strict=True)
            if sentence in within and is_limit(word)
        )


def is_limit(word: str) -> bool:
    """Tell whether a word turns its sentence around, or says when it holds."""
    return word in LIMITS or word.endswith("n't")


def told_by(*texts: str) -> Told:
    """Read texts, such as a title and a body, as one."""
    words: list[str] = []
    sentences: list[int] = []
    number = 0
    for text in texts:
        for sentence in _ENDS.split(text):
            found = telling_sequence(sentence)
            words += found
            sentences += [number] * len(found)
            number += 1
    names = {
        spelled_once(word) for text in texts for word in _WORD.findall(text) if word != word.lower()
    }
    return Told(words=tuple(words), sentences=tuple(sentences), names=frozenset(names))


def share_of(title: str, body: str, note: tuple[str, str]) -> float:
    """Return the share of a text's telling words that stand in a note: its title and its body."""
    if _is_long(title, body, note):
        return 0.0
    words = telling_words(f"{title}\n{body}")
    return len(words & telling_words("\n".join(note))) / len(words) if words else 0.0


def retells(title: str, body: str, note: tuple[str, str]) -> bool:
    """Tell whether a text adds nothing to a note, of which it is a piece.

    One plain word of many may be another: whoever retells does not quote.
    """
    if _is_long(title, body, note):
        return False
    new, old = told_by(title, body), told_by(*note)
    if len(new.words) < WORDS_MIN or len(set(new.words) - set(old.words)) > 1:
        return False
    others_left = 1 if len(new.words) >= WORDS_FOR_ANOTHER else 0
    for begin, end in _sentences_of(new):
        others = _others_in(new, (begin, end), old, others_left)
        if others is None:
            return False
        others_left -= others
    return True


def _is_long(title: str, body: str, note: tuple[str, str]) -> bool:
    return len(title) + len(body) > RETOLD_CHARS_MAX or sum(map(len, note)) > TOLD_CHARS_MAX


def _sentences_of(told: Told) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends."""
    bounds: list[tuple[int, int]] = []
    begin = 0
    for place in range(1, len(told.words) + 1):
        if place == len(told.words) or told.sentences[place] != told.sentences[begin]:
            bounds.append((begin, place))
            begin = place
    return bounds


def _others_in(new: Told, bounds: tuple[int, int], old: Told, others_max: int) -> int | None:
    """Return how many words of a sentence are others where it stands in the note; None: nowhere."""
    begin, end = bounds
    sentence = new.words[begin:end]
    limits = frozenset(word for word in sentence if is_limit(word))
    found: list[int] = []
    for start in range(len(old.words) - len(sentence) + 1):
        stretch = old.words[start : start + len(sentence)]
        others = _others(sentence, stretch, new.names | old.names, others_max)
        if others is not None and old.limits(start, start + len(sentence)) <= limits:
            found.append(others)
            if not others:
                break
    return min(found, default=None)


def _others(
    sentence: Sequence[str], stretch: Sequence[str], names: frozenset[str], others_max: int
) -> int | None:
    """Return how many words differ; None where too many do, or one that is not plain."""
    others = 0
    for new, old in zip(sentence, stretch, strict=True):
        if new == old:
            continue
        others += 1
        if others > others_max or not _is_plain(new, old, names):
            return None
    return others


def _is_plain(new: str, old: str, names: frozenset[str]) -> bool:
    """Tell whether one word in the place of another says nearly the same, as far as one can see."""
    if new in OPPOSITES.get(old, frozenset()):
        return False
    return all(
        word.isalpha()
        and word.islower()
        and len(word) >= PLAIN_CHARS_MIN
        and word not in names
        and word not in NUMBERS
        and not is_limit(word)
        for word in (new, old)
    )
