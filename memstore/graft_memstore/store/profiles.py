"""The profiles of a home: which there are, making one, and the open ones."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
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
from graft_memstore.store.chain import AuditChain, ChainHead, audit_key
from graft_memstore.store.profile import DATABASE_FILE, Index, Profile, ProfileParts

PRIVATE_FOLDER = 0o700

OPEN_WAIT_SECONDS = 30.0
"""How long is waited for a profile that is being opened, where the caller names no time."""

RETRY_AFTER_MS = 500

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
        opened: called once with every profile that has been opened.
    """

    profiles: Path
    audit: Path
    make_index: Callable[[ModelId, int], IndexT]
    now_ms: Callable[[], int]
    random: Callable[[int], bytes]
    opened: Callable[[Profile[IndexT]], None]


class Profiles(Generic[IndexT]):
    """Opens each profile at its first use and keeps it open.

    Each is opened on a thread of its own: a disk that hangs, or a file that is damaged, is in
    nobody's way but of those who want that profile, and of them only as long as they can wait.
    """

    def __init__(self, options: StoreOptions[IndexT]) -> None:
        self._options = options
        self._lock = threading.Lock()
        # Of two that make profiles at once, one finds what the other has made.
        self._adding = threading.Lock()
        self._open: dict[str, Profile[IndexT]] = {}
        self._opening: dict[str, Future[Profile[IndexT]]] = {}
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
            return self._opened(name, wait_seconds)
        finally:
            self._adding.release()

    def open(self, name: str, wait_seconds: float = OPEN_WAIT_SECONDS) -> Profile[IndexT]:
        """Return the profile *name*, "default" when empty, which its first use makes.

        Raises:
            BadFieldError: *name* is no name of a profile.
            ProfileNotFoundError: there is none of this name.
            BusyError: it is not open within *wait_seconds*.
            ServiceError: see `open_connection` and `migrate`.
        """
        name = name or DEFAULT_PROFILE
        _check_name(name)
        with self._lock:
            profile = self._open.get(name)
        if profile is not None:
            return profile
        # The folders' own names count, also where the file system does not tell cases apart.
        if name != DEFAULT_PROFILE and not (name in self._folders() and self.path(name).is_file()):
            raise ProfileNotFoundError(
                f"there is no profile named {name}; make it with: graft profile add {name}"
            )
        return self._opened(name, wait_seconds)

    def opened(self) -> list[Profile[IndexT]]:
        """Return the profiles that are open, sorted by name."""
        with self._lock:
            return [self._open[name] for name in sorted(self._open)]

    def close(self) -> None:
        """Close every profile; nothing can be opened afterwards."""
        with self._lock:
            self._closed = True
            profiles = list(self._open.values())
            self._open.clear()
        for profile in profiles:
            profile.close()

    def _folders(self) -> list[str]:
        if not self._options.profiles.is_dir():
            return []
        return [
            folder.name
            for folder in self._options.profiles.iterdir()
            if PROFILE_NAME.fullmatch(folder.name)
        ]

    def _opened(self, name: str, wait_seconds: float) -> Profile[IndexT]:
        """Return the open profile *name*, once whoever opens it has done so."""
        with self._lock:
            profile = self._open.get(name)
            if profile is not None:
                return profile
            if self._closed:
                raise _stopping()
            opening = self._opening.get(name)
            if opening is None:
                opening = self._opening[name] = Future()
                threading.Thread(
                    target=self._open_for_all,
                    args=(name, opening),
                    name=f"open-{name}",
                    daemon=True,
                ).start()
        wait([opening], wait_seconds)
        if not opening.done():
            raise BusyError(
                f"profile {name} is still being opened; its disk may be slow, or another program "
                f"may hold the lock of {self.path(name)}: try again",
                retry_after_ms=RETRY_AFTER_MS,
            )
        return opening.result()

    def _open_for_all(self, name: str, opening: "Future[Profile[IndexT]]") -> None:
        """Open the profile *name* and hand it, or what went wrong, to everybody who waits."""
        try:
            profile = self._make(name)
        except BaseException as error:  # noqa: BLE001 - the thread's root: the callers get it
            with self._lock:
                del self._opening[name]
            opening.set_exception(error)
            return
        with self._lock:
            closed = self._closed
            if not closed:
                self._open[name] = profile
            del self._opening[name]
        if closed:
            profile.close()
            opening.set_exception(_stopping())
        else:
            opening.set_result(profile)

    def _make(self, name: str) -> Profile[IndexT]:
        options = self._options
        try:
            for folder in (options.profiles, options.profiles / name, options.audit):
                folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            key = audit_key(options.audit, options.random)
        except OSError as error:
            raise WrongStateError(
                f"cannot make the folders of profile {name}: {error}",
                metadata={"state": "unwritable"},
            ) from error
        except ValueError as error:
            raise DatabaseDamagedError(str(error)) from error
        parts = ProfileParts(
            chain=AuditChain(key, ChainHead(options.audit / f"{name}.head")),
            make_index=options.make_index,
            now_ms=options.now_ms,
            random=options.random,
        )
        profile = Profile(name, options.profiles / name, parts)
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
