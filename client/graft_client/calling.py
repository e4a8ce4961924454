"""How the parts of a client make their calls: by the client's own way, whatever it adds to each."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

from google.protobuf.message import Message

from graft_client.operation import Operation

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class Call(Protocol):
    """Makes one call."""

    def __call__(self, operation: Operation[ReplyT, ResultT], /) -> ResultT:
        """Return what the operation reads of its reply."""


class Stream(Protocol):
    """Makes one call that is answered piece by piece, and that may take a while."""

    def __call__(
        self, operation: Operation[ReplyT, ResultT], seconds_min: float, /
    ) -> Iterator[ResultT]:
        """Yield what the operation reads of each piece, within *seconds_min* at least."""


class AsyncCall(Protocol):
    """The asyncio twin of `Call`."""

    def __call__(self, operation: Operation[ReplyT, ResultT], /) -> Coroutine[Any, Any, ResultT]:
        """Return what the operation reads of its reply."""


class AsyncStream(Protocol):
    """The asyncio twin of `Stream`."""

    def __call__(
        self, operation: Operation[ReplyT, ResultT], seconds_min: float, /
    ) -> AsyncIterator[ResultT]:
        """Yield what the operation reads of each piece, within *seconds_min* at least."""
