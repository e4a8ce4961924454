"""Lets callers from outside in: who has a token, to what it opens, and as nobody else.

A call that is refused here is refused before its request is read. Why is for the log alone.
"""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import grpc
from google.protobuf.message import Message
from typing_extensions import override

from graft.memory.v1 import daemon_service_pb2
from graft.wire.errors import NoAccessError, NotAllowedError, ServiceError, to_status
from graft.wire.events import event
from graft.wire.metadata import AUTHORIZATION_KEY, CallMetadata
from graft.wire.server import Way, passed
from graft_memstore.access import AccessToken, read_credentials
from graft_memstore.model import DEFAULT_PROFILE, Caller
from graft_memstore.service.convert import TOKEN_SESSION, caller_of
from graft_memstore.service.pace import Pace
from graft_memstore.service.rights import RIGHTS
from graft_memstore.tokens import Tokens

if TYPE_CHECKING:
    from graft.wire.server import Continuation, MethodHandler

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
Pairs = tuple[tuple[str, str], ...]
RecordRefusal = Callable[[str, Caller, str], None]
"""Records in a profile's trail that somebody was refused, and what."""

PROFILE = "profile"
PROFILES = "profiles"
NOT_LET_IN = "this takes a token that is let in; ask whoever runs the memstore for one"
NOT_FOR_IT = "this token is not for that"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Details(grpc.HandlerCallDetails):
    """What handlers are chosen by: the metadata that the token gives instead of the caller's."""

    method: str
    invocation_metadata: tuple[tuple[str, str | bytes], ...]


class _Context:
    """A call's context as its handler sees it: everything of the caller's but the metadata."""

    def __init__(self, context: grpc.ServicerContext, pairs: Pairs) -> None:
        self._context = context
        self._pairs = pairs

    def invocation_metadata(self) -> Pairs:
        """Return what the token gives."""
        return self._pairs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


class Doorkeeper(grpc.ServerInterceptor):
    """Stands before every service where callers come from outside.

    Args:
        tokens: of the home.
        pace: counts their calls.
        record: records who was refused.
        domain: what refusals are signed with.
    """

    def __init__(self, tokens: Tokens, pace: Pace, record: RecordRefusal, domain: str) -> None:
        self._tokens = tokens
        self._pace = pace
        self._record = record
        self._domain = domain

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Let the call through as the token's, or answer it with a refusal."""
        method = handler_call_details.method
        told = [(pair[0], pair[1]) for pair in handler_call_details.invocation_metadata or ()]
        headers = [value for key, value in told if key == AUTHORIZATION_KEY]
        shown = self._tokens.look_at(read_credentials([str(each) for each in headers]))
        if shown.token is None:
            log.warning(event("refused from outside", method=method, because=shown.why))
            return self._refusing(method, NoAccessError(NOT_LET_IN), shown.profile)
        token, claimed = shown.token, CallMetadata.read(told)
        pairs = _as_the_token_s(claimed, token)
        if pairs is None or RIGHTS.get(method) not in token.rights:
            log.warning(event("refused from outside", method=method, because=f"not for {token.id}"))
            error = NotAllowedError(NOT_FOR_IT)
            return self._refusing(method, error, token.profile, token.name)
        handler = continuation(_Details(method=method, invocation_metadata=pairs))

        @contextmanager
        def way(
            request: RequestT, context: grpc.ServicerContext
        ) -> Iterator[Way[RequestT, ReplyT]]:
            seen = cast("grpc.ServicerContext", _Context(context, pairs))
            with self._pace.running(token):
                self._place(token, request, seen)
                yield Way(request, seen, lambda reply: _cut(reply, token.profile))

        return passed(handler, way)

    def _place(self, token: AccessToken, request: object, context: grpc.ServicerContext) -> None:
        """See that *request* is about the token's profile, where it is about any.

        Raises:
            NotAllowedError: it is about another.
        """
        assert isinstance(request, Message), "our rpcs carry messages"
        if PROFILE not in request.DESCRIPTOR.fields_by_name:
            return
        if getattr(request, PROFILE) not in {"", token.profile}:
            self._record(token.profile, caller_of(context), "another profile: NOT_ALLOWED")
            raise NotAllowedError(NOT_FOR_IT)
        setattr(request, PROFILE, token.profile)

    def _refusing(
        self, method: str, error: ServiceError, profile: str, token: str = ""
    ) -> MethodHandler[RequestT, ReplyT]:
        """Return a handler that reads no request: nobody unknown makes us hold one in memory."""

        def refuse(_requests: object, context: grpc.ServicerContext) -> None:
            session = f"{TOKEN_SESSION}{token}:" if token else TOKEN_SESSION
            caller = replace(caller_of(context), token=token, session=session)
            what = f"{_known_name(method)}: {error.reason_name}"
            self._record(profile or DEFAULT_PROFILE, caller, what)
            context.abort_with_status(to_status(error, self._domain))

        return cast("MethodHandler[RequestT, ReplyT]", grpc.stream_unary_rpc_method_handler(refuse))


def _as_the_token_s(claimed: CallMetadata, token: AccessToken) -> Pairs | None:
    """Return the metadata that a call goes on with; None where nothing of its scopes is left.

    A reviewer comes through the socket, so no session of one is let through.
    """
    bound = claimed.bound
    if token.scopes:
        bound = tuple(each for each in bound if each in token.scopes) if bound else token.scopes
        if not bound:
            return None
    return replace(claimed, reviewer="", bound=bound, token=token.name).to_pairs()


def _known_name(method: str) -> str:
    """Return the last part of a method's name; what nobody knows is no text to keep."""
    return method.rpartition("/")[2] if method in RIGHTS else "another call"


def _cut(reply: object, profile: str) -> None:
    """Take out of *reply* what tells of other profiles, or of the machine."""
    assert isinstance(reply, Message), "our rpcs carry messages"
    listed = getattr(reply, PROFILES, None)
    if listed is not None:
        kept = [each for each in listed if each.name == profile]
        reply.ClearField(PROFILES)
        getattr(reply, PROFILES).extend(kept)
    if isinstance(reply, daemon_service_pb2.GetStatusResponse):
        reply.settings.clear()
        reply.ClearField("listen")
        reply.pending = sum(each.pending for each in reply.profiles)
        reply.erasing = sum(each.erasing for each in reply.profiles)
        for embedder in reply.embedders:
            embedder.ClearField("socket")
            embedder.ClearField("problem")
