"""Shows how one text differs from another, word by word."""

import difflib
import re
from collections.abc import Iterator
from typing import NamedTuple

_PIECES = re.compile(r"\s+|[^\s]+")
WORDS_MAX = 4_000
"""Of longer texts the beginnings are compared: the time grows with the square."""


class Piece(NamedTuple):
    """A stretch of text and whether it is in both ("="), was taken out ("-") or put in ("+")."""

    sign: str
    text: str


def word_diff(before: str, after: str) -> Iterator[Piece]:
    """Yield what makes *after* out of *before*; white space goes with the words around it."""
    old, new = _PIECES.findall(before)[:WORDS_MAX], _PIECES.findall(after)[:WORDS_MAX]
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("=", "".join(old[old_from:old_to]))
            continue
        if old_from < old_to:
            yield Piece("-", "".join(old[old_from:old_to]))
        if new_from < new_to:
            yield Piece("+", "".join(new[new_from:new_to]))


def marked(pieces: Iterator[Piece]) -> str:
    """Write a difference as git does with words: [-out-]{+in+}."""
    forms = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(forms[piece.sign].format(piece.text) for piece in pieces)
