"""The life of a service process: one lock for life, one socket, an end that takes nothing along."""

import contextlib
import logging
import os
import queue
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from graft.wire.build import build_id
from graft.wire.endpoints import Endpoint
from graft.wire.events import event
from graft.wire.launch import BUSY, READY, ServiceRecord, write_record
from graft.wire.listening import LISTEN_OPTIONS, Listening, add_listener
from graft.wire.locks import FileLock
from graft.wire.logs import LOG_BYTES_MAX, keep_log_small
from graft.wire.paths import DIRECTORY_TRIES, Home
from graft.wire.server import REMOTE_THREADS, Activity, ServerParts, build_server

EXIT_LOCK_TAKEN = 75
GRACE_SECONDS = 10.0
WATCH_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Where a service listens for callers that do not come through its socket.

    Attributes:
        listening: the address, and its TLS.
        admission: what decides who of them may call at all.
    """

    listening: Listening
    admission: tuple[grpc.ServerInterceptor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonOptions:
    """What makes one service's process.

    Attributes:
        home: its home.
        service: its name, which names its lock, socket, record and log.
        domain: what its refusals are signed with, such as "graft.memory".
        idle_minutes: minutes without use after which it ends; 0: never.
        ready_fd: descriptor to tell when it listens; None when nobody waits.
        not_use: full names of methods that do not count as use.
        around: what sees each call from its beginning to its end, refused ones too.
        inside: what sees each call, and refusals as they are raised.
        remote: where it listens besides its socket; None: nowhere.
        socket_name: names its socket where that is not to be the service's name; empty: it is.
        reload: reads its settings again, when SIGHUP asks for it; None: there is nothing to read.
        log_bytes_max: size from which on its log is put aside, looked at once a second.
    """

    home: Home
    service: str
    domain: str
    idle_minutes: float
    ready_fd: int | None
    not_use: tuple[str, ...] = ()
    around: tuple[grpc.ServerInterceptor, ...] = ()
    inside: tuple[grpc.ServerInterceptor, ...] = ()
    remote: "Remote | None" = None
    socket_name: str = ""
    reload: Callable[[], None] | None = None
    log_bytes_max: int = LOG_BYTES_MAX


class Control:
    """What a running service may ask of its process."""

    def __init__(self, activity: Activity, busy: Callable[[], bool]) -> None:
        self._activity = activity
        self._busy = busy
        self.listens_at: Endpoint | None = None
        # Its put may interrupt its get, as a signal's handler does; an Event's set then hangs.
        self._stops: queue.SimpleQueue[None] = queue.SimpleQueue()
        # The first get of a queue finds its inner lock free, looks once more, and waits for ever if
        # its time has passed in between: a process that was held up then would never end.
        with contextlib.suppress(queue.Empty):
            self._stops.get_nowait()
        self._reloads: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.started = time.monotonic()
        self.health = health.HealthServicer()

    @property
    def calls(self) -> int:
        """Calls that run and count as use."""
        return self._activity.calls

    def is_idle(self) -> bool:
        """Tell whether no call runs, no work is pending, and nobody may come from outside.

        Who does cannot start it again.
        """
        return self._activity.calls == 0 and self.listens_at is None and not self._busy()

    def idle_seconds(self) -> float:
        """Return how long nothing has been used; pending work is use as calls are."""
        if self._busy() or self.listens_at is not None:
            self._activity.touch()
            return 0.0
        return self._activity.idle_seconds()

    def uptime_ms(self) -> int:
        """Return milliseconds since the process was started."""
        return int((time.monotonic() - self.started) * 1000)

    def request_stop(self) -> None:
        """End the process once the calls in flight have finished."""
        self._stops.put(None)

    def request_reload(self) -> None:
        """Have the settings read again within a second or so."""
        self._reloads.put(None)

    def reload_was_asked(self) -> bool:
        """Tell whether somebody asked for that since this was last looked at."""
        asked = False
        with contextlib.suppress(queue.Empty):
            while True:
                self._reloads.get_nowait()
                asked = True
        return asked

    def wait(self, seconds: float) -> bool:
        """Wait for a stop request; tell whether there was one."""
        try:
            self._stops.get(timeout=seconds)
        except queue.Empty:
            return False
        return True


Register = Callable[[Sequence[grpc.Server], Control], Sequence[str]]
"""Adds servicers to each server, and returns their full names; called with the lock held."""


def run_daemon(
    options: DaemonOptions,
    *,
    register: Register,
    busy: Callable[[], bool],
    on_stop: Callable[[], None],
) -> int:
    """Serve until told to stop, idle for long, or robbed of the socket; return the exit status.

    Args:
        options: see `DaemonOptions`.
        register: builds the service; runs after the lock is ours, before the socket is bound.
        busy: tells whether work is pending that no call stands for; such work is use.
        on_stop: puts things away; runs after the last call. The life lock ends with the process.

    Raises:
        UnsafeDirectoryError: the home or its runtime directory is not ours alone.
        ListenError: it cannot be listened where `DaemonOptions.remote` says.
    """
    if options.remote is not None:
        options.remote.listening.check()
    os.umask(0o077)
    options.home.create()
    options.home.runtime_directory()
    life = FileLock(options.home.life_lock(options.service))
    if not life.try_acquire():
        return _give_way(options)
    activity = Activity(options.not_use)
    control = Control(activity, busy)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: control.request_stop())
    signal.signal(signal.SIGHUP, lambda *_: control.request_reload())
    servers = _servers(options, activity)
    path, inode = _open(options, servers, control, register)
    _tell(options.ready_fd, READY)
    log.info(
        event(
            "started",
            service=options.service,
            pid=os.getpid(),
            listen=str(control.listens_at or ""),
        )
    )
    reason, start_lock = _wait(options, control, path, inode)
    log.info(event("stopping", service=options.service, because=reason))
    if _inode(path) == inode:
        path.unlink(missing_ok=True)
    control.health.enter_graceful_shutdown()
    for stopped in [each.stop(GRACE_SECONDS) for each in servers]:
        stopped.wait()
    on_stop()
    options.home.leave_runtime_directory()
    log.info(event("stopped", service=options.service))
    # The life lock ends with the process: whoever waits for it finds nothing left that still ends.
    if start_lock is not None:
        start_lock.release()
    return 0


def _open(
    options: DaemonOptions, servers: Sequence[grpc.Server], control: Control, register: Register
) -> tuple[Path, int]:
    """Have the servers answer, and tell where; return the socket and its inode."""
    if options.remote is not None:
        # What may fail goes first: nothing has been begun yet that would have to be ended.
        control.listens_at = add_listener(servers[-1], options.remote.listening)
    names = register(servers, control)
    for each in servers:
        _add_standard_services(each, control, names)
    path = options.home.socket(options.socket_name or options.service)
    inode = _bind(servers[0], options.home, path)
    for each in servers[1:]:
        each.start()
    write_record(options.home, _record(options, path))
    return path, inode


def _servers(options: DaemonOptions, activity: Activity) -> list[grpc.Server]:
    """Build the server of the socket and, where it listens elsewhere too, that one's."""
    parts = ServerParts(around=options.around, inside=options.inside)
    local = build_server(options.domain, activity, parts)
    if options.remote is None:
        return [local]
    outside = replace(
        parts,
        admission=options.remote.admission,
        threads=REMOTE_THREADS,
        options=LISTEN_OPTIONS,
    )
    return [local, build_server(options.domain, activity, outside)]


