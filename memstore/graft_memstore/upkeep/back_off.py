"""How long to leave something alone that has just failed."""

from collections.abc import Callable

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0


class BackOff:
    """Waits longer after each failure, and not at all after a success.

    Args:
        monotonic: clock, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._pause = 0.0
        self._until = 0.0
        self.problem = ""

    def failed(self, problem: str) -> None:
        """Note a failure and why."""
        self._pause = min(max(self._pause * 2, FIRST_SECONDS), LONGEST_SECONDS)
        self._until = self._monotonic() + self._pause
        self.problem = problem

    def succeeded(self) -> None:
        """Note that it works."""
        self._pause = self._until = 0.0
        self.problem = ""

    def left(self) -> float:
        """Return the seconds to wait before the next try."""
        return max(self._until - self._monotonic(), 0.0)
