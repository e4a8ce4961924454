"""Keep the vectors of recent texts, bounded by bytes."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from graft_embedder.engine import Vectors
from graft_embedder.preparation import Options

ENTRY_BYTES = 512
"""What an entry costs beside its text and vectors, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVectors:
    """What became of one text.

    Attributes:
        spans: first character and one past the last of each window.
        vectors: one unit vector for each window.
        tokens: tokens of the whole text.
        uncovered: first character that no window holds; the text's length when all do.
        truncated: whether part of the text lies in no window.
    """

    spans: tuple[tuple[int, int], ...]
    vectors: Vectors
    tokens: int
    uncovered: int
    truncated: bool


class ResultCache:
    """The least recently used texts go when there is no room."""

    def __init__(self, bytes_max: int, text_bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._text_bytes_max = text_bytes_max
        self._bytes = 0
        self._kept: OrderedDict[tuple[Options, str], TextVectors] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, options: Options, text: str) -> TextVectors | None:
        """Return what is kept for *text* under these *options*, None if nothing is."""
        with self._lock:
            found = self._kept.get((options, text))
            if found is not None:
                self._kept.move_to_end((options, text))
            return found

    def put(self, options: Options, text: str, result: TextVectors) -> None:
        """Keep *result*; too long a text is not kept."""
        if 4 * len(text) > self._text_bytes_max:
            return
        key = (options, text)
        with self._lock:
            old = self._kept.pop(key, None)
            if old is not None:
                self._bytes -= _size(text, old)
            self._kept[key] = result
            self._bytes += _size(text, result)
            while self._bytes > self._bytes_max:
                (_, oldest), dropped = self._kept.popitem(last=False)
                self._bytes -= _size(oldest, dropped)


def _size(text: str, result: TextVectors) -> int:
    # A character takes up to four bytes in memory.
    return 4 * len(text) + result.vectors.nbytes + ENTRY_BYTES
