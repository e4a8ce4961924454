"""Who the reviewer is: one passphrase of a home, proved for a session that ends by itself."""

import hashlib
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from graft.wire.errors import (
    BadFieldError,
    BusyError,
    NoReviewerError,
    NotAllowedError,
    ProfileNotFoundError,
    TooManyAttemptsError,
    WrongStateError,
)
from graft.wire.events import event
from graft_memstore.lifecycle import REVIEWER
from graft_memstore.model import Caller, EventSeq
from graft_memstore.review.passphrase import (
    SALT_BYTES,
    check_passphrase,
    fits,
    hash_passphrase,
)
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.events import read_event
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.reviewer_file import (
    ACTION_SET,
    Attempts,
    ReviewerFiles,
    StoredReviewer,
)

ACTION_REFUSED = "reviewer-refused"

SESSION_SECONDS = 15 * 60
"""A session ends by itself after so long, however much it is used."""

SESSIONS_MAX = 8
"""The oldest one ends where more are opened."""

TOKEN_BYTES = 32
FIRST_DELAY_MS = 1_000
DELAY_MS_MAX = 5 * 60 * 1_000
"""How long after many wrong passphrases the next one is looked at; it doubles until here."""

RETRY_AFTER_MS = 200

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerParts:
    """What the reviewer's guard works with.

    Attributes:
        open: opens a profile by its name.
        now_ms: wall clock, UTC milliseconds.
        seconds: a clock that only goes forward.
        random: random bytes, such as `os.urandom`.
    """

    files: ReviewerFiles
    open: Callable[[str], Profile[Index]]
    now_ms: Callable[[], int]
    seconds: Callable[[], float]
    random: Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerStatus:
    """How a home's reviewer is.

    Attributes:
        set_at_ms: when the passphrase was set; None where none was.
        event, profile: that recorded it.
        failures: wrong passphrases since the last right one.
        problem: why the file cannot be the one that was recorded; empty where it is.
    """

    set_at_ms: int | None = None
    event: int = 0
    profile: str = ""
    failures: int = 0
    problem: str = ""


