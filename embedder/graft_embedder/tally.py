"""Counts what the model computes: how long calls waited, how much was computed at once."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

WAIT_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0, 60.0)
BATCH_TOKENS = (16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0, 4_096.0)
BATCH_WINDOWS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class Counted:
    """How often a quantity lay in which range.

    Args:
        bounds: upper ends of the ranges, rising; what is equal to one lies in it.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count one *value*."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one queue has had computed; written by its model thread alone.

    Attributes:
        wait_seconds: from a call's place in the line to its first computation.
        batch_tokens: computed at once.
        batch_windows: sequences computed at once.
    """

    wait_seconds: Counted = field(default_factory=lambda: Counted(WAIT_SECONDS))
    batch_tokens: Counted = field(default_factory=lambda: Counted(BATCH_TOKENS))
    batch_windows: Counted = field(default_factory=lambda: Counted(BATCH_WINDOWS))
