"""Lets threads wait until something was committed to a profile."""

import threading


class Changes:
    """Counts commits and wakes whoever waits for the next one."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """How many there have been since the profile was opened."""
        with self._condition:
            return self._count

    def notify(self) -> None:
        """Count one and wake everybody."""
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Wait until the count differs from *seen*, at most *seconds*, and return it."""
        with self._condition:
            self._condition.wait_for(lambda: self._count != seen, max(seconds, 0.0))
            return self._count
