"""Counts calls by method and status, how long they took, and what the gate answered."""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from typing_extensions import override

from graft.memory.v1 import recall_service_pb2
from graft.wire.server import Way, passed, status_of
from graft_memstore.metrics.families import ANSWERS, CALL_SECONDS, CALLS, CALLS_RUNNING

if TYPE_CHECKING:
    from graft.wire.server import Continuation, MethodHandler

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")

BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
OTHER = "other"
"""What a method is called that nobody knows: callers choose such names, and each is a series."""


class CallMetrics(grpc.ServerInterceptor):
    """Sees every call of ours from its beginning to its end.

    Args:
        registry: what the metrics are told from.
        known: full names of the methods that there are.
    """

    def __init__(self, registry: CollectorRegistry, known: Collection[str]) -> None:
        self._known = frozenset(known)
        self._calls = Counter(CALLS.name, CALLS.about, CALLS.labels, registry=registry)
        self._seconds = Histogram(
            CALL_SECONDS.name,
            CALL_SECONDS.about,
            CALL_SECONDS.labels,
            buckets=BUCKETS_SECONDS,
            registry=registry,
        )
        self._running = Gauge(CALLS_RUNNING.name, CALLS_RUNNING.about, registry=registry)
        self._answers = Counter(ANSWERS.name, ANSWERS.about, ANSWERS.labels, registry=registry)

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Wrap the handlers of our own services; health and reflection are not counted."""
        method = handler_call_details.method
        handler = continuation(handler_call_details)
        if method.startswith("/grpc."):
            return handler
        if handler is None:  # no such rpc: gRPC answers that itself
            self._calls.labels(OTHER, grpc.StatusCode.UNIMPLEMENTED.name).inc()
            return None
        name = _short(method) if method in self._known else OTHER

        @contextmanager
        def way(
            request: RequestT, context: grpc.ServicerContext
        ) -> Iterator[Way[RequestT, ReplyT]]:
            started = time.monotonic()
            code = grpc.StatusCode.OK
            self._running.inc()
            try:
                yield Way(request, context, self._see)
            except BaseException:
                code = grpc.StatusCode.UNKNOWN
                raise
            finally:
                self._running.dec()
                self._seconds.labels(name).observe(time.monotonic() - started)
                self._calls.labels(name, status_of(context, code).name).inc()

        return passed(handler, way)

    def _see(self, reply: object) -> None:
        if isinstance(reply, recall_service_pb2.QueryResponse):
            level = recall_service_pb2.Hit.Name(reply.hit).removeprefix("HIT_").lower()
            self._answers.labels(level).inc()


def _short(method: str) -> str:
    """Return service and rpc of ``/package.Service/Rpc``, such as ``NotesService.InsertNote``."""
    service, _, rpc = method.removeprefix("/").partition("/")
    return f"{service.rpartition('.')[2]}.{rpc}"
