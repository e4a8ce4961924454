"""The profiles of a home: which there are, making one, and the open ones."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from graft.wire.errors import (
    BadFieldError,
    BusyError,
    DatabaseDamagedError,
    ProfileExistsError,
    ProfileNotFoundError,
    StoppingError,
    WrongStateError,
)
from graft.wire.paths import PROFILE_NAME, PROFILE_NAME_RULE
from graft_memstore.model import DEFAULT_PROFILE, ModelId
from graft_memstore.store.chain import AuditChain, ChainHead, profile_key
from graft_memstore.store.filesystem import read_mounts
from graft_memstore.store.profile import DATABASE_FILE, Index, Profile, ProfileParts

PRIVATE_FOLDER = 0o700

OPEN_WAIT_SECONDS = 30.0
"""How long is waited for a profile that is being opened, where the caller names no time."""

OPEN_WAITERS_MAX = 24
"""Calls that may wait for one profile to open; of the server's calls some are left for others."""

RETRY_AFTER_MS = 200
POLL_SECONDS = 0.02

IndexT = TypeVar("IndexT", bound=Index)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions(Generic[IndexT]):
    """What the profiles of a home are opened with.

    Attributes:
        profiles: folder of all profiles.
        audit: folder of the audit key and the chains' heads.
        make_index: makes the empty index of a model with so many dimensions.
        now_ms: wall clock, UTC milliseconds.
        random: random bytes, such as `os.urandom`.
        opened: called with every profile that has been opened.
        closing: called with one before it is closed while the others stay open.
        mounts: tells what is mounted where; see `open_connection`.
    """

    profiles: Path
    audit: Path
    make_index: Callable[[ModelId, int], IndexT]
    now_ms: Callable[[], int]
    random: Callable[[int], bytes]
    opened: Callable[[Profile[IndexT]], None]
    closing: Callable[[Profile[IndexT]], None]
    mounts: Callable[[], str] = read_mounts


@dataclass(slots=True, kw_only=True)
class _Held(Generic[IndexT]):
    """An open profile, how many work with it now, and when somebody last did."""

    profile: Profile[IndexT]
    users: int
    used_at: float


