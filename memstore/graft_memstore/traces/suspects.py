"""Which lines of a text may tell of an error: found by plain searches, however long the text is."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

SUSPECTS_MAX = 320
"""Lines of one text that are looked at closely."""
FIRST_HITS_MAX = 48
"""Lines with one word that are taken from the beginning of a text…"""
LAST_HITS_MAX = 32
"""…and from its end: of a long log the first errors tell the cause, the last ones how it ended."""

CERTAIN = (
    "traceback (most recent",
    "caused by:",
    "panic",
    "exception",
    "fatal",
    "err!",
    "error",
    "undefined reference",
    "referenced from",
)
"""Words of which an error is made, the most certain first; lower case."""
LIKELY = (
    "fail",
    "cannot",
    "can't",
    "couldn't",
    "doesn't",
    " not ",
    "unable",
    "no such",
    "no space",
    "denied",
    "refuse",
    "reject",
    "invalid",
    "illegal",
    "incorrect",
    "unknown",
    "expect",
    "unrecognized",
    "unsupported",
    "unresolved",
    "undefined",
    "unbound",
    "missing",
    "lacks",
    "mismatch",
    "already",
    "too long",
    "too many",
    "too large",
    "timed out",
    "conflict",
    "exceed",
    "abort",
    "killed",
    "terminated",
    "segmentation",
    "overflow",
    "expired",
    "broken",
    "must be",
    "deadlock",
    "exhausted",
    "violat",
)
"""Words that some errors do without the others."""


def suspect_lines(lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that may tell of an error, in order."""
    text = "\n".join(lines).lower()
    words = [word for word in (*CERTAIN, *LIKELY) if word in text]
    if not words:
        return []
    # Lower case may be longer than what it is made of, but has as many lines.
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    found: dict[int, None] = {}
    for word in words:
        for line in _lines_with(word, text, starts):
            found[line] = None
            if len(found) == SUSPECTS_MAX:
                return sorted(found)
    return sorted(found)


def _lines_with(word: str, text: str, starts: Sequence[int]) -> Iterable[int]:
    """Give the first and the last lines that hold *word*."""
    at = text.find(word)
    last = -1
    for _ in range(FIRST_HITS_MAX):
        if at < 0:
            return
        last = bisect_right(starts, at) - 1
        yield last
        at = text.find(word, starts[last + 1])
    end = len(text)
    for _ in range(LAST_HITS_MAX):
        at = text.rfind(word, 0, end)
        line = bisect_right(starts, at) - 1
        if at < 0 or line <= last:
            return
        yield line
        end = starts[line]
