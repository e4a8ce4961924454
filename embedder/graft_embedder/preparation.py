"""Turn a text into the token sequences to embed: prefix, windows, a shortened query."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from graft.wire.errors import BadFieldError
from graft_embedder.catalogue import Entry
from graft_embedder.engine import Engine, Tokens
from graft_embedder.graphemes import SPACE, boundary_before
from graft_embedder.limits import WINDOW_TOKENS_MIN, WINDOWS_MAX
from graft_embedder.windows import Span, WindowSize, fit_backward, fit_forward, split

PIECE_CHARACTERS = 16_384
"""Longer texts are counted in pieces of this length, so that memory stays bounded and a caller
who has gone is noticed; each piece may count one token more or less than the whole would."""

HEAD_SHARE = 4
"""A shortened query gives one part in so many to its end, the rest to its beginning."""

SHORTENINGS = 4
"""Tries to fit a shortened query; joining its two parts adds a token at most."""


class Purpose(Enum):
    """What a text is embedded for."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the texts of one request are to be embedded; 0 means what the model can do.

    Attributes:
        purpose: query or passage.
        window_tokens: tokens of one window, prefix and marks not counted.
        overlap_tokens: tokens that neighbouring windows share.
        windows_max: windows made of one text.
        query_tokens_max: tokens of a query that are embedded.
    """

    purpose: Purpose
    window_tokens: int = 0
    overlap_tokens: int = 0
    windows_max: int = 0
    query_tokens_max: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One text, ready to be embedded.

    Attributes:
        spans: first character and one past the last of each window.
        sequences: tokens of each window, prefix and marks included.
        tokens: tokens of the whole text.
        uncovered: first character that no window holds; the text's length when all do.
    """

    spans: tuple[tuple[int, int], ...]
    sequences: tuple[Tokens, ...]
    tokens: int
    uncovered: int


