"""The gRPC server of both services: options, refusals as rich errors, who is being served."""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, cast

import grpc
from typing_extensions import override

from graft.wire.call_ids import begin_call, end_call
from graft.wire.channel import MESSAGE_BYTES_MAX
from graft.wire.errors import BusyError, ServiceError, to_status
from graft.wire.events import event

THREADS = 64
CALLS_MAX = THREADS - 12
"""Calls that run or wait inside at once; the other threads are for health and status alone."""

REMOTE_THREADS = 40
"""Of callers from outside; fewer than `CALLS_MAX`, so that they never take every place."""

RETRY_AFTER_MS = 500

SLOW_MS = 2_000

log = logging.getLogger(__name__)

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
Around: TypeAlias = "Callable[[RequestT, grpc.ServicerContext], AbstractContextManager[None]]"
MethodHandler: TypeAlias = "grpc.RpcMethodHandler[RequestT, ReplyT] | None"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], MethodHandler[RequestT, ReplyT]]"


class ErrorInterceptor(grpc.ServerInterceptor):
    """Turns what handlers raise into statuses: refusals with their reason, bugs without text."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Wrap the handlers of our own services; the library's speak for themselves."""
        method = handler_call_details.method
        handler = continuation(handler_call_details)
        return wrapped(method, handler, lambda _, context: self._guard(method, context))

    @contextmanager
    def _guard(self, method: str, context: grpc.ServicerContext) -> Iterator[None]:
        started = time.monotonic()
        told = context.invocation_metadata() or ()
        call = begin_call((pair[0], pair[1]) for pair in told)
        try:
            with self._told(method, context, call):
                yield
            passed_ms = round((time.monotonic() - started) * 1000)
            level = logging.INFO if passed_ms > SLOW_MS else logging.DEBUG
            log.log(level, event("answered", method=method, ms=passed_ms))
        finally:
            end_call()

    @contextmanager
    def _told(self, method: str, context: grpc.ServicerContext, call: str) -> Iterator[None]:
        """Tell the caller of what is raised in the block."""
        try:
            yield
        except ServiceError as error:
            log.info(event("refused", method=method, reason=type(error).__name__))
            context.abort_with_status(to_status(error, self._domain))
        except Exception as error:
            if context.code() is not None:  # type: ignore[attr-defined] # stubs lack it
                raise  # a library's handler has aborted the call itself
            log.exception(event("bug", method=method))
            # Without text: what a bug's message holds may be a note.
            where = f"the service's log tells where it happened, under call={call}"
            context.abort(
                grpc.StatusCode.INTERNAL, f"internal error ({type(error).__name__}); {where}"
            )


class Activity(grpc.ServerInterceptor):
    """Counts calls that are use, and bounds them; health, reflection and status are not."""

    def __init__(self, not_use: Iterable[str]) -> None:
        self._not_use = frozenset(not_use)
        self._lock = threading.Lock()
        self._calls = 0
        self._last_use = time.monotonic()

    @property
    def calls(self) -> int:
        """Calls that run now."""
        with self._lock:
            return self._calls

    def idle_seconds(self) -> float:
        """Return how long nothing has been used; 0 while a call runs."""
        with self._lock:
            return 0.0 if self._calls else time.monotonic() - self._last_use

    def touch(self) -> None:
        """Count the present instant as use, for work that no call stands for."""
        with self._lock:
            self._last_use = time.monotonic()

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Wrap handlers that are use."""
        handler = continuation(handler_call_details)
        method = handler_call_details.method
        if method in self._not_use:
            return handler
        return wrapped(method, handler, lambda _, __: self._counted())

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            if self._calls >= CALLS_MAX:
                raise BusyError(
                    f"{self._calls} calls run already; try again", retry_after_ms=RETRY_AFTER_MS
                )
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._last_use = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What a server is made of besides its services.

    Attributes:
        around: what sees each call from its beginning to its end, refused ones too.
        admission: what decides who may call at all.
        inside: what else sees each call, and refusals as they are raised.
        threads: calls that it looks at at once.
        options: further options of gRPC's.
    """

    around: tuple[grpc.ServerInterceptor, ...] = ()
    admission: tuple[grpc.ServerInterceptor, ...] = ()
    inside: tuple[grpc.ServerInterceptor, ...] = ()
    threads: int = THREADS
    options: tuple[tuple[str, int], ...] = ()


