"""Send what native code prints to the log, whichever descriptor it prints to."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

STDOUT, STDERR = 1, 2
TAIL_BYTES = 4_000


def join_output_to_log() -> None:
    """Make descriptor 1 the same as 2 for the rest of the process.

    A service's descriptor 2 is its log; llama.cpp and its backends print to both.
    """
    sys.stdout.flush()
    os.dup2(STDERR, STDOUT)


class Captured:
    """What was printed meanwhile."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def tail(self) -> str:
        """Return the end of it."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, size - TAIL_BYTES))
        return self._file.read().decode("utf-8", "replace")


@contextmanager
def captured_output() -> Iterator[Captured]:
    """Keep everything that is printed inside the block off descriptors 1 and 2.

    The descriptors themselves are redirected: native code knows nothing of `sys.stdout`.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = [(number, os.dup(number)) for number in (STDOUT, STDERR)]
        try:
            for number, _ in kept:
                os.dup2(file.fileno(), number)
            yield Captured(file)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
