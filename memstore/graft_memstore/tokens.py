"""The access tokens of a home: made, listed, taken away, and held against what callers show."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graft.wire.errors import (
    BadFieldError,
    NotAllowedError,
    TokenExistsError,
    TokenNotFoundError,
    WrongStateError,
)
from graft.wire.events import event
from graft_memstore.access import (
    CALLS_AT_ONCE_DEFAULT,
    CALLS_AT_ONCE_MAX,
    CALLS_PER_MINUTE_DEFAULT,
    CALLS_PER_MINUTE_MAX,
    NAME,
    NAME_RULE,
    TOKENS_MAX,
    AccessToken,
    Credentials,
    digest_of,
    make_credentials,
)
from graft_memstore.lifecycle import is_person
from graft_memstore.model import Caller, ScopeFilter
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.token_file import TokenFile
from graft_memstore.write.limits import TIME_MS_MAX
from graft_memstore.write.validate import check_scopes

ACTION_CREATED = "token-created"
ACTION_REVOKED = "token-revoked"
MINUTE_MS = 60_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenParts:
    """What tokens are kept and recorded with.

    Attributes:
        file: where they are kept.
        open: opens a profile by its name.
        now_ms: the clock, UTC milliseconds.
        random: makes that many random bytes.
        has_reviewer: tells whether a reviewer has been set up.
    """

    file: TokenFile
    open: Callable[[str], Profile[Index]]
    now_ms: Callable[[], int]
    random: Callable[[int], bytes]
    has_reviewer: Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What came of what a caller showed.

    Attributes:
        token: that it has; None where it is not let in.
        why: for the log alone, why it is not.
        profile: in whose trail that is recorded; empty: the default one.
    """

    token: AccessToken | None
    why: str = ""
    profile: str = ""