def _give_way(options: DaemonOptions) -> int:
    """Tell whoever waits that another process is the service, and return the exit status."""
    _tell(options.ready_fd, BUSY)
    if options.ready_fd is None:  # it was started by hand, or in a container
        log.warning(event("runs already", service=options.service, home=options.home.root))
    return EXIT_LOCK_TAKEN


def _add_standard_services(server: grpc.Server, control: Control, names: Iterable[str]) -> None:
    health_pb2_grpc.add_HealthServicer_to_server(control.health, server)
    reflected = (*names, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(reflected, server)


def _bind(server: grpc.Server, home: Home, path: Path) -> int:
    """Listen on *path*, in the runtime directory of *home*, and return its inode.

    gRPC takes over whatever socket is at its path, and on its end removes whatever is there
    then. So it binds a name of its own, which is renamed: its end removes nothing of others.
    """
    for leftover in path.parent.glob(f"{path.stem}.[0-9]*"):
        # Of processes killed here; none lives, we hold the lock. "x.1.sock" is another service's.
        if leftover.name.removeprefix(f"{path.stem}.").isdecimal():
            leftover.unlink(missing_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    _add_port(server, home, draft)
    server.start()
    draft.chmod(0o600)
    draft.rename(path)
    inode = _inode(path)
    assert inode is not None, "the socket was there a moment ago"
    return inode


def _add_port(server: grpc.Server, home: Home, path: Path) -> None:
    """Bind *path*; once it is there nobody removes its directory any more."""
    for _ in range(DIRECTORY_TRIES):
        home.runtime_directory()
        try:
            server.add_insecure_port(f"unix:{path}")
        except RuntimeError:
            if path.parent.exists():
                raise
        else:
            return
    raise RuntimeError(f"{path.parent} was removed again and again")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _record(options: DaemonOptions, path: Path) -> ServiceRecord:
    return ServiceRecord(
        service=options.service,
        pid=os.getpid(),
        socket=path,
        build=build_id(),
        started_ms=time.time_ns() // 1_000_000,
    )


def _tell(descriptor: int | None, answer: bytes) -> None:
    if descriptor is None:
        return
    # Whoever started us may be gone; the socket serves the others all the same.
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptor, answer)
    os.close(descriptor)


def _wait(
    options: DaemonOptions, control: Control, path: Path, inode: int
) -> tuple[str, FileLock | None]:
    """Wait for a reason to end; return it, with the start lock where no start may overlap.

    Args:
        options: see `DaemonOptions`.
        control: of this process.
        path: where its socket was bound.
        inode: of that socket; another one there is not ours.
    """
    idle_limit = options.idle_minutes * 60
    pause = min(WATCH_SECONDS, idle_limit / 4) if idle_limit else WATCH_SECONDS
    while not control.wait(pause):
        _look_after_log(options)
        if control.reload_was_asked() and options.reload is not None:
            options.reload()
        if _inode(path) != inode:
            return "its socket has gone", None
        if not idle_limit or control.idle_seconds() < idle_limit:
            continue
        start_lock = FileLock(options.home.start_lock(options.service))
        if not start_lock.try_acquire():
            continue  # somebody is starting us, and will find us
        if control.idle_seconds() >= idle_limit:
            return "idle", start_lock
        start_lock.release()
    return "asked to", None


def _look_after_log(options: DaemonOptions) -> None:
    try:
        keep_log_small(options.home.log(options.service), options.log_bytes_max)
    except OSError as error:
        log.warning(event("cannot put the log aside", because=error))
