"""Services start once, are found again, and take nothing along when they end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
import psutil
import pytest
from tests.ask_health import is_serving

from graft.wire import daemon
from graft.wire.channel import open_channel
from graft.wire.daemon import Control, DaemonOptions
from graft.wire.launch import (
    StartError,
    daemon_environment,
    ensure_running,
    find_running,
    is_alive,
    kill_service,
    wait_until_gone,
    why_it_ended,
)
from graft.wire.locks import FileLock, holder_of
from graft.wire.paths import Home
from graft.wire.server import Activity

HERE = Path(__file__).parent
SERVICE = "tiny"
SECONDS = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(root=tmp_path / "home")
    yield home
    kill_service(home, SERVICE)
    assert wait_until_gone(home, SERVICE, time.monotonic() + SECONDS)


def deadline() -> float:
    return time.monotonic() + SECONDS


def command(home: Home, *extra: str) -> list[str]:
    return [sys.executable, str(HERE / "tiny_daemon.py"), "--home", str(home.root), *extra]


def start(home: Home, *extra: str) -> int:
    return ensure_running(home, SERVICE, command(home, *extra), environ={}, deadline=deadline()).pid


def caller(home: Home, *extra: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(HERE / "start_tiny.py"), str(home.root), *extra],
        stdout=subprocess.PIPE,
        text=True,
    )


def daemons(home: Home) -> list[int]:
    wanted = str(home.root)
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "tiny_daemon.py" in " ".join(process.info["cmdline"] or [])
        and wanted in (process.info["cmdline"] or [])
    ]


def test_a_second_caller_finds_what_the_first_started(home: Home) -> None:
    first = start(home)

    second = start(home)

    assert second == first
    assert daemons(home) == [first]


def test_many_callers_at_once_give_one_daemon(home: Home) -> None:
    callers = [caller(home) for _ in range(12)]

    pids = {each.communicate(timeout=SECONDS)[0].strip() for each in callers}

    assert [each.returncode for each in callers] == [0] * 12
    assert len(pids) == 1
    assert daemons(home) == [int(pid) for pid in pids]


def test_a_starter_that_is_killed_holds_nobody_up(home: Home) -> None:
    first = caller(home, "--start-seconds", "1")
    while not is_alive(home, SERVICE):
        assert first.poll() is None
    first.kill()
    first.communicate(timeout=SECONDS)

    second = caller(home)
    out, _ = second.communicate(timeout=SECONDS)

    assert second.returncode == 0
    assert daemons(home) == [int(out)]


def test_a_killed_daemon_leaves_nothing_to_trip_over(home: Home) -> None:
    first = start(home)
    os.kill(first, signal.SIGKILL)
    assert wait_until_gone(home, SERVICE, deadline())

    second = start(home)

    assert second != first
    with open_channel(home.socket(SERVICE)) as channel:
        assert is_serving(channel, "", SECONDS)


def test_a_stopping_daemon_leaves_its_successors_socket_alone(home: Home) -> None:
    first = start(home)
    path = home.socket(SERVICE)
    path.unlink()
    path.write_text("stands for the successor's socket")

    os.kill(first, signal.SIGTERM)

    assert wait_until_gone(home, SERVICE, deadline())
    assert path.read_text() == "stands for the successor's socket"
    path.unlink()


def test_a_daemon_whose_socket_has_gone_ends(home: Home) -> None:
    start(home)

    home.socket(SERVICE).unlink()

    assert wait_until_gone(home, SERVICE, deadline())


def test_a_stopped_daemon_removes_its_own_socket(home: Home) -> None:
    pid = start(home)

    os.kill(pid, signal.SIGTERM)

    assert wait_until_gone(home, SERVICE, deadline())
    assert not home.socket(SERVICE).exists()
    assert find_running(home, SERVICE) is None


def test_a_daemon_is_gone_only_when_its_process_has_ended(home: Home) -> None:
    pid = start(home, "--exit-seconds", "0.5")
    os.kill(pid, signal.SIGTERM)
    assert is_alive(home, SERVICE)

    assert wait_until_gone(home, SERVICE, deadline())

    assert daemons(home) == []


def test_an_idle_daemon_ends_and_the_next_caller_starts_another(home: Home) -> None:
    first = start(home, "--idle-minutes", "0.002")
    assert wait_until_gone(home, SERVICE, deadline())

    second = start(home)

    assert second != first


def test_a_daemon_that_ends_at_once_is_quoted(home: Home) -> None:
    with pytest.raises(StartError, match="the disk is on fire"):
        start(home, "--fail")


def test_a_lock_that_nobody_answers_for_is_named_with_its_process(home: Home) -> None:
    home.create()
    lock = FileLock(home.life_lock(SERVICE))
    assert lock.try_acquire()

    with pytest.raises(StartError, match=rf"process {os.getpid()}\).*graft stop --force"):
        ensure_running(home, SERVICE, command(home), environ={}, deadline=time.monotonic() + 0.1)

    lock.release()


def test_a_home_with_a_path_of_two_hundred_characters_works(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    home = Home(root=deep)

    pid = start(home)

    assert len(str(home.socket(SERVICE))) < 100
    assert daemons(home) == [pid]
    kill_service(home, SERVICE)
    assert wait_until_gone(home, SERVICE, deadline())


def test_the_socket_is_for_its_owner_alone(home: Home) -> None:
    start(home)

    assert home.socket(SERVICE).stat().st_mode & 0o777 == 0o600
    assert home.runtime_path().stat().st_mode & 0o777 == 0o700
    assert home.root.stat().st_mode & 0o777 == 0o700
    assert home.record(SERVICE).stat().st_mode & 0o777 == 0o600


@pytest.fixture
def far_home(tmp_path: Path) -> Iterator[Home]:
    """A home whose path is too long for sockets."""
    home = Home(root=tmp_path / ("h" * 100))
    yield home
    kill_service(home, SERVICE)
    assert wait_until_gone(home, SERVICE, time.monotonic() + SECONDS)


def test_the_last_service_of_a_home_takes_its_directory_in_tmp_along(far_home: Home) -> None:
    pid = start(far_home)
    folder = far_home.runtime_path()
    (folder / "another.sock").touch()

    os.kill(pid, signal.SIGTERM)
    assert wait_until_gone(far_home, SERVICE, deadline())
    with_another = folder.is_dir()
    (folder / "another.sock").unlink()
    os.kill(start(far_home), signal.SIGTERM)
    assert wait_until_gone(far_home, SERVICE, deadline())

    assert with_another
    assert not folder.exists()
    assert folder.parent.is_dir()


def test_a_directory_of_sockets_inside_the_home_or_of_a_person_s_choice_is_left(
    tmp_path: Path,
) -> None:
    chosen = Home(root=tmp_path, runtime=tmp_path / "chosen")
    with TemporaryDirectory(prefix="graft-") as short:
        inside = Home(root=Path(short))
        for home in (inside, chosen):
            home.runtime_directory()
            home.leave_runtime_directory()

        assert inside.runtime_path() == Path(short) / "run"
        assert inside.runtime_path().is_dir()
    assert chosen.runtime_path().is_dir()


def test_a_service_starts_while_another_that_ends_removes_their_directory(far_home: Home) -> None:
    folder = far_home.runtime_path()
    ended = threading.Event()

    def remove_it() -> None:
        while not ended.wait(0.0002):
            far_home.leave_runtime_directory()

    remover = threading.Thread(target=remove_it)
    remover.start()
    try:
        for _ in range(3):
            pid = start(far_home)
            assert folder.is_dir()
            os.kill(pid, signal.SIGTERM)
            assert wait_until_gone(far_home, SERVICE, deadline())
    finally:
        ended.set()
        remover.join(SECONDS)


def test_starting_leaves_no_zombie(home: Home) -> None:
    start(home)

    assert [each for each in psutil.Process().children() if each.status() == "zombie"] == []


def test_a_stop_may_be_asked_for_at_any_instant() -> None:
    control = Control(Activity(()), busy=lambda: False)
    handler = signal.signal(signal.SIGALRM, lambda *_: control.request_stop())
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
    try:
        seen = sum(control.wait(0.001) for _ in range(2_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)

    assert seen


def test_no_wait_is_for_ever_however_short_it_was_to_be() -> None:
    activity = Activity(())

    seen = [Control(activity, busy=lambda: False).wait(1e-9) for _ in range(10_000)]

    assert not any(seen)


def test_work_that_begins_at_the_last_moment_puts_off_the_end(home: Home) -> None:
    home.create()
    socket = home.root / "a socket"
    socket.touch()
    looks = 0

    def busy() -> bool:
        nonlocal looks
        looks += 1
        if looks > 2:
            control.request_stop()
        return looks > 1  # idle at the first look, at work once the start lock is taken

    control = Control(Activity(()), busy)
    options = DaemonOptions(
        home=home, service=SERVICE, domain="graft.test", idle_minutes=1e-9, ready_fd=None
    )

    reason, start_lock = daemon._wait(options, control, socket, socket.stat().st_ino)

    assert (reason, start_lock, looks) == ("asked to", None, 3)
    assert holder_of(home.start_lock(SERVICE)) is None


def test_a_stopped_daemon_is_unavailable_not_silent(home: Home) -> None:
    pid = start(home)
    channel = open_channel(home.socket(SERVICE))
    assert is_serving(channel, "", SECONDS)

    os.kill(pid, signal.SIGTERM)
    assert wait_until_gone(home, SERVICE, deadline())

    assert not is_serving(channel, "", SECONDS)
    channel.close()


def test_a_lock_tells_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    lock = FileLock(path)

    before = holder_of(path)
    assert lock.try_acquire()
    during = holder_of(path)
    second = FileLock(path).try_acquire()
    lock.release()

    assert (before, during, second, holder_of(path)) == (None, os.getpid(), False, None)


def test_nobody_holds_a_lock_below_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert holder_of(tmp_path / "file" / "x.lock") is None
    assert holder_of(tmp_path / "x.lock") is None


def test_those_who_ask_for_the_holder_at_once_do_not_find_each_other(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    lock = FileLock(path)
    assert lock.try_acquire()
    lock.release()
    found: list[int | None] = []
    asking = [
        threading.Thread(target=lambda: found.extend(holder_of(path) for _ in range(2_000)))
        for _ in range(4)
    ]

    for each in asking:
        each.start()
    for each in asking:
        each.join(SECONDS)

    assert found == [None] * 8_000


def test_a_start_removes_what_a_killed_one_left_and_nothing_of_another_service(home: Home) -> None:
    home.create()
    folder = home.runtime_directory()
    left, others = folder / f"{SERVICE}.4711", folder / f"{SERVICE}.1.sock"
    left.touch()
    others.touch()

    start(home)

    assert not left.exists()
    assert others.exists()


def test_a_daemon_gets_no_secret_and_nothing_of_one_call() -> None:
    environ = {"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "s", "GRAFT_SESSION": "x", "LC_ALL": "C"}

    kept = daemon_environment({**environ, "GRAFT_THREADS": "2", "GRAFT_DB_KEY": "k"})

    assert kept == {"PATH": "/bin", "LC_ALL": "C", "GRAFT_THREADS": "2", "GRAFT_DB_KEY": "k"}


def test_health_of_nobody_is_not_serving(tmp_path: Path) -> None:
    with open_channel(tmp_path / "none.sock") as channel:
        assert isinstance(channel, grpc.Channel)
        assert not is_serving(channel, "", 1)


def test_a_full_disk_is_named_where_the_log_cannot_say_it(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.log(SERVICE).write_text("Traceback (most recent", "utf-8")

    full = why_it_ended(home, SERVICE, 0, free_bytes=4_096)
    roomy = why_it_ended(home, SERVICE, 0, free_bytes=1 << 30)

    assert full == f"tiny cannot start: no room left on the disk of {tmp_path}; free some"
    assert "ended at once: Traceback" in roomy


def test_why_it_ended_is_read_out_of_a_log_for_programs_as_well(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    lines = ('{"event": "started"}', '{"event": "refused to start", "problem": "no such model"}')
    home.log(SERVICE).write_text("\n".join(lines), "utf-8")

    assert "ended at once: no such model (all" in why_it_ended(home, SERVICE, 0, 1 << 30)


@pytest.mark.parametrize("line", ['{"event": "bug"}', '["problem"]', '{"problem": 7}'])
def test_a_line_that_names_no_problem_is_told_as_it_is(tmp_path: Path, line: str) -> None:
    home = Home(root=tmp_path)
    home.log(SERVICE).write_text(line, "utf-8")

    assert f"ended at once: {line} (all" in why_it_ended(home, SERVICE, 0, 1 << 30)
