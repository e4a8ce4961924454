"""When a call gives up, and whether its caller has gone already."""

import threading
import time
from collections.abc import Callable
from typing import Self

import grpc

from graft.wire.metadata import HOOK_DOOR, CallMetadata

DEFAULT_SECONDS = 30.0
"""For a call that came without a deadline."""

LONGEST_SECONDS = 3600.0
"""A call may not take longer, whatever its deadline."""

ANSWER_MARGIN_SECONDS = 1.0
"""Work that is waited for ends this long before its caller gives up, who then hears why."""

NO_DEADLINE_SECONDS = 1e9
"""gRPC reports some hundred thousand million years where the caller set no deadline."""


class Deadline:
    """One call's time, passed down to whatever works for it.

    Args:
        seconds: how long it may take from now on.
        monotonic: clock, in seconds.
        patient: it may start a model, and wait for one that is starting or busy.
    """

    def __init__(
        self,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        patient: bool = True,
    ) -> None:
        self.patient = patient
        self._monotonic = monotonic
        self._end = monotonic() + seconds
        self._gone = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []

    @classmethod
    def of_call(cls, context: grpc.ServicerContext) -> Self:
        """Return the deadline of the call that *context* belongs to.

        An agent's hook, which holds up what a person just typed, starts nothing and waits for no
        model.
        """
        left = context.time_remaining()
        none_set = left > NO_DEADLINE_SECONDS
        told = context.invocation_metadata() or ()
        metadata = CallMetadata.read((pair[0], pair[1]) for pair in told)
        deadline = cls(
            DEFAULT_SECONDS if none_set else min(left, LONGEST_SECONDS),
            patient=metadata.door != HOOK_DOOR,
        )
        if not context.add_callback(deadline.cancel):
            deadline.cancel()
        return deadline

    def left(self) -> float:
        """Return the seconds that are left, 0 when it is over or the caller has gone."""
        return 0.0 if self._gone.is_set() else max(self._end - self._monotonic(), 0.0)

    def sooner(self, seconds: float) -> float:
        """Return the seconds that are left less *seconds*, or half of them if that is more.

        So a caller is answered *seconds* before it gives up, and one in a hurry still gets a try.
        """
        left = self.left()
        return max(left - seconds, left / 2)

    def for_work(self) -> float:
        """Return the seconds that work may take so that its caller still hears how it went."""
        return self.sooner(ANSWER_MARGIN_SECONDS)

    def wait(self, seconds: float) -> None:
        """Wait *seconds*, less when the caller goes or time is over."""
        self._gone.wait(min(seconds, self.left()))

    def cancel(self) -> None:
        """Say that the caller has gone, or has been answered."""
        with self._lock:
            self._gone.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Call *callback* once the caller has gone; at once if it has."""
        with self._lock:
            if not self._gone.is_set():
                self._callbacks.append(callback)
                return
        callback()
