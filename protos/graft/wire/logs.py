"""The log of a service: a file behind its standard streams, and one older one beside it.

Standard library alone, as `graft.wire.launch` wants it.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

LOG_BYTES_MAX = 5 * 1024 * 1024
"""A log that has grown larger is put aside, in the place of the one that was before."""

LOG_TAIL_BYTES = 2_000
STANDARD_STREAMS = (1, 2)

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def open_log(path: Path) -> int:
    """Open the log at *path* for a service that is started, and return its descriptor."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES_MAX:
            path.replace(_older(path))
    return os.open(path, APPEND, 0o600)


def keep_log_small(
    path: Path, bytes_max: int = LOG_BYTES_MAX, descriptors: Sequence[int] = STANDARD_STREAMS
) -> None:
    """Put the log at *path* aside if it is larger than *bytes_max*, and go on in a new one.

    Native code prints to the descriptors themselves, so these are what is moved. Where none of
    them is the log, as in a service that was started by hand, nothing is done.

    Raises:
        OSError: there is no room for a new one, say; the old one is written to as before.
    """
    on_log = _those_on(path, descriptors)
    # A start may have put the log aside under a service that has not given its lock back yet.
    on_older = _those_on(_older(path), descriptors)
    too_large = bool(on_log) and path.stat().st_size > bytes_max
    if not too_large and not on_older:
        return
    if too_large:
        fresh = path.with_suffix(".log.fresh")
        descriptor = os.open(fresh, APPEND | os.O_TRUNC, 0o600)
        path.replace(_older(path))
        fresh.replace(path)
    else:
        descriptor = os.open(path, APPEND, 0o600)
    for each in (*on_log, *on_older):
        os.dup2(descriptor, each)
    os.close(descriptor)


def tail(path: Path, start: int) -> str:
    """Return the last line of the log at *path* that was written from byte *start* on."""
    with path.open("rb") as file:
        file.seek(max(start, path.stat().st_size - LOG_TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it wrote nothing"


def _older(path: Path) -> Path:
    return path.with_suffix(".log.1")


def _those_on(path: Path, descriptors: Sequence[int]) -> tuple[int, ...]:
    """Return those of *descriptors* that write to the file at *path*."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return tuple(each for each in descriptors if os.path.samestat(os.fstat(each), found))
