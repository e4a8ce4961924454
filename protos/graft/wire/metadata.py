"""What every call tells besides its request: session, kind of program, protocol and build."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, unquote

PROTOCOL_NUMBER = 1
VALUE_BYTES_MAX = 256
PROTOCOL_DIGITS_MAX = 5
_SAFE = ";+.,:/@-_="
HOOK_DOOR = "hook"
DOORS = ("cli", "mcp", HOOK_DOOR, "web", "library")

SESSION_KEY = "graft-session"
DOOR_KEY = "graft-door"
PROTOCOL_KEY = "graft-protocol"
AGENT_KEY = "graft-agent"
REVIEWER_KEY = "graft-reviewer"
AUTHORIZATION_KEY = "authorization"
"""Carries "Bearer TOKEN" of a call over TCP."""

TOKEN_KEY = "graft-token"  # noqa: S105 - the key of a name, no secret
"""Name of the token that let a call in: the memstore itself says it to its own handlers."""

BOUND_SCOPE_KEY = "graft-bound-scope"
"""Once for each scope that the caller is bound to; never cut, since that would be another scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMetadata:
    """Metadata of one call.

    Attributes:
        session: the agent's session; empty where there is none.
        agent: what the agent that calls names itself; empty where there is none, or it does not.
        door: the kind of program, one of `DOORS`; "library" when nobody said.
        protocol: protocol number; 0 when nobody said.
        build: build of the caller, see `graft.wire.build`; empty when nobody said.
        reviewer: token of a reviewer's session; empty for none, and shown nowhere.
        bound: scopes that the caller cannot look beyond; empty: it is bound to none.
        token: name of the token that let the call in; of no meaning from a caller.
    """

    session: str = ""
    agent: str = ""
    door: str = "library"
    protocol: int = PROTOCOL_NUMBER
    build: str = ""
    reviewer: str = field(default="", repr=False)
    bound: tuple[str, ...] = ()
    token: str = ""

    def to_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs to send; values are percent-encoded ASCII of at most 256 bytes."""
        pairs = [(DOOR_KEY, self.door), (PROTOCOL_KEY, f"{self.protocol};{self.build}")]
        if self.session:
            pairs.append((SESSION_KEY, self.session))
        if self.agent:
            pairs.append((AGENT_KEY, self.agent))
        if self.reviewer:
            pairs.append((REVIEWER_KEY, self.reviewer))
        if self.token:
            pairs.append((TOKEN_KEY, self.token))
        encoded = [(key, _encode(value)) for key, value in pairs]
        encoded += [(BOUND_SCOPE_KEY, quote(scope, safe=_SAFE)) for scope in self.bound]
        return tuple(encoded)

    @classmethod
    def read(cls, pairs: Iterable[tuple[str, str | bytes]]) -> Self:
        """Read what a caller sent; anything that is no metadata of ours is left out.

        An unknown door counts as "library", the one that may do least.
        """
        texts = [(key, value) for key, value in pairs if isinstance(value, str)]
        found = {key: _decode(value) for key, value in texts}
        number, _, build = found.get(PROTOCOL_KEY, "").partition(";")
        door = found.get(DOOR_KEY, "library")
        return cls(
            session=found.get(SESSION_KEY, ""),
            agent=found.get(AGENT_KEY, ""),
            door=door if door in DOORS else "library",
            protocol=int(number)
            if number.isdecimal() and len(number) <= PROTOCOL_DIGITS_MAX
            else 0,
            build=build,
            reviewer=found.get(REVIEWER_KEY, ""),
            token=found.get(TOKEN_KEY, ""),
            bound=tuple(
                unquote(value, errors="replace") for key, value in texts if key == BOUND_SCOPE_KEY
            ),
        )


def _encode(value: str) -> str:
    encoded = quote(value.encode("utf-8", "replace"), safe=_SAFE)
    if len(encoded) <= VALUE_BYTES_MAX:
        return encoded
    cut = encoded[:VALUE_BYTES_MAX]
    # Never end inside %XX.
    return cut[: cut.rfind("%")] if "%" in cut[-2:] else cut


def _decode(value: str) -> str:
    return unquote(value[:VALUE_BYTES_MAX], errors="replace")
