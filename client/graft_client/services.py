"""Finding the memstore of a home, starting it when nothing answers, replacing one that is old."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from graft.memory.v1 import daemon_service_pb2
from graft.wire.build import build_id
from graft.wire.channel import open_channel
from graft.wire.endpoints import PLAIN, Endpoint, Trust
from graft.wire.errors import read_refusal
from graft.wire.launch import (
    ServiceRecord,
    StartError,
    ensure_running,
    find_running,
    wait_until_gone,
)
from graft.wire.locks import FileLock
from graft.wire.metadata import AUTHORIZATION_KEY
from graft.wire.paths import Home
from graft_client.errors import NobodyAnsweredError, SettingsError, WrongBuildError
from graft_client.operations import DAEMON
from graft_client.programs import INSTALL_LINE, MEMSTORE, MEMSTORE_MODULES, missing
from graft_client.settings import DATABASE_KEY_VARIABLE, Configuration
from graft_client.tracing import trace_pairs

POLL_SECONDS = 0.02
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A memstore that can be called; *pid* is 0 where it is not of this home."""

    at: Path | Endpoint
    pid: int
    trust: Trust = PLAIN


class Services:
    """The services of one home, as one caller of one build sees them."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        build: Callable[[], str] = build_id,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self._configuration = configuration
        self._build_of = build
        self._build: str | None = None
        self._command = command

    @property
    def configuration(self) -> Configuration:
        """What calls go by."""
        return self._configuration

    @property
    def build(self) -> str:
        """Build of this program; read once, from the files' times."""
        if self._build is None:
            self._build = self._build_of()
        return self._build

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Give the metadata that every call carries.

        Raises:
            SettingsError: there is a target on TCP and no token for it.
        """
        told = self._configuration.metadata(self.build)
        told += trace_pairs(self._configuration.environ)
        if not isinstance(self._configuration.target, Endpoint):
            return told
        return (*told, (AUTHORIZATION_KEY, f"Bearer {self._configuration.token()}"))

    def find(self) -> Located | None:
        """Find the memstore that answers now, whatever its build; start nothing.

        Raises:
            NobodyAnsweredError: another user's process answers there.
        """
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            return elsewhere
        with _own_errors(self._configuration.home):
            record = find_running(self._configuration.home, MEMSTORE)
        return None if record is None else Located(at=record.socket, pid=record.pid)

    def ensure(self, deadline: float, *, asked: bool = False) -> Located:
        """Find a memstore that can be called, starting or replacing it where that is allowed.

        Args:
            deadline: `time.monotonic` value after which to give up.
            asked: a start is what the caller asked for, so that it is allowed at any rate.

        Raises:
            NobodyAnsweredError: nothing answers, and it could or may not be started.
            SettingsError: encryption was asked for, which a running memstore does not do either.
            WrongBuildError: one of another version answers and is busy.
        """
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            return elsewhere
        if self._configuration.environ.get(DATABASE_KEY_VARIABLE):
            raise SettingsError(
                f"{DATABASE_KEY_VARIABLE} is set, but this build cannot encrypt; unset it, and keep"
                " the home on an encrypted disk instead"
            )
        home = self._configuration.home
        may_start = asked or self._configuration.may_start
        with _own_errors(home):
            record = find_running(home, MEMSTORE)
            if record is not None and record.build != self.build:
                record = self._replace(record, deadline, may_start=may_start)
            if record is None:
                record = self._start(deadline, may_start=may_start)
        return Located(at=record.socket, pid=record.pid)

    def _elsewhere(self) -> Located | None:
        """Return the memstore that the target names; None where there is no target.

        Raises:
            SettingsError: a file that TLS takes cannot be read.
        """
        target = self._configuration.target
        if target is None:
            return None
        if isinstance(target, Path):
            return Located(at=target, pid=0)
        return Located(at=target, pid=0, trust=self._configuration.trust())

    def _start(self, deadline: float, *, may_start: bool) -> ServiceRecord:
        home = self._configuration.home
        if not may_start:
            raise NobodyAnsweredError(
                f"no memstore answers in {home.root}, and autostart (GRAFT_AUTOSTART) is off;"
                " start it with: graft start"
            )
        return ensure_running(
            home,
            MEMSTORE,
            self._command or _memstore_command(home),
            environ=self._configuration.environ,
            deadline=deadline,
        )

    def _replace(
        self, found: ServiceRecord, deadline: float, *, may_start: bool
    ) -> ServiceRecord | None:
        """End an idle memstore of another build; return it where it has to go on being used.

        The start lock is held meanwhile, so that of many callers one ends the old memstore and
        none ends its successor.
        """
        home = self._configuration.home
        lock = FileLock(home.start_lock(MEMSTORE))
        pause = threading.Event()
        while not lock.try_acquire():
            if time.monotonic() > deadline:
                raise NobodyAnsweredError(
                    f"another program has been starting the memstore of {home.root} for too long;"
                    " see graft doctor"
                )
            pause.wait(POLL_SECONDS)
        try:
            record = find_running(home, MEMSTORE)
            if record is None or record.build == self.build:
                return record
            if may_start and _stop_if_idle(record, deadline):
                wait_until_gone(home, MEMSTORE, deadline)
                return None
        finally:
            lock.release()
        if not may_talk(record.build, self.build):
            raise WrongBuildError(
                f"the memstore (process {found.pid}) is of version {record.build} and busy, this"
                f" program of {self.build}; wait until it is idle, or run: graft stop"
            )
        return record


def may_talk(theirs: str, ours: str) -> bool:
    """Tell whether builds ("major.minor.patch+time") are at most one minor version apart."""
    their_major, their_minor = _version(theirs)
    our_major, our_minor = _version(ours)
    return their_major == our_major and abs(their_minor - our_minor) <= 1


def _memstore_command(home: Home) -> tuple[str, ...]:
    lacking = missing(MEMSTORE_MODULES)
    if lacking:
        raise NobodyAnsweredError(
            f"no memstore answers in {home.root}, and it cannot be started because"
            f" {', '.join(lacking)} is not installed; run: {INSTALL_LINE}"
        )
    return (sys.executable, "-m", "graft_memstore", "serve", "--home", str(home.root))


def _version(build: str) -> tuple[int, int]:
    numbers = [int(part) for part in build.partition("+")[0].split(".")[:2] if part.isdecimal()]
    major, minor = (*numbers, 0, 0)[:2]
    return major, minor


def _stop_if_idle(record: ServiceRecord, deadline: float) -> bool:
    """Ask the memstore to end if nothing runs; False when something does."""
    left = max(deadline - time.monotonic(), 0.0)
    with open_channel(record.socket) as channel:
        stop = channel.unary_unary(
            f"{DAEMON}/Stop",
            request_serializer=daemon_service_pb2.StopRequest.SerializeToString,
            response_deserializer=daemon_service_pb2.StopResponse.FromString,
        )
        try:
            stop(daemon_service_pb2.StopRequest(only_if_idle=True), timeout=min(left, STOP_SECONDS))
        except grpc.RpcError as error:
            # One that is going away already, without an answer, need not be asked twice.
            return read_refusal(error).code is grpc.StatusCode.UNAVAILABLE
    return True


@contextmanager
def _own_errors(home: Home) -> Iterator[None]:
    """Turn what goes wrong while a service is found or started into Graft's own errors."""
    try:
        yield
    except StartError as error:
        raise NobodyAnsweredError(str(error)) from error
    except OSError as error:
        raise NobodyAnsweredError(
            f"the home {home.root} cannot be used: {error}; run: graft doctor"
        ) from error
