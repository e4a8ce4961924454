"""What notes say, as it is handed to a model: within a budget, fenced, and known when it returns.

It is data that somebody once saved, never an instruction, so it stands between fences that no note
can know. An agent's own recalled text must not be asked about or saved as if it were news.
"""

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 that count as one token: fewer than tokenizers take of English, about what they
take of code."""

_FENCE = re.compile(r"-----([0-9a-f]{8})-----")
_BEFORE_FENCE = re.compile(r"(?:^|[\n\r\"']|\\n)(?:[ \t>|\u2502\u2192*#/-]|\d+[:\t])*\Z")
"""What an agent may put before a line that it quotes: indents, marks, numbers; or JSON's."""
BEFORE_FENCE_CHARACTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a body, from a character on; *next* is where to go on, None at the end."""

    text: str
    next: int | None


def piece_of(body: str, begin: int, tokens: int) -> Piece:
    """Return as much of *body* from character *begin* on as *tokens* hold; one character at least.

    It is never cut inside a character, and where that is possible at the end of a line.
    """
    rest = body[begin:]
    room = max(tokens, 1) * BYTES_PER_TOKEN
    if len(rest.encode("utf-8", "replace")) <= room:
        return Piece(text=rest, next=None)
    cut = len(rest.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")) or 1
    line = rest.rfind("\n", cut // 2, cut)
    cut = cut if line < 0 else line + 1
    return Piece(text=rest[:cut], next=begin + cut)


def fenced(lines: Iterable[str]) -> str:
    """Set what notes say between fences that they cannot know."""
    fence = f"-----{secrets.token_hex(4)}-----"
    return "\n".join((fence, *lines, fence))


def without_recalled(text: str) -> str:
    """Return *text* without what stands between fences of ours, however an agent quotes them.

    A fence that nothing closes goes to the end, if a line begins with it.
    """
    fences = list(_FENCE.finditer(text))
    kept, end = [], 0
    for opened, closed in zip(fences, _closing(fences), strict=True):
        begin = opened.start()
        if begin < end or (closed is None and not _begins_a_line(text, begin)):
            continue
        kept.append(text[end:begin])
        end = len(text) if closed is None else closed.end()
    return "".join((*kept, text[end:]))


def _closing(fences: Sequence[re.Match[str]]) -> list[re.Match[str] | None]:
    """Give for each fence the next one that is the same."""
    closing: list[re.Match[str] | None] = []
    later: dict[str, re.Match[str]] = {}
    for each in reversed(fences):
        closing.append(later.get(each[1]))
        later[each[1]] = each
    return closing[::-1]


def _begins_a_line(text: str, at: int) -> bool:
    return bool(_BEFORE_FENCE.search(text[max(at - BEFORE_FENCE_CHARACTERS, 0) : at]))


def one_line(text: str) -> str:
    """Return *text* in one line, as titles and scopes are shown."""
    return " ".join(text.split())