class Profiles(Generic[IndexT]):
    """Opens each profile at its first use, and closes it when it is not used any more.

    Each is opened on a thread of its own: a disk that hangs, or a file that is damaged, is in
    nobody's way but of those who want that profile, and of them only as long as they can wait.

    Args:
        options: what they are opened with.
        seconds: a clock that only goes forward.
    """

    def __init__(
        self, options: StoreOptions[IndexT], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._seconds = seconds
        self._lock = threading.Lock()
        # Of two that make profiles at once, one finds what the other has made.
        self._adding = threading.Lock()
        self._held: dict[str, _Held[IndexT]] = {}
        # Profiles that are being opened or closed: done when that is over.
        self._moving: dict[str, Future[None]] = {}
        self._waiting: Counter[str] = Counter()
        self._closed = False

    def names(self) -> list[str]:
        """Return the names of all profiles, sorted."""
        return sorted(name for name in self._folders() if self.path(name).is_file())

    def path(self, name: str) -> Path:
        """Return where the database file of *name* lies, or would lie."""
        return self._options.profiles / name / DATABASE_FILE

    def add(self, name: str, wait_seconds: float = OPEN_WAIT_SECONDS) -> Profile[IndexT]:
        """Make a profile.

        Raises:
            BadFieldError: *name* is no name of a profile.
            ProfileExistsError: there is one of this name.
            BusyError: it is not open within *wait_seconds*.
            ServiceError: see `open_connection`.
        """
        _check_name(name)
        if not self._adding.acquire(timeout=wait_seconds):
            raise BusyError("another profile is still being made; try again")
        try:
            # Also true where the file system does not tell cases apart.
            if self.path(name).exists():
                raise ProfileExistsError(f"there is a profile named {name} already; use it")
            return self._hold(name, wait_seconds, users=0).profile
        finally:
            self._adding.release()

    @contextmanager
    def use(self, name: str, wait_seconds: float = OPEN_WAIT_SECONDS) -> Iterator[Profile[IndexT]]:
        """Lend the profile *name*, "default" when empty, which its first use makes.

        It is not closed before it is given back, unless everything is.

        Raises:
            BadFieldError: *name* is no name of a profile.
            ProfileNotFoundError: there is none of this name.
            BusyError: it is not open within *wait_seconds*.
            ServiceError: see `open_connection` and `migrate`.
        """
        held = self._hold(self._known(name), wait_seconds, users=1)
        try:
            yield held.profile
        finally:
            with self._lock:
                held.users -= 1
                held.used_at = self._seconds()

    def open(self, name: str, wait_seconds: float = OPEN_WAIT_SECONDS) -> Profile[IndexT]:
        """Return the profile *name* as `use` does, to whoever needs it for a moment only.

        Raises:
            ServiceError: see `use`.
        """
        return self._hold(self._known(name), wait_seconds, users=0).profile

    def chain_of(self, name: str) -> AuditChain:
        """Return what seals the log of a profile, which need not be there.

        Raises:
            OSError, ValueError: see `profile_key`.
        """
        audit = self._options.audit
        audit.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        key = profile_key(audit, name, self._options.random)
        return AuditChain(key, ChainHead(audit / f"{name}.head"))

    def open_at(self, folder: Path, name: str, chain: AuditChain) -> Profile[IndexT]:
        """Open the database in *folder*, which need not be the place of a profile.

        Raises:
            ServiceError: see `open_connection` and `migrate`.
        """
        options = self._options
        parts = ProfileParts(
            chain=chain,
            make_index=options.make_index,
            now_ms=options.now_ms,
            random=options.random,
            mounts=options.mounts,
        )
        return Profile(name, folder, parts)

    @contextmanager
    def alone_with(self, name: str, wait_seconds: float) -> Iterator[None]:
        """Keep everybody from the profile *name*, which is closed, while its files change.

        Whoever wants it waits for the end, and opens what is there then. There need not be one.

        Raises:
            BusyError: others still work with it after *wait_seconds*.
        """
        held, moving = self._take_away(name, time.monotonic() + wait_seconds)
        try:
            if held is not None:
                self._let_go(held.profile)
            yield
        finally:
            with self._lock:
                del self._moving[name]
            moving.set_result(None)

    def opened(self) -> list[Profile[IndexT]]:
        """Return the profiles that are open, sorted by name."""
        with self._lock:
            return [self._held[name].profile for name in sorted(self._held)]

    def close_unused(
        self, unused_seconds: float, *, spare: Callable[[Profile[IndexT]], bool]
    ) -> None:
        """Close the profiles that nobody has used for *unused_seconds*; their next use opens them.

        Args:
            unused_seconds: how long nobody has worked with them.
            spare: tells whether to leave one open at any rate.
        """
        with self._lock:
            seen = list(self._held.items())
        for name, held in seen:
            if not self._is_unused(held, unused_seconds) or spare(held.profile):
                continue
            with self._lock:
                # Looking took a while; whoever came meanwhile goes on with it.
                if self._held.get(name) is not held or not self._is_unused(held, unused_seconds):
                    continue
                del self._held[name]
                moving = self._moving[name] = Future()
            try:
                self._let_go(held.profile)
            finally:
                with self._lock:
                    del self._moving[name]
                moving.set_result(None)

    def close(self) -> None:
        """Close every profile; nothing can be opened afterwards."""
        with self._lock:
            self._closed = True
            profiles = [held.profile for held in self._held.values()]
            self._held.clear()
        for profile in profiles:
            profile.close()

    def _take_away(self, name: str, end: float) -> "tuple[_Held[IndexT] | None, Future[None]]":
        """Take a profile from everybody who comes now, and wait for who works with it."""
        _check_name(name)
        pause = threading.Event()
        while (taken := self._begin_moving(name)) is None:
            if time.monotonic() > end:
                raise self._still_opened(name)
            pause.wait(POLL_SECONDS)
        held, moving = taken
        while held is not None and held.users:
            if time.monotonic() > end:
                with self._lock:
                    self._held[name] = held
                    del self._moving[name]
                moving.set_result(None)
                raise BusyError(
                    f"{held.users} calls still work with profile {name}; try again",
                    retry_after_ms=RETRY_AFTER_MS,
                )
            pause.wait(POLL_SECONDS)
        return taken

    def _begin_moving(self, name: str) -> "tuple[_Held[IndexT] | None, Future[None]] | None":
        with self._lock:
            if self._closed:
                raise _stopping()
            if name in self._moving:
                return None
            moving = self._moving[name] = Future()
            return self._held.pop(name, None), moving

    def _is_unused(self, held: _Held[IndexT], unused_seconds: float) -> bool:
        return held.users == 0 and self._seconds() - held.used_at >= unused_seconds

    def _folders(self) -> list[str]:
        if not self._options.profiles.is_dir():
            return []
        return [
            folder.name
            for folder in self._options.profiles.iterdir()
            if PROFILE_NAME.fullmatch(folder.name)
        ]

    def _known(self, name: str) -> str:
        """Return *name*, or "default" when it is empty, if there is such a profile."""
        name = name or DEFAULT_PROFILE
        _check_name(name)
        with self._lock:
            if name == DEFAULT_PROFILE or name in self._held:
                return name
        # The folders' own names count, also where the file system does not tell cases apart.
        if name not in self._folders() or not self.path(name).is_file():
            raise ProfileNotFoundError(
                f"there is no profile named {name}; make it with: graft profile add {name}"
            )
        return name

    def _hold(self, name: str, wait_seconds: float, *, users: int) -> _Held[IndexT]:
        """Return the open profile *name* with *users* more, once whoever opens it has done so."""
        end = time.monotonic() + wait_seconds
        while True:
            with self._lock:
                held = self._held.get(name)
                outgrown = held is not None and held.profile.outgrown and not held.users
                if held is not None and not outgrown:
                    held.users += users
                    held.used_at = self._seconds()
                    return held
                if self._closed:
                    raise _stopping()
                moving = self._moving.get(name) or self._begin_opening(name)
                if self._waiting[name] >= OPEN_WAITERS_MAX:
                    raise self._still_opened(name)
                self._waiting[name] += 1
            try:
                wait([moving], max(end - time.monotonic(), 0.0))
            finally:
                with self._lock:
                    self._waiting[name] -= 1
            if not moving.done():
                raise self._still_opened(name)
            moving.result()

    def _still_opened(self, name: str) -> BusyError:
        return BusyError(
            f"profile {name} is still being opened; its disk may be slow, or another program may "
            f"hold the lock of {self.path(name)}: try again",
            retry_after_ms=RETRY_AFTER_MS,
        )

    def _begin_opening(self, name: str) -> "Future[None]":
        """Open the profile *name* on a thread of its own, in the place of what was open of it."""
        before = self._held.pop(name, None)
        opening = self._moving[name] = Future()
        thread = threading.Thread(
            target=self._open_for_all,
            args=(name, None if before is None else before.profile, opening),
            name=f"open-{name}",
            daemon=True,
        )
        thread.start()
        return opening

    def _open_for_all(
        self, name: str, before: Profile[IndexT] | None, opening: "Future[None]"
    ) -> None:
        """Open the profile *name*, or tell everybody who waits for it what went wrong."""
        try:
            if before is not None:
                self._let_go(before)
            profile = self._make(name)
        except BaseException as error:  # noqa: BLE001 - the thread's root: the callers get it
            with self._lock:
                del self._moving[name]
            opening.set_exception(error)
            return
        with self._lock:
            closed = self._closed
            if not closed:
                self._held[name] = _Held(profile=profile, users=0, used_at=self._seconds())
            del self._moving[name]
        if closed:
            profile.close()
        opening.set_result(None)

    def _let_go(self, profile: Profile[IndexT]) -> None:
        self._options.closing(profile)
        profile.close()

    def _make(self, name: str) -> Profile[IndexT]:
        options = self._options
        try:
            for folder in (options.profiles, options.profiles / name):
                folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            chain = self.chain_of(name)
        except OSError as error:
            raise WrongStateError(
                f"cannot make the folders of profile {name}: {error}",
                metadata={"state": "unwritable"},
            ) from error
        except ValueError as error:
            raise DatabaseDamagedError(str(error)) from error
        profile = self.open_at(options.profiles / name, name, chain)
        options.opened(profile)
        return profile


def _stopping() -> StoppingError:
    return StoppingError("the service is stopping; call again to start it anew")


def _check_name(name: str) -> None:
    if not PROFILE_NAME.fullmatch(name):
        raise BadFieldError(
            "profile",
            f"{name[:80]!r} is not {PROFILE_NAME_RULE}",
        )
