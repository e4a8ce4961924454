"""Draw how far a file is, on a terminal and nowhere else."""

import time
from typing import TextIO

WIDTH = 30
REDRAW_SECONDS = 0.1
MEGABYTE = 1_000_000


class Bar:
    """One line that is drawn over itself; silent where *stream* is no terminal."""

    def __init__(self, label: str, stream: TextIO, *, shown: bool) -> None:
        self._label = label
        self._stream = stream
        self._shown = shown and stream.isatty()
        self._drawn_at = 0.0
        self._drawn = False

    def bytes(self, done: int, total: int | None) -> None:
        """Show *done* of *total* bytes, *total* None while it is not known."""
        whole = f"/{total / MEGABYTE:.0f}" if total else ""
        self._draw(done / total if total else None, f"{done / MEGABYTE:.0f}{whole} MB")

    def percent(self, percent: int) -> None:
        """Show *percent*."""
        self._draw(percent / 100, f"{percent} %")

    def close(self) -> None:
        """End the line, so that what follows begins on its own."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
            self._drawn = False

    def _draw(self, share: float | None, text: str) -> None:
        now = time.monotonic()
        finished = share is not None and share >= 1
        if not self._shown or (now - self._drawn_at < REDRAW_SECONDS and not finished):
            return
        filled = round(WIDTH * (share or 0))
        bar = "#" * filled + "-" * (WIDTH - filled)
        self._stream.write(f"\r{self._label} [{bar}] {text:>14}")
        self._stream.flush()
        self._drawn_at = now
        self._drawn = True
