"""One caller's way to the memstore: found, started if need be, called with deadline and retries."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from graft.wire.channel import open_channel
from graft.wire.endpoints import Endpoint
from graft.wire.errors import Refusal, read_refusal
from graft_client.errors import DeadlineError, GraftError, NobodyAnsweredError
from graft_client.operation import Operation
from graft_client.programs import MEMSTORE
from graft_client.reaching import why_unreachable
from graft_client.refusals import Retries, to_graft_error, went_away
from graft_client.services import Located, Services

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")

LEFT_CHANNELS_MAX = 4


class Connection:
    """A channel to the memstore that is opened at the first call and again when it breaks.

    May be used from several threads at once.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._channel: tuple[grpc.Channel, Located] | None = None
        # Other threads' calls may still be finishing on a channel that is used no more.
        self._left: deque[grpc.Channel] = deque()
        self._closed = threading.Event()

    def call(self, operation: Operation[ReplyT, ResultT], seconds: float) -> ResultT:
        """Make one call within *seconds*, again where that is safe.

        Raises:
            GraftError: it failed; the gRPC error is its cause.
        """
        deadline = time.monotonic() + seconds
        if not operation.repeatable:
            return self.call_at(self._services.ensure(deadline), operation, seconds)
        retries = Retries()
        while True:
            channel, located = self._open(deadline)
            try:
                return operation.read(self._call_once(channel, operation, deadline))
            except grpc.RpcError as error:
                refusal = read_refusal(error)
                if went_away(refusal):
                    self._leave(channel)
                pause = retries.pause_seconds(refusal, deadline - time.monotonic())
                if pause is None or self._closed.is_set():
                    raise explain(refusal, self._services, located, seconds) from error
            self._closed.wait(pause)

    def call_at(
        self, located: Located, operation: Operation[ReplyT, ResultT], seconds: float
    ) -> ResultT:
        """Make one call to the memstore at *located*, once, starting nothing.

        Raises:
            GraftError: it failed; the gRPC error is its cause.
        """
        with open_channel(located.at, located.trust) as channel:
            try:
                deadline = time.monotonic() + seconds
                return operation.read(self._call_once(channel, operation, deadline))
            except grpc.RpcError as error:
                refusal = read_refusal(error)
                raise explain(refusal, self._services, located, seconds) from error

    def stream(self, operation: Operation[ReplyT, ResultT], seconds: float) -> Iterator[ResultT]:
        """Make one call that is answered piece by piece, once, on a channel of its own.

        Raises:
            GraftError: it failed; the gRPC error is its cause.
        """
        located = self._services.ensure(time.monotonic() + seconds)
        with open_channel(located.at, located.trust) as channel:
            method: grpc.UnaryStreamMultiCallable[Message, ReplyT] = channel.unary_stream(
                operation.path,
                request_serializer=type(operation.request).SerializeToString,
                response_deserializer=operation.reply.FromString,
            )
            metadata = (*self._services.metadata(), *operation.metadata())
            try:
                for reply in method(operation.request, timeout=seconds, metadata=metadata):
                    yield operation.read(reply)
            except grpc.RpcError as error:
                refusal = read_refusal(error)
                raise explain(refusal, self._services, located, seconds) from error

    def send(
        self, operation: Operation[ReplyT, ResultT], following: Iterator[Message], seconds: float
    ) -> ResultT:
        """Make one call whose request is followed by others, once, on a channel of its own.

        Raises:
            GraftError: it failed; the gRPC error is its cause, or what *following* raised.
        """
        located = self._services.ensure(time.monotonic() + seconds)
        failed: list[GraftError] = []

        def requests() -> Iterator[Message]:
            try:
                yield operation.request
                yield from following
            except GraftError as error:
                # gRPC would only tell that the call was cancelled.
                failed.append(error)
                raise

        with open_channel(located.at, located.trust) as channel:
            method: grpc.StreamUnaryMultiCallable[Message, ReplyT] = channel.stream_unary(
                operation.path,
                request_serializer=type(operation.request).SerializeToString,
                response_deserializer=operation.reply.FromString,
            )
            metadata = (*self._services.metadata(), *operation.metadata())
            try:
                return operation.read(method(requests(), timeout=seconds, metadata=metadata))
            except grpc.RpcError as error:
                if failed:
                    raise failed[0] from error
                refusal = read_refusal(error)
                raise explain(refusal, self._services, located, seconds) from error

    def close(self) -> None:
        """Close the channel; a call that waits for another try gives up."""
        self._closed.set()
        with self._lock:
            if self._channel is not None:
                self._left.append(self._channel[0])
                self._channel = None
            while self._left:
                self._left.popleft().close()

    def _call_once(
        self, channel: grpc.Channel, operation: Operation[ReplyT, ResultT], deadline: float
    ) -> ReplyT:
        method: grpc.UnaryUnaryMultiCallable[Message, ReplyT] = channel.unary_unary(
            operation.path,
            request_serializer=type(operation.request).SerializeToString,
            response_deserializer=operation.reply.FromString,
        )
        left = max(deadline - time.monotonic(), 0.0)
        metadata = (*self._services.metadata(), *operation.metadata())
        return method(operation.request, timeout=left, metadata=metadata)

    def _open(self, deadline: float) -> tuple[grpc.Channel, Located]:
        with self._lock:
            if self._channel is None:
                if self._closed.is_set():
                    raise GraftError("this Graft has been closed; make a new one")
                located = self._services.ensure(deadline)
                self._channel = (open_channel(located.at, located.trust), located)
            if time.monotonic() >= deadline:
                raise DeadlineError("no time was left for the call; give more with --timeout")
            return self._channel

    def _leave(self, broken: grpc.Channel) -> None:
        """Use *broken* no more, unless another thread has seen to it already."""
        with self._lock:
            if self._channel is not None and self._channel[0] is broken:
                self._left.append(broken)
                self._channel = None
            while len(self._left) > LEFT_CHANNELS_MAX:
                self._left.popleft().close()


def explain(refusal: Refusal, services: Services, located: Located, seconds: float) -> GraftError:
    """Say in words for people why a call to *located* failed."""
    if services.configuration.target is not None and went_away(refusal):
        why = why_unreachable(located.at, located.trust) or "nothing answers there"
        return NobodyAnsweredError(
            f"{located.at}, which target (GRAFT_TARGET) names, cannot be called: {why}; start the"
            " memstore there, or unset it to use this home's own"
        )
    if isinstance(located.at, Endpoint):
        return to_graft_error(
            refusal, whom=f"the memstore at {located.at}", log="its own log", seconds=seconds
        )
    log = services.configuration.home.log(MEMSTORE)
    whom = f"the memstore at {located.at}"
    if located.pid:
        whom = f"the memstore (process {located.pid})"
    return to_graft_error(refusal, whom=whom, log=str(log), seconds=seconds)
