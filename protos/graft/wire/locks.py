"""File locks that say who holds them: flock on files that are never replaced."""

import errno
import fcntl
import os
from pathlib import Path

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says where nothing more can be written."""

HOLDER_BYTES = 20
"""Room for a process id at the head of a lock file; written in place, never truncated."""


class FileLock:
    """An exclusive flock on one file, held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if nobody has it; tell whether we have it now.

        Raises:
            OSError: the file cannot be opened.
        """
        assert self._descriptor is None, "a lock is taken once"
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
        self._descriptor = descriptor
        try:
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(HOLDER_BYTES).encode(), 0)
        except OSError as error:
            # On a full disk the lock holds all the same; who has it cannot be told then.
            if error.errno not in NO_ROOM:
                self.release()
                raise
        return True

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def holder_of(path: Path) -> int | None:
    """Return the process that holds the lock on *path*; None when nobody does.

    The process id is what the holder wrote; 0 stands for a holder that has not written yet.
    """
    try:
        descriptor = _open_to_ask(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        # Shared, so that two who ask at once do not take each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        text = os.pread(descriptor, HOLDER_BYTES, 0).decode("ascii", "replace").strip()
        return int(text) if text.isdecimal() else 0
    finally:
        os.close(descriptor)
    return None


def _open_to_ask(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        # Some network file systems lock only what is open for writing, so this comes second.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
