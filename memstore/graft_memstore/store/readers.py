"""Connections that read, each read in one snapshot of the file."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from graft.wire.errors import BusyError, StoppingError
from graft_memstore.store.database import database_errors

READERS_MAX = 16
"""Snapshots of one profile that may be open at once."""

READER_WAIT_SECONDS = 10.0
RETRY_AFTER_MS = 200


class Readers:
    """A bounded pool of reading connections, opened when first needed."""

    def __init__(self, path: Path, open_reader: Callable[[], apsw.Connection]) -> None:
        self._path = path
        self._open_reader = open_reader
        self._free = threading.BoundedSemaphore(READERS_MAX)
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """Lend a connection inside a read transaction that has begun.

        Everything read through it is of one instant, whatever is written meanwhile.

        Raises:
            BusyError: too many reads have run for too long.
            StoppingError: the service is stopping.
            ServiceError: see `database_errors`.
        """
        if not self._free.acquire(timeout=READER_WAIT_SECONDS):
            raise BusyError(
                f"{READERS_MAX} reads of {self._path} run already; try again",
                retry_after_ms=RETRY_AFTER_MS,
            )
        try:
            with database_errors(self._path):
                connection = self._take()
                try:
                    connection.execute("BEGIN")
                    # BEGIN alone takes no snapshot; the first thing that is read does.
                    connection.pragma("user_version")
                    yield connection
                finally:
                    self._give_back(connection)
        finally:
            self._free.release()

    def close(self) -> None:
        """Close what is idle now, and the rest when it is given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoppingError("the service is stopping; call again to start it anew")
            if self._idle:
                return self._idle.pop()
        return self._open_reader()

    def _give_back(self, connection: apsw.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            connection.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()
