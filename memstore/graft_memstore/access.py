"""Access tokens: what one is, how it is written, and what it lets a caller from outside do."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from typing_extensions import override

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
NAME_RULE = 'a letter or digit followed by up to 63 letters, digits, "_", "-" or "."'
TOKENS_MAX = 256
"""Tokens that one home has at most; expired ones count until they are revoked."""

CALLS_PER_MINUTE_DEFAULT = 600
CALLS_PER_MINUTE_MAX = 60_000
CALLS_AT_ONCE_DEFAULT = 8
CALLS_AT_ONCE_MAX = 32

ID_BYTES = 5
SECRET_BYTES = 32
_WRITTEN = re.compile(r"graft_([a-z2-7]{8})_([A-Za-z0-9_-]{43})")
BEARER = "Bearer "


class Right(StrEnum):
    """A kind of calls; each rpc that can be called from outside needs one of them."""

    READ = "read"
    WRITE = "write"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """What lets a caller in: an agent, in one profile, and maybe behind a wall.

    Attributes:
        id: eight letters or digits, also the first part of what the caller shows.
        name: what people call it.
        profile: the one that it opens.
        scopes: that it cannot look beyond; empty: every scope.
        rights: what it may call.
        created_ms: when it was made, UTC milliseconds.
        expires_ms: from when on it is refused; 0: never.
        calls_per_minute, calls_at_once: what more of is refused.
        digest: SHA-256 of its secret, hexadecimal. The secret has 256 random bits: nobody guesses
            it, so no slow hash is needed.
    """

    id: str
    name: str
    profile: str
    scopes: tuple[str, ...]
    rights: frozenset[Right]
    created_ms: int
    expires_ms: int
    calls_per_minute: int
    calls_at_once: int
    digest: str = field(repr=False)

    def has_secret(self, secret: str) -> bool:
        """Tell whether *secret* is its own; takes as long whatever of it is right."""
        return hmac.compare_digest(digest_of(secret), self.digest)

    def has_expired(self, now_ms: int) -> bool:
        """Tell whether its time has passed."""
        return bool(self.expires_ms) and now_ms >= self.expires_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a caller showed: which token it says it has, and the secret that proves it."""

    id: str
    secret: str = field(repr=False)

    @override
    def __str__(self) -> str:
        return f"graft_{self.id}_{self.secret}"


def make_credentials(random: Callable[[int], bytes]) -> Credentials:
    """Make the two parts of a new token out of *random* bytes."""
    secret = base64.urlsafe_b64encode(random(SECRET_BYTES)).rstrip(b"=").decode()
    return Credentials(id=base64.b32encode(random(ID_BYTES)).decode().lower(), secret=secret)


def read_credentials(headers: Sequence[str]) -> Credentials | None:
    """Read what stands behind ``authorization``; None where that is no token of ours."""
    if len(headers) != 1 or not headers[0].startswith(BEARER):
        return None
    written = _WRITTEN.fullmatch(headers[0].removeprefix(BEARER))
    return None if written is None else Credentials(id=written[1], secret=written[2])


def digest_of(secret: str) -> str:
    """Return what of a secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()
