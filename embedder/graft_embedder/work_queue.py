"""Line up work for the one thread that computes: single queries first, then bulk in turns."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from graft.wire.errors import BusyError, StoppingError
from graft_embedder.engine import Engine, Tokens, Vectors
from graft_embedder.limits import (
    CALL_SECONDS_MAX,
    QUEUE_BYTES_MAX,
    QUEUE_CALLS_MAX,
    QUEUE_QUERY_RESERVE,
)
from graft_embedder.tally import Tally

logger = logging.getLogger(__name__)

RETRY_MS_MIN, RETRY_MS_MAX = 100, 30_000
RATE_SHARE = 0.1
"""How much the newest decode moves the running seconds per token."""

SECONDS_PER_TOKEN = 0.001
"""First estimate: what two processors take with the starter model."""


class CallEndedError(Exception):
    """The caller cancelled, or its deadline passed: nobody waits for the result."""


class Call:
    """One caller's patience: ends by cancellation or deadline, from any thread."""

    def __init__(self, seconds: float | None) -> None:
        """Give the caller's remaining *seconds*; None for one without a deadline."""
        limit = CALL_SECONDS_MAX if seconds is None else min(seconds, CALL_SECONDS_MAX)
        self._ends = time.monotonic() + limit
        self._lock = threading.Lock()
        self._ended = False
        self._on_end: Callable[[], None] | None = None

    def end(self) -> None:
        """Say that the caller has gone; what it waits for is dropped."""
        with self._lock:
            self._ended = True
            on_end = self._on_end
        if on_end is not None:
            on_end()

    def on_end(self, action: Callable[[], None]) -> None:
        """Run *action* when the caller goes, at once if it has gone."""
        with self._lock:
            self._on_end = action
            ended = self._ended
        if ended:
            action()

    def seconds_left(self) -> float:
        """Return the seconds until the deadline, 0 when it has passed."""
        return max(self._ends - time.monotonic(), 0.0)

    def go_on(self) -> None:
        """Return while the caller waits.

        Raises:
            CallEndedError: it has gone.
        """
        if self._ended or self.seconds_left() == 0.0:
            raise CallEndedError


class Job:
    """Sequences of one call, in groups that share a decode."""

    def __init__(self, sequences: Sequence[Tokens], groups: Sequence[tuple[int, ...]]) -> None:
        self.sequences = sequences
        self.groups = deque(groups)
        self.tokens = sum(map(len, sequences))
        self.vectors: Vectors | None = None
        self.problem: Exception | None = None
        self.dropped = False
        self.finished = threading.Event()
        self.waits_since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How much may wait or run.

    Attributes:
        calls_max: calls of any kind.
        query_reserve: places among them that only single queries may take.
        bytes_max: UTF-8 bytes of their texts.
    """

    calls_max: int = QUEUE_CALLS_MAX
    query_reserve: int = QUEUE_QUERY_RESERVE
    bytes_max: int = QUEUE_BYTES_MAX


class WorkQueue:
    """A bounded queue before one model thread."""

    def __init__(self, engine: Engine, limits: QueueLimits) -> None:
        self._engine = engine
        self._limits = limits
        self._changed = threading.Condition()
        self._queries: deque[Job] = deque()
        self._bulk: deque[Job] = deque()
        self._calls = 0
        self._bytes = 0
        self._tokens = 0
        self._rate = SECONDS_PER_TOKEN
        self._stopping = False
        self.tally = Tally()
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)
        self._thread.start()

    @property
    def calls(self) -> int:
        """Calls that wait or run."""
        return self._calls

    @contextmanager
    def place(self, text_bytes: int, *, query: bool) -> Iterator[None]:
        """Take a place for one call; leaving the block frees it, however it is left.

        Raises:
            BusyError: no place is free; it says when to try again.
            StoppingError: the service is stopping.
        """
        with self._changed:
            self._admit(text_bytes, query=query)
            self._calls += 1
            self._bytes += text_bytes
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                self._bytes -= text_bytes
                self._changed.notify_all()

    def _admit(self, text_bytes: int, *, query: bool) -> None:
        if self._stopping:
            raise StoppingError("the embedder is stopping; call again, a new one will be started")
        most = self._limits.calls_max - (0 if query else self._limits.query_reserve)
        # One call alone always fits, however the limits are set.
        if self._calls and (
            self._calls >= most or self._bytes + text_bytes > self._limits.bytes_max
        ):
            wait_ms = int(1000 * self._tokens * self._rate)
            raise BusyError(
                f"the embedder's queue is full ({self._calls} calls); try again shortly",
                retry_after_ms=min(max(wait_ms, RETRY_MS_MIN), RETRY_MS_MAX),
            )

    def run(self, job: Job, call: Call, *, query: bool) -> Vectors:
        """Compute *job* and return its vectors, one for each sequence in order.

        Raises:
            CallEndedError: the caller went before it was done; the rest is not computed.
            EngineError: the model could not.
        """
        with self._changed:
            job.waits_since = time.monotonic()
            (self._queries if query else self._bulk).append(job)
            self._tokens += job.tokens
            self._changed.notify_all()
        call.on_end(lambda: self._drop(job))
        if not job.finished.wait(call.seconds_left()):
            self._drop(job)
        if job.problem is not None:
            raise job.problem
        if job.vectors is None or job.dropped:
            raise CallEndedError
        return job.vectors

    def _drop(self, job: Job) -> None:
        with self._changed:
            if job.finished.is_set():
                return
            job.dropped = True
            for line in (self._queries, self._bulk):
                if job in line:
                    line.remove(job)
            self._finish(job)

    def _finish(self, job: Job) -> None:
        self._tokens -= job.tokens
        job.finished.set()

    def begin_stop(self) -> None:
        """Refuse new calls; those that have a place are finished."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def stop(self, seconds: float) -> bool:
        """Refuse new calls, wait for the rest, and tell whether the thread ended in time."""
        self.begin_stop()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_turn)
                if not (self._queries or self._bulk):
                    return
                # Between two decodes of bulk work a query that came gets its turn, and bulk
                # calls take turns, so that a title never waits for a whole book.
                line = self._queries or self._bulk
                job = line.popleft()
                group = job.groups.popleft()
            self._compute(job, group, line)

    def _has_turn(self) -> bool:
        return bool(self._queries or self._bulk or (self._stopping and not self._calls))

    def _count(self, job: Job, sequences: Sequence[Tokens], now: float) -> None:
        if job.waits_since is not None:
            self.tally.wait_seconds.add(now - job.waits_since)
            job.waits_since = None
        self.tally.batch_tokens.add(sum(map(len, sequences)))
        self.tally.batch_windows.add(len(sequences))

    def _compute(self, job: Job, group: tuple[int, ...], line: deque[Job]) -> None:
        sequences = [job.sequences[index] for index in group]
        began = time.monotonic()
        self._count(job, sequences, began)
        try:
            vectors = self._engine.encode(sequences)
            if job.vectors is None:
                shape = (len(job.sequences), self._engine.dimensions)
                job.vectors = np.empty(shape, np.float32)
            job.vectors[list(group)] = vectors
        except Exception as error:  # noqa: BLE001 - the root of the thread; the caller is told
            with self._changed:
                if not job.dropped:
                    job.problem = error
                    self._finish(job)
            return
        spent = (time.monotonic() - began) / sum(map(len, sequences))
        with self._changed:
            self._rate += RATE_SHARE * (spent - self._rate)
            if job.dropped:
                return
            if job.groups:
                line.append(job)
            else:
                self._finish(job)
