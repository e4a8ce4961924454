"""Opens a profile's database file as every connection of ours must have it."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import apsw
import sqlite_vec

from graft.wire.errors import (
    DatabaseDamagedError,
    DatabaseLockedError,
    DiskFullError,
    ServiceError,
    WrongStateError,
)
from graft_memstore.store.filesystem import (
    file_system_of,
    read_mounts,
    write_ahead_log_is_safe,
)

Connection: TypeAlias = apsw.Connection
"""What lies outside the store hands connections on by this name, and never makes one."""

StatementError: TypeAlias = apsw.Error
"""What a statement raises, for whoever outside the store can go on without it."""

LOCK_WAIT_MS = 10_000
"""How long a connection waits at most for another program's lock before it gives up."""

FREE_BYTES_MIN = 64 * 1024
"""With less room than this the memory that connections share cannot grow."""

LACK_OF_ROOM = (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)
"""What SQLite may call it when there was no room for one of its files."""

PRIVATE_FILE = 0o600
OTHERS_MAY = 0o077

PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    # An acknowledged write is on the disk, not in a cache.
    "PRAGMA synchronous = FULL",
    # What is deleted is overwritten with zeros; see erasures.
    "PRAGMA secure_delete = ON",
    # Without it INSERT OR REPLACE walks past the triggers that keep events append-only.
    "PRAGMA recursive_triggers = ON",
    "PRAGMA temp_store = MEMORY",
)


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's failures on *path* into refusals; a bug in a statement stays as it is.

    Raises:
        DatabaseLockedError: another program kept its lock for longer than was waited.
        DiskFullError: there is no room.
        DatabaseDamagedError: the file is no database, is damaged, or the disk fails.
        WrongStateError: the file cannot be opened or written.
    """
    try:
        yield
    except apsw.Error as error:
        refusal = _refusal_for(error, path)
        if refusal is None:
            raise
        raise refusal from error


def _refusal_for(error: apsw.Error, path: Path) -> ServiceError | None:
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return locked_by_another(path)
    if isinstance(error, apsw.FullError) or (isinstance(error, LACK_OF_ROOM) and is_full(path)):
        return no_room(path)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return DatabaseDamagedError(f"{path} is damaged ({error}); run `graft doctor`")
    if isinstance(error, apsw.IOError):
        return DatabaseDamagedError(
            f"the disk of {path} failed to read or write ({error}); run `graft doctor`"
        )
    if isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)):
        return _unwritable(path, str(error))
    return None


def locked_by_another(path: Path) -> DatabaseLockedError:
    """Build the refusal that says who is in the way of a change of *path*."""
    return DatabaseLockedError(
        f"another program holds the lock of {path}, so nothing can be changed; find it with:"
        f" fuser {path}, and end it or try again"
    )


def no_room(path: Path) -> DiskFullError:
    """Build the refusal of a change of *path* on a disk that is full."""
    return DiskFullError(f"no room left on the disk of {path}; free some and try again")


def is_full(path: Path) -> bool:
    """Tell whether the disk of *path* has no room left; SQLite does not always say so."""
    try:
        return shutil.disk_usage(path.parent).free < FREE_BYTES_MIN
    except OSError:
        return False


def open_connection(
    path: Path, *, write: bool = True, mounts: Callable[[], str] = read_mounts
) -> apsw.Connection:
    """Open *path* with every pragma and extension that the store relies on.

    A missing file is made, readable by its owner alone, and a file that others may read loses
    that. Who writes also chooses its journal; with ``write=False`` the connection refuses to
    change anything.

    Args:
        path: the database file.
        write: whether anything is to be changed.
        mounts: tells what is mounted where, as ``/proc/self/mountinfo`` has it.

    Raises:
        ServiceError: see `database_errors`.
    """
    _keep_private(path)
    with database_errors(path):
        if write:
            _choose_journal(path, mounts())
        return _prepared(_connect(path), write=write)


def open_cramped(path: Path) -> apsw.Connection:
    """Open *path* for reading on a disk that has no room for the memory that connections share.

    Each such connection keeps that memory for itself, which SQLite allows as long as nobody
    writes. One of them in the process keeps every other from writing.

    Raises:
        ServiceError: see `database_errors`.
    """
    _keep_private(path)
    # It is only looked at, but has to be there; an empty file takes no room.
    _keep_private(path.with_name(f"{path.name}-shm"))
    address = f"file:{quote(str(path))}?readonly_shm=1"
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    with database_errors(path):
        connection = apsw.Connection(address, flags=flags)
        connection.set_busy_timeout(LOCK_WAIT_MS)
        return _prepared(connection, write=False)


def _prepared(connection: apsw.Connection, *, write: bool) -> apsw.Connection:
    try:
        # Otherwise each new value that is bound makes SQLite plan the statement anew, which
        # costs a search more than running its statements does.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _load_vectors(connection)
        for pragma in PRAGMAS:
            connection.execute(pragma)
        if not write:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def journal_mode(path: Path, mounts: str) -> str:
    """Return the journal for a database at *path*: "wal", or "delete" where that is unsafe."""
    real = Path(os.path.realpath(path))
    return "wal" if write_ahead_log_is_safe(file_system_of(real, mounts)) else "delete"


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(LOCK_WAIT_MS)
    return connection


def _choose_journal(path: Path, mounts: str) -> None:
    """Give the file its journal: the write-ahead log where that works, else the rollback one."""
    if journal_mode(path, mounts) != "wal" or not _takes_the_log(path):
        _leave_the_log(path)


def _takes_the_log(path: Path) -> bool:
    """Bring the file to the write-ahead log; tell whether it can be written to by that.

    The type of a file system promises shared memory, and it may fail all the same.
    """
    with closing(_connect(path)) as connection:
        try:
            # The answer is the mode that holds now: "delete" where shared memory cannot be had.
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            # Only who writes needs the shared memory whole; waiting is for later.
            connection.set_busy_timeout(0)
            if _can_begin(connection):
                connection.execute("ROLLBACK")
        except (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError, apsw.ReadOnlyError):
            if is_full(path):
                raise  # it lacks room today, which is no reason to change its journal
            return False
    return mode == ("wal",)


def _can_begin(connection: apsw.Connection) -> bool:
    """Take the lock; False where another program has it, by the shared memory that is there."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        return False
    return True


def _leave_the_log(path: Path) -> None:
    """Bring the file to the rollback journal, with all that is still in its write-ahead log."""
    with closing(_connect(path)) as connection:
        # Whoever is alone with the file reads the log without shared memory.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


def _load_vectors(connection: apsw.Connection) -> None:
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)


def _keep_private(path: Path) -> None:
    """Make a missing file for its owner alone, and close one that others may read to them.

    One that is there is never opened here: closing it would give back every lock that this
    process holds on it through SQLite (sqlite.org/howtocorrupt.html, 2.2), and another program
    would then take the log away under us.
    """
    try:
        with suppress(FileExistsError):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(path, flags, PRIVATE_FILE))
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS_MAY:
            path.chmod(mode & ~OTHERS_MAY)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if not path.is_file():
        raise _unwritable(path, "it is no file")
    if not os.access(path, os.R_OK | os.W_OK):
        raise _unwritable(path, os.strerror(errno.EACCES))


def _unwritable(path: Path, why: str) -> WrongStateError:
    return WrongStateError(
        f"{path} cannot be opened for writing ({why}); check its owner and mode",
        metadata={"state": "unwritable"},
    )
