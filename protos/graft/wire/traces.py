"""Traces of calls over both hops, told to a collector of OpenTelemetry's on this machine.

Imported where somebody wants them and nowhere else: the libraries take a fifth of a second.
"""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from typing_extensions import override

from graft.wire.build import build_id
from graft.wire.call_ids import carry
from graft.wire.channel import LOOPBACK_OPTIONS
from graft.wire.server import Way, passed, status_of

if TYPE_CHECKING:
    from graft.wire.server import Continuation, MethodHandler

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")

STOP_SECONDS = 2.0
"""How long a service that ends waits for the collector."""

OTHER = "other"
"""What a method is called that nobody knows: callers choose such names."""

FAILURES = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""Statuses that are a server's failure, by OpenTelemetry's conventions for gRPC."""


class Tracing:
    """Tells a collector of the calls of one service.

    Args:
        service: its name, such as "graft-memstore".
        collector: ``HOST:PORT`` of what takes OTLP over gRPC.
        known: full names of the methods that there are; None: all that have handlers.

    Attributes:
        calls: sees each call; stands before every other interceptor.
    """

    def __init__(self, service: str, collector: str, known: Collection[str] | None = None) -> None:
        told = {"service.name": service, "service.version": build_id()}
        self._provider = TracerProvider(resource=Resource(told), shutdown_on_exit=False)
        exporter = OTLPSpanExporter(
            endpoint=collector,
            insecure=True,
            channel_options=LOOPBACK_OPTIONS,  # type: ignore[arg-type] # its hint allows one pair
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self.calls = TraceInterceptor(self._provider.get_tracer("graft"), known)

    def stop(self) -> None:
        """Tell what has not been told yet, if the collector takes it in time."""
        # The library tries again and again where nobody answers.
        last = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        last.start()
        last.join(STOP_SECONDS)


class TraceInterceptor(grpc.ServerInterceptor):
    """Makes a span of each call of ours, below the caller's if that told of one.

    Args:
        tracer: makes them.
        known: see `Tracing`.
    """

    def __init__(self, tracer: Tracer, known: Collection[str] | None) -> None:
        self._tracer = tracer
        self._known = known
        self._propagator = TraceContextTextMapPropagator()

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Wrap the handlers of our own services; health and reflection leave no trace."""
        method = handler_call_details.method
        handler = continuation(handler_call_details)
        if handler is None or method.startswith("/grpc."):
            return handler
        name = method if self._known is None or method in self._known else OTHER

        @contextmanager
        def way(
            request: RequestT, context: grpc.ServicerContext
        ) -> Iterator[Way[RequestT, ReplyT]]:
            span = self._begin(name, context)
            code = grpc.StatusCode.OK
            try:
                yield Way(request, context)
            except BaseException:
                code = grpc.StatusCode.UNKNOWN
                raise
            finally:
                carry(())
                _end(span, status_of(context, code))

        return passed(handler, way)

    def _begin(self, method: str, context: grpc.ServicerContext) -> Span:
        told = {
            pair[0]: pair[1]
            for pair in context.invocation_metadata() or ()
            if pair[0] in self._propagator.fields and isinstance(pair[1], str)
        }
        service, _, rpc = method.removeprefix("/").partition("/")
        span = self._tracer.start_span(
            method.removeprefix("/"),
            context=self._propagator.extract(told),
            kind=SpanKind.SERVER,
            attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": rpc},
        )
        onward: dict[str, str] = {}
        self._propagator.inject(onward, context=set_span_in_context(span))
        carry(tuple(onward.items()))
        return span


def _end(span: Span, code: grpc.StatusCode) -> None:
    number, _ = code.value
    span.set_attribute("rpc.grpc.status_code", number)
    if code in FAILURES:
        span.set_status(StatusCode.ERROR)
    span.end()
