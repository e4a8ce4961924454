"""A call to the memstore as a value: its path, its request, and how its reply is read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from google.protobuf.message import Message

from graft.memory.v1 import note_pb2
from graft.wire.metadata import REVIEWER_KEY
from graft_client.errors import InputError
from graft_client.requests import AsOfFields
from graft_client.scope import ScopeChoice
from graft_client.times import to_milliseconds

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[ReplyT, ResultT]):
    """One call.

    Attributes:
        path: full name of the method.
        request: what is sent.
        reply: class of what comes back.
        read: turns the reply into a result.
        repeatable: whether the proto says that repeating it is safe.
        reviewer_token: of the session that it goes with; shown nowhere.
    """

    path: str
    request: Message
    reply: type[ReplyT]
    read: Callable[[ReplyT], ResultT]
    repeatable: bool = True
    reviewer_token: str = field(default="", repr=False)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Give the metadata that this call carries besides that of all calls."""
        return ((REVIEWER_KEY, self.reviewer_token),) if self.reviewer_token else ()


@contextmanager
def sendable() -> Iterator[None]:
    """Turn what cannot stand in a message into an error of the caller's own."""
    try:
        yield
    except UnicodeEncodeError as error:
        piece = error.object[max(error.start - 20, 0) : error.start + 20]
        raise InputError(
            f"the text {piece!r} holds a byte or half a character that is no valid Unicode;"
            " pass the text as UTF-8"
        ) from error
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"a value cannot be sent: {error}") from error


def as_of(instants: AsOfFields | None) -> note_pb2.AsOf | None:
    """Pack the instants that a read looks back to; None for a read of now."""
    if instants is None:
        return None
    valid_at, known_at = instants.get("valid_at"), instants.get("known_at")
    if valid_at is None and known_at is None:
        return None
    return note_pb2.AsOf(
        valid_at_ms=None if valid_at is None else to_milliseconds(valid_at),
        known_at_ms=None if known_at is None else to_milliseconds(known_at),
    )


def scope_filter(choice: ScopeChoice) -> note_pb2.ScopeFilter:
    """Pack where a read looks."""
    return note_pb2.ScopeFilter(scopes=choice.scopes, all=choice.all)
