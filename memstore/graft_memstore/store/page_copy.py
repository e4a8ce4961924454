"""Copies a database file while others write to it.

SQLite's own backup copies page by page, so that a copy is the file as it was: tables whose rows
have no number of their own keep the numbers that others know them by, which VACUUM INTO would
give anew (sqlite-vec's are such tables).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from graft.wire.errors import DiskFullError
from graft_memstore.store.database import database_errors

STEP_PAGES = 1_024
"""Copied at once; in between it is told how far that is, and seen whether it is still wanted."""

ROOM_BYTES = 16 * 1024 * 1024
"""Must be left on the disk besides what is to be written."""


def copy_pages(source: apsw.Connection, path: Path) -> Iterator[tuple[int, int]]:
    """Copy the snapshot that *source* reads to *path*, a new file; yield bytes done and in all.

    Raises:
        ServiceError: see `database_errors`.
    """
    page_bytes = source.pragma("page_size")
    assert isinstance(page_bytes, int), "a page has a size"
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with database_errors(path), closing(apsw.Connection(str(path), flags=flags)) as target:
        path.chmod(0o600)
        # The copy is nobody's before it is whole, so that no power failure matters to it.
        target.execute("PRAGMA synchronous = OFF")
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(STEP_PAGES)
                total = backup.page_count
                yield (total - backup.remaining) * page_bytes, total * page_bytes
    settle(path)


def settle(path: Path) -> None:
    """Make a file that nobody has open whole by itself, without a log, and have it on the disk.

    Raises:
        ServiceError: see `database_errors`.
    """
    with (
        database_errors(path),
        closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection,
    ):
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_room(folder: Path, size: int, what: str) -> None:
    """See that *size* bytes more can lie on the disk of *folder*.

    Raises:
        DiskFullError: they cannot.
    """
    free = shutil.disk_usage(folder).free
    if free < size + ROOM_BYTES:
        raise DiskFullError(
            f"{what} takes {size:,} bytes and the disk of {folder} has {free:,} free, of which "
            f"{ROOM_BYTES:,} must stay; make room and try again"
        )
