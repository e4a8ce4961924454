"""Reads a file of a project whole, if it is one and not too large."""

import os
import stat
from pathlib import Path


class UnreadableError(Exception):
    """A file is there and cannot be used; the text says why."""


def read_text(path: Path, bytes_max: int) -> str | None:
    """Return what *path* holds; None where nothing is there.

    Raises:
        UnreadableError: it is no regular file, too large, no UTF-8, or not to be read.
    """
    try:
        content = _read(path, bytes_max + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    if len(content) > bytes_max:
        raise UnreadableError(f"larger than {bytes_max >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"no UTF-8 (byte {error.start})") from error


def _read(path: Path, count: int) -> bytes:
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnreadableError("no regular file")
        return file.read(count)


def _open_at_once(path: str, flags: int) -> int:
    # Without the flag a pipe of that name would be waited for.
    return os.open(path, flags | os.O_NONBLOCK)
