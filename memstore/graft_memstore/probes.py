"""Makes questions out of notes, each of which one note answers, or none.

They stand for what people would ask: the words of a title or of a passage in another order, the
rarer half of them left out. With more of them left in, nearly all come out STRONG, and a threshold
chosen by such questions misses what people really ask. That no other note answers a question
follows from a word that each other one lacks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graft_memstore.lexical import CJK_RUN, fold, words_of

WORDS_MIN = 3
"""Words of a question at least; fewer tell no note from another."""
WORDS_MAX = 16
"""Words of a title or a passage that are looked at."""
CJK_PIECE = 2
"""Letters of Chinese, Japanese or Korean text that stand for a word."""

_FENCE = re.compile(r"^(```|~~~).*?(^\1|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")


class ProbeKind(StrEnum):
    """What a question was made of."""

    TITLE = "title"
    PASSAGE = "passage"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeNote:
    """A note to make questions of."""

    seq: int
    title: str
    body: str
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question.

    Attributes:
        note: the note that it is about.
        scopes: where it is asked.
        held_out: no threshold is chosen by it; those chosen are judged by it.
    """

    kind: ProbeKind
    text: str
    note: ProbeNote
    scopes: tuple[str, ...]
    held_out: bool

    @property
    def answered(self) -> bool:
        """Whether its note answers it; halves of two titles are answered by neither."""
        return self.kind is not ProbeKind.MIXED


def make_probes(notes: Sequence[ProbeNote]) -> list[Probe]:
    """Return the questions that *notes* give, those of one note side by side.

    Every second note's are held out. A question all of whose words another of the notes holds is
    left out: that one may answer it as well.
    """
    held = [frozenset(_folded(f"{note.title}\n{note.body}")) for note in notes]
    counts = Counter(word for words in held for word in words)
    probes = []
    for place, note in enumerate(notes):
        others = held[:place] + held[place + 1 :]
        # Two notes on, so that both are held out, or neither.
        second = notes[(place + 2) % len(notes)]
        mixed = halves(note.title, second.title)
        for kind, text, partners in (
            (ProbeKind.TITLE, as_asked(note.title, counts, others), (note,)),
            (ProbeKind.PASSAGE, as_asked(longest_passage(note.body), counts, others), (note,)),
            (ProbeKind.MIXED, "" if _holds_all(held, mixed) else mixed, (note, second)),
        ):
            if len(frozenset(_folded(text))) >= WORDS_MIN:
                scopes = dict.fromkeys(each.scope for each in partners)
                probes.append(
                    Probe(
                        kind=kind,
                        text=text,
                        note=note,
                        scopes=tuple(scopes),
                        held_out=place % 2 == 1,
                    )
                )
    return probes


def as_asked(text: str, counts: Counter[str], others: Sequence[frozenset[str]]) -> str:
    """Return the commoner half of the words of *text*, its second half first.

    With as many more as it takes for none of *others* to hold them all; empty where all do not do.

    Args:
        text: a title or a passage.
        counts: in how many notes each folded word is.
        others: the folded words of each other note.
    """
    words = split_words(text)[:WORDS_MAX]
    commonest_first = sorted(range(len(words)), key=lambda place: -_count(words[place], counts))
    for count in range(max(WORDS_MIN, len(words) // 2), len(words) + 1):
        kept = sorted(commonest_first[:count])
        middle = count // 2
        question = " ".join(words[place] for place in kept[middle:] + kept[:middle])
        if not _holds_all(others, question):
            return question
    return ""


def halves(first: str, second: str) -> str:
    """Return the first half of the words of one title and the second half of another's."""
    begin, end = split_words(first)[:WORDS_MAX], split_words(second)[:WORDS_MAX]
    return " ".join(begin[: (len(begin) + 1) // 2] + end[len(end) // 2 :])


def longest_passage(body: str) -> str:
    """Return the sentence with the most words outside of fenced code, the first of several."""
    sentences = _SENTENCE_END.split(_FENCE.sub("\n", body))
    return max(sentences, key=lambda sentence: len(split_words(sentence)), default="")


def split_words(text: str) -> list[str]:
    """Return the words of *text*, what has no letter or digit left out; CJK in short pieces."""
    apart = CJK_RUN.sub(lambda run: f" {' '.join(_cut(run[0]))} ", text)
    return [word for word in apart.split() if any(map(str.isalnum, word))]


def _cut(run: str) -> Iterator[str]:
    return (run[at : at + CJK_PIECE] for at in range(0, len(run), CJK_PIECE))


def _folded(text: str) -> Iterator[str]:
    return (folded for word in split_words(text) for folded in words_of(fold(word)))


def _count(word: str, counts: Counter[str]) -> int:
    """Return in how many notes the rarest part of a word is."""
    return min((counts[part] for part in _folded(word)), default=len(counts))


def _holds_all(notes: Sequence[frozenset[str]], question: str) -> bool:
    """Tell whether one of *notes* has every word of *question*."""
    words = frozenset(_folded(question))
    return any(words <= held for held in notes)
