import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.wire.errors import BadFieldError

GRAFT = Path(sys.executable).with_name("graft")
ID = "0193a7a0" + "0" * 16 + "89abcdef"


def test_what_is_read_is_bounded_and_the_limit_is_named(command: Command, place: Path) -> None:
    (place / "big").write_bytes(b"x" * ((1 << 20) + 1))

    body = command("insert", "--title", "t", "--body-file", str(place / "big"), "--json")
    question = command("query", "-", "--json", stdin=b"x" * ((64 << 10) + 1))

    assert (body.code, question.code) == (1, 1)
    assert body.error()["reason"] == "BAD_FIELD"
    assert "1 MiB" in body.error()["message"]
    assert "64 KiB" in question.error()["message"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["insert"], "title"),
        (["insert", "--title", "t", "--body", "b", "--body-file", "f"], "both"),
        (["insert", "--title", "t", "--all-scopes"], "--scope"),
        (["insert", "--title", "t", "--source", "nothing"], "KIND:LOCATOR"),
        (["insert", "--title", "t", "--valid-from", "2026-01-01T00:00:00"], "offset"),
        (["insert", "--title", "caf\udce9"], "Unicode"),
        (["insert", "--title", "t", "--body-file", "/nowhere/x"], "cannot be read"),
        (["query", "x", "--scope", "a", "--all-scopes"], "both"),
        (["query", "x", "--timeout", "0"], "timeout"),
        (["query"], "TEXT"),
        (["retrieve", "x", "--top-k", "257"], "top-k"),
        (["delete", ID], "reason"),
        (["list", "--state", "gone"], "state"),
        (["unknown"], "unknown"),
    ],
)
def test_wrong_usage_ends_with_2_and_an_object_on_stderr(
    command: Command, memstore: FakeState, arguments: list[str], words: str
) -> None:
    done = command(*arguments, "--json")

    assert (done.code, done.out) == (2, "")
    assert done.error()["reason"] == "USAGE"
    assert words in done.error()["message"]
    assert memstore.received == []


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("insert --title x --body-file - --valid-from now <&-", 2, "'now' is no time"),
        ("insert --jsonl - <&-", 0, ""),
        ("config path >&-", 1, "stdout cannot be written"),
        ("config path 2>&-", 0, ""),
        ("nothing 2>&-", 2, ""),
        ("config path <&- >&- 2>&-", 1, ""),
    ],
)
def test_streams_that_the_caller_closed_are_no_bug(
    home: Path, arguments: str, code: int, told: str
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" --home "$1" {arguments}', str(GRAFT), str(home)],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_talk_to_a_pipe_that_nobody_reads_is_no_failure(home: Path, place: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [GRAFT, "nothing", "--home", home], cwd=place, stderr=writing, env={}, check=False
    )
    os.close(writing)

    assert done.returncode == 2


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let commands be interrupted also where the tests run in the background, as ``make test &``.

    A shell starts those with SIGINT ignored, and a process hands that on to its children.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_is_told_as_the_caller_wants_it(
    home: Path, place: Path, memstore: FakeState
) -> None:
    process = subprocess.Popen(
        [GRAFT, "stop", "--json", "--home", home],
        cwd=place,
        env={},
        stderr=subprocess.PIPE,
        text=True,
    )
    memstore.on_stop = lambda: process.send_signal(signal.SIGINT)

    _, told = process.communicate()

    assert process.returncode == 130
    assert json.loads(told)["reason"] == "INTERRUPTED"


def test_bytes_that_are_no_text_are_refused(command: Command) -> None:
    body = command("insert", "--title", "x", "--body-file", "-", "--json", stdin=b"\xff\xfe")

    assert body.code == 2
    assert "UTF-8" in body.error()["message"]


def test_a_refusal_ends_with_1_and_its_reason(command: Command, memstore: FakeState) -> None:
    memstore.failures += [BadFieldError("title", "longer than 1,024 characters")] * 2

    as_json = command("insert", "--title", "t", "--json")
    for_people = command("insert", "--title", "t")

    assert as_json.code == 1
    assert as_json.error() == {
        "reason": "BAD_FIELD",
        "message": "title: longer than 1,024 characters",
        "details": {"field:title": "longer than 1,024 characters"},
    }
    assert for_people.err == "graft: title: longer than 1,024 characters\n"


def test_nobody_ends_with_3(command: Command) -> None:
    done = command("query", "x", "--json", "--timeout", "5")

    assert done.code == 3
    assert done.error()["reason"] == "NOBODY_ANSWERED"


def test_a_bug_of_the_service_shows_no_word_of_the_transport(
    command: Command, memstore: FakeState
) -> None:
    memstore.failures.append(grpc.StatusCode.INTERNAL)

    done = command("stats")

    assert done.code == 1
    assert "transport" not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("timeout_seconds = 'soon'", "is 'soon'; it must be a number above 0"),
        ("gpu_layers = 'many'", "is 'many'; it must be auto, or a whole number"),
        ("model = 'no such model'", "is 'no such model'; it must be empty, or 1 to 40"),
        ("profile = 'a b'", "is 'a b'; it must be a letter or digit"),
        ("profile = 7", "is 7; it must be in quotes"),
    ],
)
def test_a_broken_setting_ends_with_2(
    command: Command, home: Path, content: str, told: str
) -> None:
    (home / "config.toml").write_text(content)

    done = command("stats", "--json")
    check = command("config", "check", "--json")

    assert (done.code, check.code) == (2, 2)
    assert done.error()["reason"] == "BAD_SETTING"
    assert f"from {home / 'config.toml'}) {told}" in check.error()["message"]


@pytest.mark.parametrize("reader", ["gone", "full"])
def test_output_that_nobody_takes_is_no_traceback(
    memstore: FakeState, home: Path, reader: str
) -> None:
    assert memstore.received == []
    receiver, sender = os.pipe()
    os.close(receiver)
    full = os.open("/dev/full", os.O_WRONLY)
    command = [str(GRAFT), "query", "x", "--home", str(home)]

    done = subprocess.run(
        command,
        stdout=sender if reader == "gone" else full,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    os.close(sender)
    os.close(full)
    assert (done.returncode, done.stderr) == (
        (141, "")
        if reader == "gone"
        else (1, "graft: stdout cannot be written: No space left on device\n")
    )