class Reviewer:
    """Sets, proves and remembers for a while the one reviewer of a home.

    Sessions live in memory alone: of a token its hash, so that nothing on the disk opens one.
    """

    def __init__(self, parts: ReviewerParts) -> None:
        self._parts = parts
        # One attempt at a time, whoever makes it.
        self._proving = threading.Lock()
        self._lock = threading.Lock()
        self._sessions: dict[bytes, float] = {}

    def exists(self) -> bool:
        """Tell whether a reviewer has been set up."""
        return self._parts.files.exists()

    def status(self) -> ReviewerStatus:
        """Tell how the reviewer is; whether the file is the recorded one, `check` tells."""
        files = self._parts.files
        failures = files.read_attempts().failures
        try:
            stored = files.read()
        except WrongStateError as error:
            return ReviewerStatus(set_at_ms=0, failures=failures, problem=error.message)
        if stored is None:
            return ReviewerStatus(failures=failures)
        return ReviewerStatus(
            set_at_ms=stored.set_at_ms,
            event=stored.event,
            profile=stored.profile,
            failures=failures,
        )

    def set(
        self, profile: Profile[Index], caller: Caller, passphrase: str, old: str
    ) -> ReviewerStatus:
        """Make *passphrase* the reviewer's; where there is one already, *old* must be it.

        The event comes first and the file last, which alone counts: whatever ends the process
        between them leaves the passphrase as it was.

        Raises:
            BadFieldError: it cannot be a passphrase.
            NotAllowedError, TooManyAttemptsError: see `prove`.
        """
        check_passphrase(passphrase)
        parts = self._parts
        with self._one_attempt():
            before = parts.files.read()
            if before is not None:
                self._prove(profile, caller, before, old)
            salt = parts.random(SALT_BYTES)
            digest = hash_passphrase(passphrase, salt)
            recorded = profile.write(
                lambda transaction: transaction.record(
                    EventDraft(
                        caller=caller,
                        action=ACTION_SET,
                        note_id=None,
                        content_hash=salt + digest,
                        reason="set first" if before is None else "the old one was proved",
                    )
                )
            )
            parts.files.write(
                StoredReviewer(
                    salt=salt.hex(),
                    hash=digest.hex(),
                    set_at_ms=parts.now_ms(),
                    profile=profile.name,
                    event=recorded,
                )
            )
            with self._lock:
                self._sessions.clear()
        log.info(event("reviewer set", profile=profile.name, event_id=recorded))
        return self.status()

    def prove(self, profile: Profile[Index], caller: Caller, passphrase: str) -> str:
        """Open a session for whoever knows the passphrase; return its token.

        Raises:
            NoReviewerError: no reviewer has been set up.
            NotAllowedError: the passphrase is another, which the log then tells.
            TooManyAttemptsError: wrong ones came shortly before.
            BusyError: another one is being looked at.
        """
        with self._one_attempt():
            stored = self._parts.files.read()
            if stored is None:
                raise NoReviewerError(
                    "no reviewer has been set up; do it on a terminal with: graft reviewer init"
                )
            self._prove(profile, caller, stored, passphrase)
        token = self._parts.random(TOKEN_BYTES).hex()
        with self._lock:
            self._drop_ended()
            while len(self._sessions) >= SESSIONS_MAX:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[_token_hash(token)] = self._parts.seconds() + SESSION_SECONDS
        return token

    def close(self, token: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_token_hash(token), None)

    def role_of(self, token: str) -> str:
        """Return the role that a session's token gives.

        Raises:
            NotAllowedError: there is no such session, or it has ended.
        """
        with self._lock:
            self._drop_ended()
            if _token_hash(token) in self._sessions:
                return REVIEWER
        raise NotAllowedError(
            "the reviewer's session has ended; give the passphrase again, with the same command"
        )

    def _drop_ended(self) -> None:
        now = self._parts.seconds()
        for each in [each for each, end in self._sessions.items() if end <= now]:
            del self._sessions[each]

    def _one_attempt(self) -> "_OneAttempt":
        return _OneAttempt(self._proving)

    def _prove(
        self, profile: Profile[Index], caller: Caller, stored: StoredReviewer, passphrase: str
    ) -> None:
        files, now_ms = self._parts.files, self._parts.now_ms()
        attempts = files.read_attempts()
        if attempts.last_at_ms > now_ms:
            # The clock went back: the delay begins anew, and ends.
            attempts = replace(attempts, last_at_ms=now_ms)
            files.write_attempts(attempts)
        wait_ms = _wait_ms(attempts, now_ms)
        if wait_ms > 0:
            raise TooManyAttemptsError(
                f"{attempts.failures} wrong passphrases came one after another; the next one is "
                f"looked at in {-(-wait_ms // 1_000)} s",
                retry_after_ms=wait_ms,
            )
        # Counted before it is looked at: who ends the process meanwhile gains nothing.
        failures = attempts.failures + 1
        files.write_attempts(Attempts(failures=failures, last_at_ms=now_ms))
        if fits(passphrase, bytes.fromhex(stored.salt), bytes.fromhex(stored.hash)):
            files.write_attempts(Attempts())
            self._check_recorded(stored)
            return
        profile.write(
            lambda transaction: transaction.record(
                EventDraft(
                    caller=caller,
                    action=ACTION_REFUSED,
                    note_id=None,
                    content_hash=b"",
                    reason=f"wrong passphrase, {failures} one after another",
                )
            )
        )
        log.warning(event("reviewer refused", door=caller.door, failures=failures))
        delay_s = _delay_ms(failures) // 1_000
        raise NotAllowedError(
            f"that is not the reviewer's passphrase; the next one is looked at in {delay_s} s",
            metadata={"failures": str(failures)},
        )

    def recorded_in(self, profile_name: str) -> StoredReviewer | None:
        """Return the reviewer where the log of that profile tells of it, else None."""
        with suppress(WrongStateError):
            stored = self._parts.files.read()
            if stored is not None and stored.profile == profile_name and self._is_recorded(stored):
                return stored
        return None

    def _check_recorded(self, stored: StoredReviewer) -> None:
        """See that the file is the one that the log which it names tells of.

        Raises:
            NotAllowedError: somebody has put another in its place.
        """
        if not self._is_recorded(stored):
            raise NotAllowedError(
                "the file that holds the reviewer's hash is not the one that the log recorded: it "
                "was changed from outside; see docs/trust.md for what to do"
            )

    def _is_recorded(self, stored: StoredReviewer) -> bool:
        with suppress(BadFieldError, ProfileNotFoundError):
            profile = self._parts.open(stored.profile)
            with profile.snapshot() as connection:
                found = read_event(connection, EventSeq(stored.event))
            return (
                found is not None
                and found.action == ACTION_SET
                and profile.chain.is_about(found, stored.sealed_bytes())
            )
        return False


class _OneAttempt:
    """Holds the lock of the attempts, or says that it is held."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError(
                "another passphrase is being looked at; try again", retry_after_ms=RETRY_AFTER_MS
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _delay_ms(failures: int) -> int:
    if failures == 0:
        return 0
    return int(min(FIRST_DELAY_MS * 2.0 ** min(failures - 1, 20), DELAY_MS_MAX))


def _wait_ms(attempts: Attempts, now_ms: int) -> int:
    """Return how long an attempt has to wait."""
    return max(attempts.last_at_ms + _delay_ms(attempts.failures) - now_ms, 0)


def _token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
