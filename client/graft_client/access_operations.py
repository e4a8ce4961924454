"""The calls about access tokens, as values, and how their replies are read."""

from typing import get_args

from graft.memory.v1 import tokens_service_pb2 as pb
from graft_client.access_reports import AccessToken, MadeAccessToken, NewAccessToken, Right
from graft_client.errors import InputError
from graft_client.operation import Operation, sendable
from graft_client.times import from_milliseconds, to_milliseconds

TOKENS = "/graft.memory.v1.TokensService"
RIGHTS: dict[Right, pb.Right.ValueType] = {
    "read": pb.RIGHT_READ,
    "write": pb.RIGHT_WRITE,
    "manage": pb.RIGHT_MANAGE,
}
_RIGHT_OF = {number: right for right, number in RIGHTS.items()}


def create_token(
    profile: str, wanted: NewAccessToken
) -> Operation[pb.CreateTokenResponse, MadeAccessToken]:
    """Make a token; never twice by itself, for the first one's secret would be lost."""
    unknown = set(wanted.rights) - set(get_args(Right))
    if unknown:
        raise InputError(f"{min(unknown)!r} is no right; there are {', '.join(RIGHTS)}")
    with sendable():
        request = pb.CreateTokenRequest(
            token=pb.AccessToken(
                name=wanted.name,
                profile=profile,
                scopes=wanted.scopes,
                rights=[RIGHTS[each] for each in wanted.rights],
                expires_ms=0 if wanted.expires_at is None else to_milliseconds(wanted.expires_at),
                calls_per_minute=wanted.calls_per_minute,
                calls_at_once=wanted.calls_at_once,
            ),
            all_scopes=not wanted.scopes,
        )
    return Operation(
        path=f"{TOKENS}/CreateToken",
        request=request,
        reply=pb.CreateTokenResponse,
        read=lambda reply: MadeAccessToken(token=_token(reply.token), secret=reply.secret),
        repeatable=False,
    )


def list_tokens() -> Operation[pb.ListTokensResponse, tuple[AccessToken, ...]]:
    """List the tokens of the home."""
    return Operation(
        path=f"{TOKENS}/ListTokens",
        request=pb.ListTokensRequest(),
        reply=pb.ListTokensResponse,
        read=lambda reply: tuple(_token(each) for each in reply.tokens),
    )


def revoke_token(token: str) -> Operation[pb.RevokeTokenResponse, AccessToken]:
    """Take a token away, by its name or its id."""
    with sendable():
        request = pb.RevokeTokenRequest(token=token)
    return Operation(
        path=f"{TOKENS}/RevokeToken",
        request=request,
        reply=pb.RevokeTokenResponse,
        read=lambda reply: _token(reply.token),
        repeatable=False,
    )


def _token(message: pb.AccessToken) -> AccessToken:
    return AccessToken(
        id=message.id,
        name=message.name,
        profile=message.profile,
        scopes=tuple(message.scopes),
        rights=tuple(_RIGHT_OF[each] for each in message.rights if each in _RIGHT_OF),
        created_at=from_milliseconds(message.created_ms),
        expires_at=from_milliseconds(message.expires_ms) if message.expires_ms else None,
        calls_per_minute=message.calls_per_minute,
        calls_at_once=message.calls_at_once,
        last_used_at=from_milliseconds(message.last_used_ms) if message.last_used_ms else None,
    )