def build_server(
    domain: str, activity: Activity, parts: ServerParts = ServerParts()
) -> grpc.Server:
    """Build a server that has no services and no address yet.

    Args:
        domain: names it in refusals.
        activity: counts its calls.
        parts: see `ServerParts`.
    """
    return grpc.server(
        futures.ThreadPoolExecutor(max_workers=parts.threads, thread_name_prefix="rpc"),
        interceptors=[
            *parts.around,
            ErrorInterceptor(domain),
            *parts.admission,
            activity,
            *parts.inside,
        ],
        options=[
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
            *parts.options,
        ],
    )


@dataclass(frozen=True, slots=True)
class Way(Generic[RequestT, ReplyT]):
    """How one call goes on to its handler.

    Attributes:
        request, context: what the handler gets.
        cut: changes a reply before it is sent; None: it goes as it is.
    """

    request: RequestT
    context: grpc.ServicerContext
    cut: Callable[[ReplyT], None] | None = None

    def back(self, reply: ReplyT) -> ReplyT:
        """Return *reply* as it is sent."""
        if self.cut is not None:
            self.cut(reply)
        return reply


def status_of(context: grpc.ServicerContext, otherwise: grpc.StatusCode) -> grpc.StatusCode:
    """Return how a call has ended: what was set, or whether its caller went, else *otherwise*."""
    told = context.code()  # type: ignore[attr-defined] # stubs lack it
    if isinstance(told, grpc.StatusCode):
        return told
    return otherwise if context.is_active() else grpc.StatusCode.CANCELLED


def wrapped(
    method: str, handler: MethodHandler[RequestT, ReplyT], around: Around[RequestT]
) -> MethodHandler[RequestT, ReplyT]:
    """Put *around* about each call of one of our handlers; the library's are left alone.

    Where requests come as a stream, *around* sees their iterator.
    """
    if handler is None or method.startswith("/grpc."):
        return handler

    @contextmanager
    def way(request: RequestT, context: grpc.ServicerContext) -> Iterator[Way[RequestT, ReplyT]]:
        with around(request, context):
            yield Way(request, context)

    return passed(handler, way)


def passed(
    handler: MethodHandler[RequestT, ReplyT],
    way: Callable[[RequestT, grpc.ServicerContext], AbstractContextManager[Way[RequestT, ReplyT]]],
) -> MethodHandler[RequestT, ReplyT]:
    """Let each call go on to *handler* in the way that *way* says; ours never stream both ways."""
    if handler is None:
        return None
    if handler.stream_unary is not None:
        return _passed_sent(handler, way)
    answer, answer_all = handler.unary_unary, handler.unary_stream

    def answered(request: RequestT, context: grpc.ServicerContext) -> ReplyT:
        assert answer is not None, "it is called for those alone that answer once"
        with way(request, context) as found:
            return found.back(answer(found.request, found.context))

    def streamed(request: RequestT, context: grpc.ServicerContext) -> Iterator[ReplyT]:
        assert answer_all is not None, "it is called for those alone that answer with a stream"
        with way(request, context) as found:
            yield from map(found.back, answer_all(found.request, found.context))

    if answer_all is not None:
        return grpc.unary_stream_rpc_method_handler(
            streamed,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )
    assert answer is not None, "no service of ours is sent a stream and answers with one"
    return grpc.unary_unary_rpc_method_handler(
        answered,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )


def _passed_sent(
    handler: grpc.RpcMethodHandler[RequestT, ReplyT],
    way: Callable[[RequestT, grpc.ServicerContext], AbstractContextManager[Way[RequestT, ReplyT]]],
) -> MethodHandler[RequestT, ReplyT]:
    """Let each call that is sent a stream go on; to *way* the stream is the request."""
    answer = handler.stream_unary

    def taken(requests: Iterator[RequestT], context: grpc.ServicerContext) -> ReplyT:
        assert answer is not None, "it is called for those alone that are sent a stream"
        with way(cast("RequestT", requests), context) as found:
            return found.back(answer(cast("Iterator[RequestT]", found.request), found.context))

    return grpc.stream_unary_rpc_method_handler(
        taken,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
