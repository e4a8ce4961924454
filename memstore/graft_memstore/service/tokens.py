"""TokensService: the access tokens of the home, for who comes through its socket."""

import grpc
from typing_extensions import override

from graft.memory.v1 import tokens_service_pb2 as pb
from graft.memory.v1 import tokens_service_pb2_grpc
from graft.wire.errors import BadFieldError
from graft_memstore.access import AccessToken, Right
from graft_memstore.model import DEFAULT_PROFILE
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.pace import Pace
from graft_memstore.tokens import Tokens

RIGHTS = {
    Right.READ: pb.RIGHT_READ,
    Right.WRITE: pb.RIGHT_WRITE,
    Right.MANAGE: pb.RIGHT_MANAGE,
}
_RIGHT_OF = {number: right for right, number in RIGHTS.items()}


class TokensServicer(tokens_service_pb2_grpc.TokensServiceServicer):
    """Answers for every token of the home."""

    def __init__(self, tokens: Tokens, reviewer: Reviewer, pace: Pace) -> None:
        self._tokens = tokens
        self._reviewer = reviewer
        self._pace = pace

    @override
    def CreateToken(
        self, request: pb.CreateTokenRequest, context: grpc.ServicerContext
    ) -> pb.CreateTokenResponse:
        """Make a token."""
        caller = proved_caller(context, self._reviewer)
        wanted = _wanted(request.token)
        if request.all_scopes == bool(wanted.scopes):
            raise BadFieldError(
                "token.scopes",
                "name scopes, or say all_scopes; not both and not neither",
            )
        made, credentials = self._tokens.create(wanted, caller)
        return pb.CreateTokenResponse(token=_message(made), secret=str(credentials))

    @override
    def ListTokens(
        self, request: pb.ListTokensRequest, context: grpc.ServicerContext
    ) -> pb.ListTokensResponse:
        """List them."""
        listed = [_message(each, self._tokens.last_used_ms(each)) for each in self._tokens.list()]
        return pb.ListTokensResponse(tokens=listed)

    @override
    def RevokeToken(
        self, request: pb.RevokeTokenRequest, context: grpc.ServicerContext
    ) -> pb.RevokeTokenResponse:
        """Take one away."""
        revoked = self._tokens.revoke(request.token, proved_caller(context, self._reviewer))
        self._pace.forget(revoked)
        return pb.RevokeTokenResponse(token=_message(revoked))


def _wanted(message: pb.AccessToken) -> AccessToken:
    unknown = [number for number in message.rights if number not in _RIGHT_OF]
    if unknown:
        raise BadFieldError("token.rights", f"{unknown[0]} is none that this version knows")
    return AccessToken(
        id="",
        name=message.name,
        profile=message.profile or DEFAULT_PROFILE,
        scopes=tuple(message.scopes),
        rights=frozenset(_RIGHT_OF[number] for number in message.rights),
        created_ms=0,
        expires_ms=message.expires_ms,
        calls_per_minute=message.calls_per_minute,
        calls_at_once=message.calls_at_once,
        digest="",
    )


def _message(token: AccessToken, last_used_ms: int = 0) -> pb.AccessToken:
    return pb.AccessToken(
        id=token.id,
        name=token.name,
        profile=token.profile,
        scopes=token.scopes,
        rights=[RIGHTS[each] for each in sorted(token.rights)],
        created_ms=token.created_ms,
        expires_ms=token.expires_ms,
        calls_per_minute=token.calls_per_minute,
        calls_at_once=token.calls_at_once,
        last_used_ms=last_used_ms,
    )
