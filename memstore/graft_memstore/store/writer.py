"""One thread that makes all changes to one database file, each request in its own transaction."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import TypeVar

import apsw

from graft.wire.errors import BusyError, DatabaseLockedError, StoppingError
from graft.wire.events import event
from graft_memstore.store.database import LOCK_WAIT_MS, database_errors, locked_by_another

WRITES_WAITING_MAX = 256
"""Changes that may wait for the writer; one more is refused as busy."""

WRITE_WAIT_SECONDS = 30.0
"""How long a change waits for its turn and for another program's lock."""

RETRY_AFTER_MS = 200
STOP_SECONDS = 15.0

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")
Job = Callable[[apsw.Connection], ResultT]


class Writer:
    """Runs jobs one after another on the only connection that writes.

    A job that returns has been committed and synced when its caller hears of it; one that
    raises has changed nothing.
    """

    def __init__(
        self,
        path: Path,
        connection: apsw.Connection,
        after_commit: Callable[[apsw.Connection], None],
    ) -> None:
        self._path = path
        self._connection = connection
        self._after_commit = after_commit
        # None ends the thread.
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(WRITES_WAITING_MAX)
        self._stopping = False
        # True while the thread waits for the file's lock; of our own changes none ever holds it.
        self._locked_out = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name=f"writer-{path}", daemon=True)
        self._thread.start()

    def write(self, job: Job[ResultT], wait_seconds: float = WRITE_WAIT_SECONDS) -> ResultT:
        """Run *job* inside a transaction of its own and return what it returns.

        Raises:
            BusyError: too many changes wait.
            DatabaseLockedError: it was not its turn within *wait_seconds*, or another program
                held the lock for so long, or for `LOCK_WAIT_MS`.
            StoppingError: the service is stopping.
            DiskFullError, DatabaseDamagedError, WrongStateError: see `database_errors`.
        """
        end = time.monotonic() + wait_seconds
        return self._submit(lambda: self._transact(job, end), wait_seconds)

    def run(self, job: Job[ResultT], wait_seconds: float = WRITE_WAIT_SECONDS) -> ResultT:
        """Run *job* on the writer's connection outside a transaction, such as a checkpoint.

        Raises:
            ServiceError: as `write`.
        """
        return self._submit(lambda: job(self._connection), wait_seconds)

    def close(self) -> None:
        """Finish the jobs that wait, then close the connection."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
        self._jobs.put(None)
        self._thread.join(STOP_SECONDS)

    def _submit(self, work: Callable[[], ResultT], wait_seconds: float) -> ResultT:
        future: Future[ResultT] = Future()
        self._enqueue(lambda: _settle(future, work, self._path))
        try:
            return future.result(wait_seconds)
        except FutureTimeoutError as error:
            if not future.cancel():
                # It runs already, and ends by itself: the lock's wait is bounded.
                return future.result()
            if self._locked_out:
                raise locked_by_another(self._path) from error
            raise DatabaseLockedError(
                f"{self._path} was being written to for {wait_seconds:.0f} s; try again"
            ) from error

    def _enqueue(self, task: Callable[[], None]) -> None:
        with self._lock:
            if self._stopping:
                raise StoppingError("the service is stopping; call again to start it anew")
            try:
                self._jobs.put_nowait(task)
            except queue.Full as error:
                raise BusyError(
                    f"{WRITES_WAITING_MAX} changes wait already; try again",
                    retry_after_ms=RETRY_AFTER_MS,
                ) from error

    def _work(self) -> None:
        while (task := self._jobs.get()) is not None:
            task()
        self._connection.close()

    def _transact(self, job: Job[ResultT], end: float) -> ResultT:
        self._begin(end)
        try:
            result = job(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk has rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        try:
            self._after_commit(self._connection)
        except Exception:
            # The change is on the disk: its caller must hear so, whatever comes after.
            log.exception(event("bug after commit", path=self._path))
        return result

    def _begin(self, end: float) -> None:
        """Take the file's lock, waiting for another program's until *end* at most."""
        left_ms = max(int((end - time.monotonic()) * 1000), 0)
        self._connection.set_busy_timeout(min(left_ms, LOCK_WAIT_MS))
        self._locked_out = True
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        finally:
            self._locked_out = False


def _settle(future: "Future[ResultT]", work: Callable[[], ResultT], path: Path) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        with database_errors(path):
            result = work()
    except BaseException as error:  # noqa: BLE001 - the thread's root: the caller gets it
        future.set_exception(error)
    else:
        future.set_result(result)
