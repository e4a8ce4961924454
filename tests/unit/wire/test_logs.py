"""A service's log stays small while the service runs, and nothing that it writes is lost."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.wire.test_launch import SERVICE, deadline, start

from graft.wire.launch import kill_service, wait_until_gone
from graft.wire.logs import keep_log_small, open_log
from graft.wire.paths import Home

LINES = 4_000
BYTES_MAX = 10_000


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A log and the descriptor that writes to it."""
    path = tmp_path / "tiny.log"
    descriptor = open_log(path)
    yield path, descriptor
    os.close(descriptor)


def test_a_large_log_is_put_aside_in_the_place_of_the_one_before(log: tuple[Path, int]) -> None:
    path, descriptor = log
    for text in (b"first" * 4, b"second" * 4, b"third"):
        os.write(descriptor, text)
        keep_log_small(path, 10, [descriptor])

    assert path.read_text() == "third"
    assert path.with_suffix(".log.1").read_text() == "second" * 4
    assert sorted(each.name for each in path.parent.iterdir()) == ["tiny.log", "tiny.log.1"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_small_log_stays(log: tuple[Path, int]) -> None:
    path, descriptor = log
    os.write(descriptor, b"0123456789")

    keep_log_small(path, 10, [descriptor])

    assert [each.name for each in path.parent.iterdir()] == ["tiny.log"]


def test_what_is_no_log_of_ours_is_left_alone(log: tuple[Path, int], tmp_path: Path) -> None:
    path, descriptor = log
    os.write(descriptor, b"large enough")
    with (tmp_path / "terminal").open("wb") as terminal:
        keep_log_small(path, 10, [terminal.fileno()])

    assert path.read_bytes() == b"large enough"


def test_a_log_that_somebody_else_put_aside_is_written_to_no_more(log: tuple[Path, int]) -> None:
    path, descriptor = log
    os.write(descriptor, b"before")
    path.replace(path.with_suffix(".log.1"))

    keep_log_small(path, 10, [descriptor])
    os.write(descriptor, b"after")

    assert path.read_bytes() == b"after"
    assert path.with_suffix(".log.1").read_bytes() == b"before"


def test_where_no_new_one_can_be_made_the_old_one_is_written_to(log: tuple[Path, int]) -> None:
    path, descriptor = log
    os.write(descriptor, b"large enough")
    path.with_suffix(".log.fresh").mkdir()

    with pytest.raises(OSError, match="Is a directory"):
        keep_log_small(path, 10, [descriptor])
    os.write(descriptor, b", still")

    assert path.read_bytes() == b"large enough, still"


def test_a_service_that_talks_all_the_time_has_a_small_log(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home")
    path = home.log(SERVICE)
    pause = threading.Event()
    start(home, "--chatter", str(LINES), "--log-bytes-max", str(BYTES_MAX))
    try:
        end = deadline()
        while f"native line {LINES - 1}" not in kept_lines(path) or size(path) > BYTES_MAX:
            assert time.monotonic() < end, "the service goes on talking, or its log stays large"
            pause.wait(0.05)
    finally:
        kill_service(home, SERVICE)
        assert wait_until_gone(home, SERVICE, deadline())

    numbers = [int(line.split()[1]) for line in kept_lines(path) if line.startswith("line ")]
    assert numbers == list(range(numbers[0], LINES))
    assert numbers[0] > 0


def kept_lines(path: Path) -> list[str]:
    """Return the lines of both logs; none of one that is being put in its place."""
    both = [path.with_suffix(".log.1"), path]
    return [line for each in both for line in read(each).splitlines()]


def size(path: Path) -> int:
    return len(read(path))


def read(path: Path) -> str:
    with suppress(FileNotFoundError):
        return path.read_text()
    return ""