class Preparer:
    """Prepares texts for one model."""

    def __init__(self, engine: Engine, entry: Entry, query_tokens: int) -> None:
        """Use *query_tokens* for queries that name no limit of their own."""
        self._engine = engine
        self._prefixes = {
            Purpose.QUERY: entry.query_prefix,
            Purpose.PASSAGE: entry.passage_prefix,
        }
        # What prefix and marks cost; without trailing space, which joins the first word.
        self._overheads = {
            purpose: len(engine.tokenize(prefix.rstrip(), marks=True))
            for purpose, prefix in self._prefixes.items()
        }
        self._query_tokens = query_tokens

    def room(self, purpose: Purpose) -> int:
        """Return the most tokens that one window can hold beside prefix and marks."""
        return self._engine.sequence_tokens - self._overheads[purpose]

    def check(self, options: Options) -> None:
        """Refuse options that can never work.

        Raises:
            BadFieldError: names the field and its limit.
        """
        for name, value in (
            ("window_tokens", options.window_tokens),
            ("query_tokens_max", options.query_tokens_max),
        ):
            if 0 < value < WINDOW_TOKENS_MIN:
                raise BadFieldError(name, f"{value}; it must be 0 or at least {WINDOW_TOKENS_MIN}")
        if options.windows_max > WINDOWS_MAX:
            raise BadFieldError("windows_max", f"{options.windows_max}; at most {WINDOWS_MAX}")
        window = options.window_tokens or self.room(options.purpose)
        if 2 * options.overlap_tokens >= window:
            raise BadFieldError(
                "overlap_tokens",
                f"{options.overlap_tokens}; it must be less than half of the window of {window}",
            )

    def count(self, text: str, go_on: Callable[[], None]) -> int:
        """Count the tokens of the bare *text*; *go_on* raises when nobody waits any more."""
        total, at = 0, 0
        while at < len(text):
            go_on()
            end = _piece_end(text, at)
            total += len(self._engine.tokenize(text[at:end], marks=False))
            at = end
        return total

    def prepare(
        self, text: str, field: str, options: Options, go_on: Callable[[], None]
    ) -> Prepared:
        """Return the sequences of *text*; *field* names it where it is refused.

        Raises:
            BadFieldError: the text holds nothing that has a token.
        """
        tokens = 0 if text.isspace() else self.count(text, go_on)
        if tokens == 0:
            raise BadFieldError(field, "empty, or nothing but white space or invisible characters")
        if options.purpose is Purpose.QUERY:
            prepared = self._prepare_query(text, tokens, options)
        else:
            prepared = self._prepare_passage(text, tokens, options, go_on)
        if not prepared.sequences:
            raise BadFieldError(field, "nothing in it that the model's tokenizer knows")
        return prepared

    def _prepare_query(self, text: str, tokens: int, options: Options) -> Prepared:
        wanted = options.query_tokens_max or self._query_tokens
        most = min(wanted, self.room(Purpose.QUERY))
        whole = self._whole(text, tokens, most, Purpose.QUERY)
        if whole is not None:
            return whole

        def cost(part: str) -> int:
            return self._cost(part, Purpose.QUERY)

        head = fit_forward(text, 0, most - most // HEAD_SHARE, cost)
        left = most // HEAD_SHARE
        for _ in range(SHORTENINGS):
            tail = fit_backward(text, head, len(text), left, cost)
            joined = f"{text[:head].strip()}\n{text[tail:].strip()}"
            over = cost(joined) - most
            if over <= 0:
                break
            left = max(left - over, 1)
        else:
            joined = text[:head]
        sequence = self._sequence(joined, Purpose.QUERY)
        return Prepared(
            spans=((0, len(text)),), sequences=(sequence,), tokens=tokens, uncovered=head
        )

    def _prepare_passage(
        self, text: str, tokens: int, options: Options, go_on: Callable[[], None]
    ) -> Prepared:
        room = self.room(Purpose.PASSAGE)
        window = min(options.window_tokens or room, room)
        whole = self._whole(text, tokens, window, Purpose.PASSAGE)
        if whole is not None:
            return whole

        def cost(part: str) -> int:
            go_on()
            return self._cost(part, Purpose.PASSAGE)

        size = WindowSize(
            tokens=window,
            overlap=min(options.overlap_tokens, (window - 1) // 2),
            windows_max=options.windows_max or WINDOWS_MAX,
        )
        made = split(text, size, cost)
        return Prepared(
            spans=tuple((span.start, span.end) for span in made.spans),
            sequences=tuple(self._content(text, span) for span in made.spans),
            tokens=tokens,
            uncovered=made.uncovered,
        )

    def _whole(self, text: str, tokens: int, most: int, purpose: Purpose) -> Prepared | None:
        """Return *text* as one window of at most *most* tokens; None where it has more."""
        if tokens > most:
            return None
        sequence = self._sequence(text, purpose)
        # The prefix may join the first word otherwise than a line's beginning does.
        if len(sequence) > most + self._overheads[purpose]:
            return None
        return Prepared(
            spans=((0, len(text)),), sequences=(sequence,), tokens=tokens, uncovered=len(text)
        )

    def _content(self, text: str, span: Span) -> Tokens:
        return self._sequence(text[span.content_start : span.content_end], Purpose.PASSAGE)

    def _cost(self, part: str, purpose: Purpose) -> int:
        """Count what *part* adds to prefix and marks, so that a window fits to the token."""
        return max(len(self._sequence(part, purpose)) - self._overheads[purpose], 0)

    def _sequence(self, part: str, purpose: Purpose) -> Tokens:
        return self._engine.tokenize(self._prefixes[purpose] + part.strip(), marks=True)


def _piece_end(text: str, at: int) -> int:
    """Return where a piece from *at* ends, between words where there are any."""
    end = at + PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    for place in range(end, end - PIECE_CHARACTERS // 16, -1):
        if SPACE.match(text, place):
            return place
    return boundary_before(text, end, at)
