"""What files and commits of the caller's own project are: fingerprints, taken within bounds.

The service opens no file; whoever saves a note or reads one looks at its sources here. Nothing
outside the project is opened, whatever a note names: no other folder, and no pipe or device.
"""

import hashlib
import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

BLAKE3 = "blake3:"
GIT = "git:"
CHUNK_BYTES = 1 << 20
GIT_SECONDS = 5.0
SHA1_DIGITS = 40

COMMIT = re.compile(r"[0-9a-f]{7,64}")


class _UncheckedError(Exception):
    """It cannot be looked at, or not within the bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a source is now; with neither it could not be looked at."""

    fingerprint: str = ""
    gone: bool = False


UNCHECKED = Look()
GONE = Look(gone=True)


class Budget:
    """How much may be read, and for how long, for all files together.

    Args:
        bytes_max: bytes to read.
        seconds: how long.
        clock: that only goes forward, in seconds.
    """

    def __init__(
        self, bytes_max: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._bytes = bytes_max

    def take(self, count: int) -> None:
        """Count bytes that are to be read."""
        self._bytes -= count
        if self._bytes < 0 or self._clock() > self._end:
            raise _UncheckedError

    def seconds_left(self) -> float:
        """Return how long there is still."""
        return max(self._end - self._clock(), 0.0)


def look_at_file(root: Path, locator: str, known: str, budget: Budget) -> Look:
    """Take a file's fingerprint in the way in which *known* was taken; BLAKE3 where that is empty.

    Args:
        root: folder that it must lie in, links followed.
        locator: its path, from *root* or absolute.
        known: fingerprint to compare with.
        budget: what may be read.
    """
    try:
        content = _content(_inside(root, locator), budget)
        if not known.startswith(GIT):
            return Look(fingerprint=BLAKE3 + _blake3(content))
        return Look(fingerprint=GIT + _blob_id(content, len(known) - len(GIT)))
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (_UncheckedError, OSError, ValueError):
        return UNCHECKED


def look_at_commit(root: Path, locator: str, budget: Budget) -> Look:
    """Find a commit, ``<hash>``, or a file in one, ``<hash>:<path>``, in the project's repository.

    Args:
        root: a folder of the repository.
        locator: the commit's hash, or its beginning; a path from the repository's top.
        budget: how long that may take.
    """
    commit, colon, path = locator.partition(":")
    if not COMMIT.fullmatch(commit):
        return UNCHECKED
    spec = f"{commit}:{path}" if colon else f"{commit}^{{commit}}"
    # git obeys GIT_DIR, and what it is asked is about this folder.
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # noqa: TID251 - git needs PATH and HOME
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and what is asked for can be no option
            ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", spec],  # noqa: S607 - the caller's own git
            cwd=root,
            env=around,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=min(budget.seconds_left(), GIT_SECONDS),
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return UNCHECKED
    found = done.stdout.decode("ascii", "replace").strip()
    if done.returncode == 1:
        return GONE
    return Look(fingerprint=GIT + found) if done.returncode == 0 and found else UNCHECKED


def _inside(root: Path, locator: str) -> str:
    """Return the real path of a file of *root*."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, locator))  # noqa: PTH118 - pathlib would fold it
    if os.path.commonpath((top, real)) != top or real == top:
        raise _UncheckedError
    return real


def _content(real: str, budget: Budget) -> Iterator[bytes]:
    """Open a regular file at once, and give its content piece by piece."""
    if not stat.S_ISREG(os.lstat(real).st_mode):
        raise _UncheckedError
    # What it has become since must not be followed, or waited for.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _UncheckedError
        # Its size decides before anything is read.
        budget.take(status.st_size)
        left = status.st_size
        while piece := file.read(CHUNK_BYTES):
            left -= len(piece)
            budget.take(0 if left >= 0 else len(piece))
            yield piece


def _blake3(content: Iterator[bytes]) -> str:
    hasher = blake3()
    for piece in content:
        hasher.update(piece)
    return hasher.hexdigest()


def _blob_id(content: Iterator[bytes], digits: int) -> str:
    """Return the id that git gives a file whose content no filter changes."""
    whole = b"".join(content)
    # git's own hash, not a secret's.
    hasher = hashlib.sha1 if digits == SHA1_DIGITS else hashlib.sha256
    return hasher(b"blob %d\0" % len(whole) + whole).hexdigest()