class Tokens:
    """Every access token of one home; each change is on the disk before it is told."""

    def __init__(self, parts: TokenParts) -> None:
        self._parts = parts
        # One change at a time; a call that comes meanwhile does not wait for the disk.
        self._changing = threading.Lock()
        self._reading = threading.Lock()
        self._known: tuple[AccessToken, ...] | None = None
        self._last_used: dict[str, int] = {}

    def create(self, wanted: AccessToken, caller: Caller) -> tuple[AccessToken, Credentials]:
        """Make a token like *wanted*; return it with what opens it.

        Raises:
            NotAllowedError: the caller is no person that may decide this.
            BadFieldError: a field is over its limit, or names nothing.
            TokenExistsError: its name is taken.
            ProfileNotFoundError: there is no such profile.
            WrongStateError: there are too many, or the file cannot be used.
        """
        if not is_person(caller, has_reviewer=self._parts.has_reviewer()):
            raise NotAllowedError(
                "a token opens the memory to others: a reviewer makes one, or, where none has been"
                " set up, a person with: graft token create"
            )
        profile = self._parts.open(wanted.profile)
        checked = self._checked(wanted)
        with self._changing:
            known = self._all()
            if len(known) >= TOKENS_MAX:
                raise WrongStateError(
                    f"there are {TOKENS_MAX} tokens already; revoke those that are not used",
                    metadata={"state": "full"},
                )
            if any(checked.name in {each.name, each.id} for each in known):
                raise TokenExistsError(
                    f"a token {checked.name} is there already; choose another name, or revoke it"
                )
            credentials = make_credentials(self._parts.random)
            while any(credentials.id in {each.id, each.name} for each in known):
                credentials = make_credentials(self._parts.random)
            made = replace(
                checked,
                id=credentials.id,
                profile=profile.name,
                digest=digest_of(credentials.secret),
                created_ms=self._parts.now_ms(),
            )
            _record(profile, caller, ACTION_CREATED, made)
            self._keep((*known, made))
        log.info(event("token created", id=made.id, profile=made.profile))
        return made, credentials

    def list(self) -> tuple[AccessToken, ...]:
        """Return every token, oldest first, those that have expired too.

        Raises:
            WrongStateError: the file cannot be used.
        """
        return self._all()

    def last_used_ms(self, token: AccessToken) -> int:
        """Return the minute in which it last let a call in; 0: none since the start."""
        return self._last_used.get(token.id, 0)

    def revoke(self, name: str, caller: Caller) -> AccessToken:
        """Take a token away, by its name or its id; return what it was.

        Raises:
            TokenNotFoundError: there is none.
            WrongStateError: the file cannot be used, or written: then it stays.
        """
        with self._changing:
            known = self._all()
            found = next((each for each in known if name in {each.name, each.id}), None)
            if found is None:
                raise TokenNotFoundError(
                    f"there is no token {name[:64]!r}; graft token list tells those that are"
                )
            # Gone first: it opens nothing any more, whatever becomes of the record.
            self._keep(tuple(each for each in known if each is not found))
        log.info(event("token revoked", id=found.id, profile=found.profile))
        _record(self._parts.open(found.profile), caller, ACTION_REVOKED, found)
        return found

    def look_at(self, credentials: Credentials | None) -> Shown:
        """Return the token that a caller has, or why it has none."""
        if credentials is None:
            return Shown(token=None, why="no token")
        try:
            found = next((each for each in self._all() if each.id == credentials.id), None)
        except WrongStateError as error:
            return Shown(token=None, why=error.message)
        if found is None:
            return Shown(token=None, why=f"no token {credentials.id}")
        if not found.has_secret(credentials.secret):
            return Shown(token=None, why=f"wrong secret for {found.id}", profile=found.profile)
        now_ms = self._parts.now_ms()
        if found.has_expired(now_ms):
            return Shown(token=None, why=f"{found.id} has expired", profile=found.profile)
        self._last_used[found.id] = now_ms - now_ms % MINUTE_MS
        return Shown(token=found)

    def _checked(self, wanted: AccessToken) -> AccessToken:
        """Return *wanted* with its defaults, if its fields can be meant."""
        if not NAME.fullmatch(wanted.name):
            raise BadFieldError("token.name", f"{wanted.name[:64]!r}; it is {NAME_RULE}")
        if not wanted.rights:
            raise BadFieldError("token.rights", "none is named; a token needs one at least")
        if wanted.scopes:
            check_scopes(ScopeFilter(scopes=wanted.scopes))
        if wanted.expires_ms and not self._parts.now_ms() < wanted.expires_ms <= TIME_MS_MAX:
            raise BadFieldError(
                "token.expires_ms",
                f"{wanted.expires_ms} is no instant to come before the year 9999",
            )
        per_minute = wanted.calls_per_minute or CALLS_PER_MINUTE_DEFAULT
        if per_minute > CALLS_PER_MINUTE_MAX:
            raise BadFieldError(
                "token.calls_per_minute", f"{per_minute}; at most {CALLS_PER_MINUTE_MAX}"
            )
        at_once = wanted.calls_at_once or CALLS_AT_ONCE_DEFAULT
        if at_once > CALLS_AT_ONCE_MAX:
            raise BadFieldError("token.calls_at_once", f"{at_once}; at most {CALLS_AT_ONCE_MAX}")
        return replace(
            wanted,
            scopes=tuple(dict.fromkeys(wanted.scopes)),
            calls_per_minute=per_minute,
            calls_at_once=at_once,
        )

    def _all(self) -> tuple[AccessToken, ...]:
        with self._reading:
            if self._known is None:
                self._known = self._parts.file.read()
            return self._known

    def _keep(self, tokens: Sequence[AccessToken]) -> None:
        self._parts.file.write(tokens)
        self._known = tuple(tokens)


def _record(profile: Profile[Index], caller: Caller, action: str, token: AccessToken) -> None:
    scopes = ", ".join(token.scopes) or "every scope"
    what = f"{token.name} ({token.id}): {', '.join(sorted(token.rights))} in {scopes}"
    profile.write(
        lambda transaction: transaction.record(
            EventDraft(
                caller=caller,
                action=action,
                note_id=None,
                content_hash=token.digest.encode(),
                reason=what,
            )
        )
    )
