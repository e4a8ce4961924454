"""The asyncio twin of `graft_client.connection`."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from graft.wire.channel import open_async_channel
from graft.wire.errors import read_refusal
from graft_client.connection import explain
from graft_client.errors import DeadlineError, GraftError
from graft_client.operation import Operation
from graft_client.refusals import Retries, went_away
from graft_client.services import Located, Services

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class AsyncConnection:
    """A channel to the memstore for one event loop, opened at the first call."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = asyncio.Lock()
        self._channel: tuple[grpc.aio.Channel, Located] | None = None
        self._left: list[grpc.aio.Channel] = []
        self._closed = False

    async def call(self, operation: Operation[ReplyT, ResultT], seconds: float) -> ResultT:
        """Make one call within *seconds*, again where that is safe.

        Raises:
            GraftError: it failed; the gRPC error is its cause.
        """
        deadline = time.monotonic() + seconds
        retries = Retries()
        while True:
            channel, located = await self._open(deadline)
            try:
                return operation.read(await self._call_once(channel, operation, deadline))
            except grpc.aio.AioRpcError as error:
                refusal = read_refusal(error)
                if went_away(refusal):
                    await self._leave(channel)
                pause = None
                if operation.repeatable:
                    pause = retries.pause_seconds(refusal, deadline - time.monotonic())
                if pause is None:
                    raise explain(refusal, self._services, located, seconds) from error
            await asyncio.sleep(pause)

    async def stream(
        self, operation: Operation[ReplyT, ResultT], seconds: float
    ) -> AsyncIterator[ResultT]:
        """Make one call that is answered piece by piece, once, on a channel of its own.

        Raises:
            GraftError: it failed; the gRPC error is its cause.
        """
        located = await asyncio.to_thread(self._services.ensure, time.monotonic() + seconds)
        async with open_async_channel(located.at, located.trust) as channel:
            method: grpc.aio.UnaryStreamMultiCallable[Message, ReplyT] = channel.unary_stream(
                operation.path,
                request_serializer=type(operation.request).SerializeToString,
                response_deserializer=operation.reply.FromString,
            )
            metadata = (*self._services.metadata(), *operation.metadata())
            try:
                async for reply in method(operation.request, timeout=seconds, metadata=metadata):
                    yield operation.read(reply)
            except grpc.aio.AioRpcError as error:
                refusal = read_refusal(error)
                raise explain(refusal, self._services, located, seconds) from error

    async def close(self) -> None:
        """Close the channel."""
        async with self._lock:
            self._closed = True
            if self._channel is not None:
                self._left.append(self._channel[0])
                self._channel = None
            while self._left:
                await self._left.pop().close()

    async def _call_once(
        self, channel: grpc.aio.Channel, operation: Operation[ReplyT, ResultT], deadline: float
    ) -> ReplyT:
        method: grpc.aio.UnaryUnaryMultiCallable[Message, ReplyT] = channel.unary_unary(
            operation.path,
            request_serializer=type(operation.request).SerializeToString,
            response_deserializer=operation.reply.FromString,
        )
        left = max(deadline - time.monotonic(), 0.0)
        metadata = (*self._services.metadata(), *operation.metadata())
        return await method(operation.request, timeout=left, metadata=metadata)

    async def _open(self, deadline: float) -> tuple[grpc.aio.Channel, Located]:
        async with self._lock:
            if self._channel is None:
                if self._closed:
                    raise GraftError("this AsyncGraft has been closed; make a new one")
                # Starting waits on locks and pipes; a thread does that, the loop goes on.
                located = await asyncio.to_thread(self._services.ensure, deadline)
                self._channel = (open_async_channel(located.at, located.trust), located)
            if time.monotonic() >= deadline:
                raise DeadlineError("no time was left for the call; give it more")
            return self._channel

    async def _leave(self, broken: grpc.aio.Channel) -> None:
        async with self._lock:
            if self._channel is not None and self._channel[0] is broken:
                self._left.append(broken)
                self._channel = None
