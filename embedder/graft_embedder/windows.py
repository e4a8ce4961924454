"""Split a text into overlapping windows of so many tokens, by characters of the text itself.

A tokenizer normalises, so its tokens cannot be mapped back to characters. Instead stretches of
the text are cut where a person would cut and their tokens counted; a window is as long as fits.
Counting is the only thing that costs, and one window costs a handful of counts of about its own
length, so the whole is linear in the text that is covered.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from graft_embedder.graphemes import SPACE, boundary_after, boundary_before, skip_space

Count = Callable[[str], int]
"""Tokens of a stretch of text."""

CHARACTERS_PER_TOKEN_MAX = 32
"""A window spans at most so many characters a token: what bounds the cost of a text that is
nearly all white space or invisible characters."""

CHARACTERS_PER_TOKEN = 4
"""First guess; European prose has four, Chinese under two."""

TRIES_MAX = 40
"""Counts for one cut; interpolation needs three to six, halving under twenty."""

INTERPOLATIONS = 8
"""After so many tries the rest is halving, which cannot be fooled."""

SLACK_SHARE = 16
"""A window within a sixteenth of its limit is full enough."""

RETREAT_SHARE = 4
"""A window gives up at most a quarter of itself to end between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One window.

    Attributes:
        start: first character that counts as covered.
        end: one past the last.
        content_start: first character to embed; only white space or nothing lies before it.
        content_end: one past the last character to embed.
    """

    start: int
    end: int
    content_start: int
    content_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Windows of one text and the first character that lies in none of them."""

    spans: tuple[Span, ...]
    uncovered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSize:
    """How long windows are, how much neighbours share, and how many are wanted."""

    tokens: int
    overlap: int
    windows_max: int


def split(text: str, size: WindowSize, count: Count) -> Split:
    """Cut *text* into windows that cover it from its beginning without a gap.

    Each holds at most ``size.tokens`` tokens, or one character where that has more. White space
    between windows belongs to the one before it.
    """
    spans: list[Span] = []
    start, at = 0, skip_space(text, 0)
    while at < len(text) and len(spans) < size.windows_max:
        end = fit_forward(text, at, size.tokens, count)
        if spans and end <= spans[-1].content_end:
            # What is shared left no room for anything new: this window goes without.
            start = at = spans[-1].end
            end = fit_forward(text, at, size.tokens, count)
        after = skip_space(text, end)
        if count(text[at:end]) == 0:
            # Invisible characters: nothing to embed, so they join the window before or after.
            at = after
            continue
        spans.append(Span(start=start, end=after, content_start=at, content_end=end))
        if after == len(text):
            break
        start, at = _next_start(text, spans[-1], size.overlap, count)
    if not spans:
        return Split(spans=(), uncovered=0)
    if at >= len(text):
        spans[-1] = dataclasses.replace(spans[-1], end=len(text))
    return Split(spans=tuple(spans), uncovered=spans[-1].end)


def _next_start(text: str, last: Span, overlap: int, count: Count) -> tuple[int, int]:
    """Return where the window after *last* starts, and its first character to embed."""
    if overlap == 0:
        return last.end, last.end
    # Windows must move on, so what is shared never reaches back to where this one began.
    start = fit_backward(text, last.content_start + 1, last.content_end, overlap, count)
    at = skip_space(text, start)
    if at >= last.content_end or count(text[at : last.content_end]) > overlap:
        return last.end, last.end
    return start, at


def fit_forward(text: str, at: int, tokens_max: int, count: Count) -> int:
    """Return the end of a stretch from *at* with at most *tokens_max* tokens, nearly as many."""

    def measure(length: int) -> int:
        return count(text[at : at + length])

    def safe(length: int, shortest: int) -> int:
        return boundary_before(text, at + length, at + shortest) - at

    room = min(len(text) - at, tokens_max * CHARACTERS_PER_TOKEN_MAX)
    length = _fit(room, tokens_max, measure, safe)
    end = at + length
    if end == len(text) or SPACE.match(text, end - 1) or SPACE.match(text, end):
        return end
    space = end
    lowest = end - length // RETREAT_SHARE
    while space > lowest and not SPACE.match(text, space - 1):
        space -= 1
    return space if space > lowest and count(text[at:space]) <= tokens_max else end


def fit_backward(text: str, begin: int, end: int, tokens_max: int, count: Count) -> int:
    """Return the start of a stretch that ends at *end*, as `fit_forward` does; at least *begin*."""

    def measure(length: int) -> int:
        return count(text[end - length : end])

    def safe(length: int, shortest: int) -> int:
        return end - boundary_after(text, end - length, end - shortest)

    room = min(end - begin, tokens_max * CHARACTERS_PER_TOKEN_MAX)
    if room <= 0:
        return end
    length = _fit(room, tokens_max, measure, safe)
    start = end - length
    if start == begin or SPACE.match(text, start - 1) or SPACE.match(text, start):
        return start
    found = SPACE.search(text, start, start + length // RETREAT_SHARE)
    if found and count(text[found.end() : end]) <= tokens_max:
        return found.end()
    return start


def _fit(
    room: int, tokens_max: int, measure: Callable[[int], int], safe: Callable[[int, int], int]
) -> int:
    """Return a length up to *room* with at most *tokens_max* tokens and nearly as many.

    Where not even the shortest length tried has so few, that length is returned all the same:
    one character may take more tokens than a window holds.
    """
    fits = _Mark(length=0, tokens=0)
    over: _Mark | None = None
    enough = tokens_max - max(1, tokens_max // SLACK_SHARE)
    guess = tokens_max * CHARACTERS_PER_TOKEN
    for tries in range(TRIES_MAX):
        longest = over.length - 1 if over else room
        if longest <= fits.length:
            break
        length = safe(min(max(guess, fits.length + 1), longest), fits.length)
        if length == fits.length:
            if length:
                break
            length = min(max(guess, 1), longest)
        mark = _Mark(length=length, tokens=measure(length))
        if mark.tokens > tokens_max:
            over = mark
        else:
            fits = mark
        if fits.tokens >= enough:
            break
        guess = _next_guess(fits, over, (tokens_max + enough) // 2, tries)
    return fits.length or (over.length if over else room)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A length that was measured, and its tokens."""

    length: int
    tokens: int


def _next_guess(fits: _Mark, over: _Mark | None, wanted: int, tries: int) -> int:
    if over is None:
        grown = fits.length * wanted // max(fits.tokens, 1)
        return min(max(grown, fits.length * 5 // 4), fits.length * CHARACTERS_PER_TOKEN_MAX) + 1
    if tries >= INTERPOLATIONS:
        return (fits.length + over.length) // 2
    share = (wanted - fits.tokens) / (over.tokens - fits.tokens)
    return fits.length + int((over.length - fits.length) * share)
