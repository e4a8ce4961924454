"""Start a service once, however many callers ask at the same time, and find it again.

Standard library alone, so that a caller finds out what runs without importing gRPC.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graft.wire.locks import NO_ROOM, FileLock, holder_of
from graft.wire.logs import open_log, tail
from graft.wire.paths import Home

POLL_SECONDS = 0.02
CONNECT_SECONDS = 2.0
FREE_BYTES_MIN = 64 * 1024
"""With less room than this no service writes its lock, record and log."""

READY = b"ready\n"
BUSY = b"busy\n"

MACOS_SOL_LOCAL = 0
MACOS_LOCAL_PEERCRED = 1
MACOS_LOCAL_PEERPID = 2

DAEMON_VARIABLES = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SSL_CERT_DIR"}
    | {"SSL_CERT_FILE", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME"}
)
DAEMON_PREFIXES = (
    *("CUDA_", "DYLD_", "GGML_", "GOMP_", "GRAFT_", "HIP_", "HSA_", "LC_", "LLAMA_", "NVIDIA_"),
    *("OMP_", "OPENBLAS_", "ROCR_"),
)
CALLERS_OWN = frozenset(
    {"GRAFT_AUTHOR", "GRAFT_AUTOSTART", "GRAFT_HOME", "GRAFT_PROFILE", "GRAFT_SCOPE"}
    | {"GRAFT_SESSION", "GRAFT_TARGET", "GRAFT_TIMEOUT", "GRAFT_TLS_CA", "GRAFT_TLS_CERT"}
    | {"GRAFT_TLS_KEY", "GRAFT_TOKEN", "GRAFT_TOKEN_FILE"}
)
"""What belongs to one call and must not stick to a daemon that serves many."""


class StartError(Exception):
    """A service could not be started; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecord:
    """A service that answers.

    Attributes:
        service: its name.
        pid: its process, from the socket's peer credentials.
        socket: where it listens.
        build: its build, see `graft.wire.build`.
        started_ms: when it was started, UTC milliseconds.
    """

    service: str
    pid: int
    socket: Path
    build: str
    started_ms: int


def write_record(home: Home, record: ServiceRecord) -> None:
    """Put *record* where callers look, by rename, so that nobody reads half of it.

    On a full disk it is written over the one that is there, which takes no room; who reads half
    of it looks again.

    Raises:
        OSError: it cannot be written, and there is none yet.
    """
    path = home.record(record.service)
    draft = path.with_suffix(f".json.{record.pid}")
    content = {
        "service": record.service,
        "pid": record.pid,
        "socket": str(record.socket),
        "build": record.build,
        "started_ms": record.started_ms,
    }
    text = json.dumps(content).encode()
    try:
        _write(draft, text)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno not in NO_ROOM:
            raise
        _write(path, text)
    else:
        draft.rename(path)


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
    finally:
        os.close(descriptor)


def find_running(home: Home, service: str) -> ServiceRecord | None:
    """Return the record of *service* if it answers on its socket now, else None.

    Raises:
        StartError: another user's process answers there.
    """
    record = _read_record(home, service)
    if record is None:
        return None
    pid = peer_pid(record.socket)
    if pid is None:
        return None
    return replace(record, pid=pid or record.pid)


def ensure_running(
    home: Home,
    service: str,
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    deadline: float,
) -> ServiceRecord:
    """Return the record of *service*, starting it with *command* if nothing answers.

    Of any number of callers at once exactly one starts it; the others wait for its socket.
    A caller that dies meanwhile holds nobody up.

    Args:
        home: its home; made if it is not there.
        service: its name.
        command: program and arguments; ``--ready-fd N`` is added.
        environ: the caller's environment; the service gets the part on the allow-list.
        deadline: `time.monotonic` value after which to give up.

    Raises:
        StartError: it did not answer in time, or ended at once.
        UnsafeDirectoryError: the home or its runtime directory is not ours alone.
    """
    home.create()
    home.runtime_directory()
    while True:
        found = find_running(home, service)
        if found is not None:
            return found
        lock = FileLock(home.start_lock(service))
        if not lock.try_acquire():
            _pause(home, service, deadline)
            continue
        try:
            found = find_running(home, service)
            if found is None and holder_of(home.life_lock(service)) is None:
                _spawn(home, service, command, environ, deadline)
        finally:
            lock.release()
        if found is not None:
            return found
        _pause(home, service, deadline)


def peer_pid(path: Path) -> int | None:
    """Connect to *path*; return the listener's process (0 if the system hides it) or None.

    Raises:
        StartError: the listener is another user's, and not root's.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(CONNECT_SECONDS)
        try:
            connection.connect(str(path))
        except OSError:
            return None
        pid, uid = _credentials(connection)
    if uid not in (os.getuid(), 0):
        raise StartError(f"{path} is served by user {uid}, not by you; move it away")
    return pid


def is_alive(home: Home, service: str) -> bool:
    """Tell whether a process holds the service's life lock, answering or not."""
    return holder_of(home.life_lock(service)) is not None


