"""Has every refusal of a change recorded, whatever rpc it was asked through."""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import Message
from typing_extensions import override

from graft.wire.errors import NotAllowedError, ProposedError, ServiceError
from graft.wire.server import wrapped
from graft_memstore.model import DEFAULT_PROFILE, Caller, NoteId
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.convert import caller_of
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.refusals import Refused
from graft_memstore.upkeep.scribe import Scribe

if TYPE_CHECKING:
    from graft.wire.server import Continuation, MethodHandler

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")

OPEN_SECONDS = 2.0
"""How long is waited for a profile whose refusal is to be recorded."""

FULL_ID = re.compile(r"[0-9a-f]{32}")
WITHOUT_REQUEST_ID = frozenset(
    {"AddProfile", "StartReindex", "ResetGate", "CreateToken", "RevokeToken"}
)
"""Changes that need no request_id; every other one has it."""

REFUSING = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
    }
)
"""Statuses that say no; the others say not now."""


class RefusalRecorder(grpc.ServerInterceptor):
    """Sees every refusal of a change on its way out.

    Args:
        profiles: the profiles, each with its trail.
        scribe_of: gives who writes down what happens in a profile that is open, by its name.
    """

    def __init__(
        self, profiles: Profiles[VectorIndex], scribe_of: Callable[[str], Scribe | None]
    ) -> None:
        self._profiles = profiles
        self._scribe_of = scribe_of

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Wrap the handlers of our own services."""
        method = handler_call_details.method
        handler = continuation(handler_call_details)
        return wrapped(
            method,
            handler,
            lambda request, context: self._watch(method.rpartition("/")[2], request, context),
        )

    @contextmanager
    def _watch(self, method: str, request: object, context: grpc.ServicerContext) -> Iterator[None]:
        try:
            yield
        except ServiceError as error:
            caller = caller_of(context)
            if isinstance(request, Message) and _is_told(method, request, caller, error):
                self._record(method, request, caller, error)
            raise

    def record(
        self, profile_name: str, caller: Caller, what: str, note_id: NoteId | None = None
    ) -> None:
        """Record that *caller* was refused *what*; of a profile that cannot be opened, nothing."""
        scribe = self._scribe(profile_name)
        if scribe is not None:
            scribe.refused(Refused(caller=caller, note_id=note_id, what=what))

    def _record(self, method: str, request: Message, caller: Caller, error: ServiceError) -> None:
        named = str(error.metadata.get("note_id") or getattr(request, "id", ""))
        self.record(
            getattr(request, "profile", "") or DEFAULT_PROFILE,
            caller,
            f"{method}: {error.reason_name}",
            NoteId(named) if FULL_ID.fullmatch(named) else None,
        )

    def _scribe(self, profile_name: str) -> Scribe | None:
        """Return who writes; None of a profile that there is none of, or that cannot be opened."""
        try:
            return self._scribe_of(self._profiles.open(profile_name, OPEN_SECONDS).name)
        except ServiceError:
            return None


def _is_told(method: str, request: Message, caller: Caller, error: ServiceError) -> bool:
    """Tell whether a refusal goes on record: of a change, and of all that a token is not for."""
    if caller.token and isinstance(error, NotAllowedError):
        return True
    changes = "request_id" in request.DESCRIPTOR.fields_by_name or method in WITHOUT_REQUEST_ID
    # What was proposed instead has an event of its own.
    return changes and error.code in REFUSING and not isinstance(error, ProposedError)
