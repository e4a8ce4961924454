"""What is told of access tokens; field names are those of the JSON output."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Right = Literal["read", "write", "manage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccessToken:
    """A token to make.

    Attributes:
        name: what people call it; its calls stand in the log under it.
        scopes: that its calls cannot look beyond; empty: every scope.
        rights: kinds of calls that it may make.
        expires_at: from when on it is refused; None: never.
        calls_per_minute, calls_at_once: what more of is refused; 0: 600 and 8.
    """

    name: str
    scopes: Sequence[str] = ()
    rights: Sequence[Right] = ("read", "write")
    expires_at: datetime | None = None
    calls_per_minute: int = 0
    calls_at_once: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token that is there, without its secret; no *scopes* means every scope."""

    id: str
    name: str
    profile: str
    scopes: tuple[str, ...]
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None
    calls_per_minute: int
    calls_at_once: int
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAccessToken:
    """A token that was made, and the secret that is told this one time."""

    token: AccessToken
    secret: str = field(repr=False)