def wait_until_gone(home: Home, service: str, deadline: float) -> bool:
    """Wait until no process holds the service's life lock; tell whether that came true."""
    while is_alive(home, service):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def kill_service(home: Home, service: str) -> int | None:
    """Kill the process behind *service* at once and return its id; None when there is none.

    The process is the one that the socket's peer credentials give, else the holder of the
    life lock.
    """
    found = find_running(home, service)
    pid = found.pid if found is not None else holder_of(home.life_lock(service))
    if not pid:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return pid


def why_it_ended(home: Home, service: str, log_start: int, free_bytes: int) -> str:
    """Say why *service* ended as soon as it was started.

    Args:
        home: its home.
        service: its name.
        log_start: where its log was before.
        free_bytes: room on the disk of its home; a full one holds half a log at most.
    """
    if free_bytes < FREE_BYTES_MIN:
        return f"{service} cannot start: no room left on the disk of {home.root}; free some"
    last = _words(tail(home.log(service), log_start))
    return f"{service} ended at once: {last} (all of it: {home.log(service)})"


def _words(line: str) -> str:
    """Return what a line of a log says: one that is JSON has it under "problem"."""
    try:
        told = json.loads(line)
    except ValueError:
        return line
    problem = told.get("problem") if isinstance(told, dict) else None
    return problem if isinstance(problem, str) else line


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of *environ* that a daemon may have."""
    return {
        name: value
        for name, value in environ.items()
        if name not in CALLERS_OWN
        and (name in DAEMON_VARIABLES or name.startswith(DAEMON_PREFIXES))
    }


def _read_record(home: Home, service: str) -> ServiceRecord | None:
    try:
        content = json.loads(home.record(service).read_text("utf-8"))
        return ServiceRecord(
            service=service,
            pid=int(content["pid"]),
            socket=Path(content["socket"]),
            build=str(content["build"]),
            started_ms=int(content["started_ms"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # a record that cannot be read is rewritten by the next start


def _credentials(connection: socket.socket) -> tuple[int, int]:
    if sys.platform == "darwin":
        # struct xucred: version, uid, …; the process id has its own option.
        cred = connection.getsockopt(MACOS_SOL_LOCAL, MACOS_LOCAL_PEERCRED, 76)
        pid = connection.getsockopt(MACOS_SOL_LOCAL, MACOS_LOCAL_PEERPID, 4)
        return struct.unpack("=i", pid)[0], struct.unpack_from("=II", cred)[1]
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid_number, uid, _ = struct.unpack("3i", raw)
    return pid_number, uid


def _pause(home: Home, service: str, deadline: float) -> None:
    if time.monotonic() <= deadline:
        time.sleep(POLL_SECONDS)
        return
    holder = holder_of(home.life_lock(service))
    if holder:
        raise StartError(
            f"{service} (process {holder}) holds {home.life_lock(service)} but does not answer; "
            "wait for it, or run: graft stop --force"
        )
    raise StartError(
        f"{service} did not start in time; see {home.log(service)}, or give more with --timeout"
    )


def _spawn(
    home: Home,
    service: str,
    command: Sequence[str],
    environ: Mapping[str, str],
    deadline: float,
) -> None:
    """Run *command* as a daemon and wait until it listens, or found its lock taken."""
    log = open_log(home.log(service))
    log_start = os.fstat(log).st_size
    receiver, sender = os.pipe()
    try:
        # The shell starts the daemon in the background and ends: we reap the shell, init the
        # daemon, so that a long-lived caller collects no zombies.
        launcher = subprocess.Popen(  # noqa: S603 - our own module, no shell text from outside
            ["/bin/sh", "-c", '"$@" &', "sh", *command, "--ready-fd", str(sender)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=daemon_environment(environ),
            pass_fds=(sender,),
            start_new_session=True,
        )
        launcher.wait()
        os.close(sender)
        sender = -1
        answer = _read_answer(receiver, deadline)
    finally:
        os.close(receiver)
        os.close(log)
        if sender >= 0:
            os.close(sender)
    if answer == b"":
        free_bytes = shutil.disk_usage(home.root).free
        raise StartError(why_it_ended(home, service, log_start, free_bytes))


def _read_answer(receiver: int, deadline: float) -> bytes | None:
    """Return what the daemon said, b"" when it ended, None when time ran out."""
    answer = b""
    while not answer.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([receiver], [], [], left)[0]:
            return None
        piece = os.read(receiver, 64)
        if not piece:
            return b""
        answer += piece
    return answer
