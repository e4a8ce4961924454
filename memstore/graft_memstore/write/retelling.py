"""Whether a text only retells a piece of another one, or how much of it stands there.

Compared is word by word, sentence by sentence. A piece adds nothing: no other word, no number,
name, sign or identifier. It takes no sentence without what negates or limits it, so it begins where
a sentence or a clause begins, and of what is written without spaces, where a word that negates is
no word of its own, it takes whole sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.write.hashes import spelled_once
from graft_memstore.write.other_words import is_limit, may_be_another
from graft_memstore.write.restatement import telling_words

RETOLD_CHARS_MAX = 32 * 1024
"""A longer text is none that is compared."""
TOLD_CHARS_MAX = 128 * 1024
"""Nor is it compared with a longer one."""
WORDS_MIN = 3
"""Fewer words that say something say too little to be a piece of anything."""
WORDS_FOR_ANOTHER = 8
"""Of so many that say something one may be another plain one."""

COMPARISONS_MAX = 250_000
"""Sentences of the one, times places of the other where one may begin; more is not compared."""

_ENDS = re.compile(
    r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n\s*\n|\n(?=\s*(?:[-*+#>]|\d+[.)])\s)"
)
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"(`+|~{3,}).*?(?:\1|\Z)", re.DOTALL)
# Written without spaces: each letter counts as a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LIST_MARK = re.compile("(?:[-*+>\u2022]|#+)")
_QUOTES = "`\"'\u2018\u2019\u201c\u201d\u00ab\u00bb\u2039\u203a"
_STOPS = ".,;:!?\u3001\u3002\uff01\uff1f"
_CLAUSE_STOPS = (",", ";", ":")
_ARTICLES = frozenset({"a", "an"})
_ARTICLE = "the"
"""Stands for each of them: one article is like another, but it counts that there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A text as it is compared.

    Attributes:
        words: all of them, in order.
        sentences: number of the sentence that each word stands in.
        limited: what limits each sentence.
        begins: places where a sentence or a clause begins.
        names: words that begin with a capital letter somewhere, or stand in code.
    """

    words: tuple[str, ...]
    sentences: tuple[int, ...]
    limited: tuple[frozenset[str], ...]
    begins: tuple[int, ...]
    names: frozenset[str]

    def limits(self, begin: int, end: int) -> frozenset[str]:
        """Return what limits the sentences that the words from *begin* to *end* stand in."""
        return frozenset().union(*(self.limited[each] for each in set(self.sentences[begin:end])))

    def is_whole(self, begin: int, end: int) -> bool:
        """Tell whether the words from *begin* to *end* are whole sentences."""
        return (begin == 0 or self.sentences[begin - 1] != self.sentences[begin]) and (
            end == len(self.words) or self.sentences[end] != self.sentences[end - 1]
        )


def told_by(*texts: str) -> Told:
    """Read texts, such as a title and a body, as one."""
    words: list[str] = []
    sentences: list[int] = []
    limited: list[frozenset[str]] = []
    begins: set[int] = set()
    for text in texts:
        for sentence in _ENDS.split(text):
            clause_begins = True
            first = len(words)
            for raw in _raw_words(sentence):
                if clause_begins:
                    begins.add(len(words))
                words.append(_word_of(raw))
                sentences.append(len(limited))
                clause_begins = raw.endswith(_CLAUSE_STOPS)
            limited.append(frozenset(word for word in words[first:] if is_limit(word)))
    capitals = (
        spelled_once(word) for text in texts for word in _WORD.findall(text) if word != word.lower()
    )
    code = (
        _word_of(word)
        for text in texts
        for found in _CODE.finditer(spelled_once(text))
        for word in found[0].split()
    )
    return Told(
        words=tuple(words),
        sentences=tuple(sentences),
        limited=tuple(limited),
        begins=tuple(sorted(begins)),
        names=frozenset((*capitals, *code)),
    )


def _raw_words(sentence: str) -> list[str]:
    """Return the words of a sentence with the stops after them, without the mark of a list."""
    raw = _UNSPACED.sub(r" \g<0> ", spelled_once(sentence)).split()
    while raw and _LIST_MARK.fullmatch(raw[0]):
        raw.pop(0)
    return [each for each in raw if each.strip(_STOPS + _QUOTES)]


def _word_of(raw: str) -> str:
    # What stands before a word may be part of it: .env, *args, !important.
    word = raw.rstrip(_STOPS + _QUOTES).lstrip(_QUOTES)
    return _ARTICLE if word in _ARTICLES else word


def share_of(title: str, body: str, note: tuple[str, str]) -> float:
    """Return the share of a text's telling words that stand in a note: its title and its body."""
    if _is_long(title, body, note):
        return 0.0
    words = telling_words(f"{title}\n{body}")
    return len(words & telling_words("\n".join(note))) / len(words) if words else 0.0


def retells(title: str, body: str, note: tuple[str, str], keywords: Sequence[str] = ()) -> bool:
    """Tell whether a text adds nothing to a note, of which it is a piece.

    One plain word may be another where as much is told as the note's body: whoever retells does
    not quote. None of the *keywords* of either is a plain one.
    """
    if _is_long(title, body, note):
        return False
    new, old = told_by(title, body), told_by(*note)
    telling = len(telling_words(f"{title}\n{body}"))
    if telling < WORDS_MIN or len(set(new.words) - set(old.words)) > 1:
        return False
    bounds = _sentences_of(new)
    if len(bounds) * len(old.begins) > COMPARISONS_MAX:
        return False
    names = new.names | old.names | {word for each in keywords for word in told_by(each).words}
    # Of a single sentence another word is more likely to make another statement.
    whole = len(new.words) >= len(told_by(note[1]).words)
    others_left = 1 if whole and telling >= WORDS_FOR_ANOTHER else 0
    for begin, end in bounds:
        others = _others_in(new.words[begin:end], old, names, others_left)
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


def _others_in(
    sentence: Sequence[str], old: Told, names: frozenset[str], others_max: int
) -> int | None:
    """Return how many words of a sentence are others where it stands in the note; None: nowhere."""
    limits = frozenset(word for word in sentence if is_limit(word))
    unspaced = any(_UNSPACED.search(word) for word in sentence)
    found: list[int] = []
    for start in old.begins:
        end = start + len(sentence)
        if end > len(old.words) or (unspaced and not old.is_whole(start, end)):
            continue
        others = _others(sentence, old.words[start:end], names, others_max)
        if others is not None and old.limits(start, end) <= limits:
            found.append(others)
            if not others:
                break
    return min(found, default=None)


def _others(
    sentence: Sequence[str], stretch: Sequence[str], names: frozenset[str], others_max: int
) -> int | None:
    """Return how many words differ; None where too many do, or one that is not plain."""
    others, before = 0, ""
    for new, old in zip(sentence, stretch, strict=True):
        if new != old:
            others += 1
            if others > others_max or {new, old} & names or not may_be_another(new, old, before):
                return None
        before = new
    return others
