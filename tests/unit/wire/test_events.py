"""What a service logs names events, places and kinds, and quotes nothing."""

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from graft.wire.call_ids import CALL_KEY, begin_call, call_pairs, end_call
from graft.wire.errors import BadFieldError
from graft.wire.events import (
    CHAIN_MAX,
    EVENT_FORMAT,
    JSON,
    RESERVED,
    TEXT,
    EventFormatter,
    JsonFormatter,
    event,
)
from graft.wire.server import Activity, build_server

NOTE = "the words of a note that nobody else may read"
SECONDS = 20.0


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that is logged while the test runs, as a service would write it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(EventFormatter(EVENT_FORMAT))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Read what is logged while the test runs as a service would write it for programs."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("json")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False  # what is no text cannot be told by a test that runs beside others
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.propagate = True
    logger.removeHandler(handler)


def fail() -> None:
    raise KeyError(NOTE)


def test_of_an_exception_the_place_and_the_kind_are_told_and_no_word_of_it(
    log: io.StringIO,
) -> None:
    try:
        try:
            fail()
        except KeyError as error:
            raise ValueError(f"cannot store {NOTE}") from error
    except ValueError:
        logging.getLogger("test").exception("bug method=%s", "Insert")

    told = log.getvalue()
    assert "ERROR test bug method=Insert" in told
    assert "test_events.py" in told
    assert told.index("in fail") < told.index("builtins.KeyError") < told.index("ValueError")
    assert NOTE not in told


def test_what_led_to_an_exception_without_being_its_cause_is_told_as_well(
    log: io.StringIO,
) -> None:
    try:
        try:
            fail()
        except KeyError:
            int("no number")
    except ValueError:
        logging.getLogger("test").exception("bug")

    assert "builtins.KeyError" in log.getvalue()
    assert "builtins.ValueError" in log.getvalue()
    assert NOTE not in log.getvalue()


def test_the_system_s_own_words_are_told(log: io.StringIO) -> None:
    logging.getLogger("test").error("bug", exc_info=OSError(28, NOTE))

    assert "builtins.OSError: No space left on device" in log.getvalue()
    assert NOTE not in log.getvalue()


def test_a_chain_that_has_no_end_is_cut(log: io.StringIO) -> None:
    error = ValueError(NOTE)
    error.__context__ = KeyError(NOTE)
    error.__context__.__context__ = error

    logging.getLogger("test").error("bug", exc_info=error)

    assert log.getvalue().count("builtins.") == CHAIN_MAX


def test_a_bug_and_a_refusal_of_a_call_are_events_without_what_the_call_held(
    log: io.StringIO,
) -> None:
    def handle(request: bytes, _: grpc.ServicerContext) -> bytes:
        if request == b"refuse":
            raise BadFieldError("title", NOTE)
        raise RuntimeError(f"{NOTE}: {request!r}")

    server = build_server("graft.test", Activity(()))
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(handle)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("graft.test.Store", {"Insert": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            "/graft.test.Store/Insert"
        )
        with pytest.raises(grpc.RpcError):
            method(b"refuse", timeout=SECONDS)
        with pytest.raises(grpc.RpcError) as raised:
            method(NOTE.encode(), timeout=SECONDS, metadata=((CALL_KEY, "mine.1"),))
        with pytest.raises(grpc.RpcError) as nameless:
            method(NOTE.encode(), timeout=SECONDS, metadata=((CALL_KEY, "two words"),))
    server.stop(None).wait()

    told = log.getvalue()
    assert "refused method=/graft.test.Store/Insert reason=BadFieldError" in told
    assert "bug method=/graft.test.Store/Insert" in told
    assert "builtins.RuntimeError" in told
    assert NOTE not in told
    assert NOTE not in str(raised.value)
    assert "under call=mine.1" in str(raised.value)
    assert "bug method=/graft.test.Store/Insert call=mine.1" in told
    made = re.search(r"under call=([0-9a-f]{16})", str(nameless.value))
    assert made is not None
    assert f"bug method=/graft.test.Store/Insert call={made[1]}" in told


def test_an_event_is_words_and_fields_for_people(log: io.StringIO) -> None:
    logging.getLogger("test").info(event("upkeep waits", profile="work", because="no model"))

    assert log.getvalue().rstrip().endswith("INFO test upkeep waits profile=work because=no model")


def test_an_event_is_one_object_with_its_fields_for_programs(
    lines: Callable[[], list[dict[str, Any]]],
) -> None:
    before = datetime.now(UTC)
    logging.getLogger("json").warning(
        event("slow", method="/a/B", ms=2_001, share=0.5, odd=float("nan"), who=None, at=ValueError)
    )

    [line] = lines()
    time = line.pop("time")
    assert time.endswith("Z")
    assert abs(datetime.fromisoformat(time) - before).total_seconds() < 60
    assert line == {
        "level": "warning",
        "logger": "json",
        "event": "slow",
        "method": "/a/B",
        "ms": 2_001,
        "share": 0.5,
        "odd": "nan",
        "who": None,
        "at": "<class 'ValueError'>",
    }


def test_no_field_breaks_its_line(lines: Callable[[], list[dict[str, Any]]]) -> None:
    awkward = 'a "quoted"\nline\u2028, \udcff and \x00'

    logging.getLogger("json").info(event("said", text=awkward))

    assert [line["text"] for line in lines()] == [awkward]


def test_what_is_no_event_of_ours_is_a_message(
    lines: Callable[[], list[dict[str, Any]]],
) -> None:
    logging.getLogger("json").info("%d of %d", 1, 2)

    assert [(line["event"], line["message"]) for line in lines()] == [("message", "1 of 2")]


def test_of_an_exception_programs_are_told_places_and_kinds_and_no_word_of_it(
    lines: Callable[[], list[dict[str, Any]]],
) -> None:
    try:
        try:
            fail()
        except KeyError as error:
            raise OSError(28, NOTE) from error
    except OSError:
        logging.getLogger("json").exception(event("bug", method="Insert"))

    [line] = lines()
    first, last = line["exception"]
    assert (line["event"], line["method"]) == ("bug", "Insert")
    assert first["kind"] == "builtins.KeyError"
    assert last["kind"] == "builtins.OSError: No space left on device"
    assert first["at"][-1].endswith(" in fail")
    assert "test_events.py:" in first["at"][-1]
    assert NOTE not in json.dumps(line)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_no_field_has_the_name_of_what_every_line_has(name: str) -> None:
    with pytest.raises(AssertionError, match="line's own"):
        event("x", **{name: "y"})


# It is given the note as an argument, because newer Pythons quote the lines of such a script.
SPILL = """
import logging, sys, threading, warnings
from graft.wire.events import start_logging

note = sys.argv[2]

class Leaky:
    def __del__(self):
        raise ValueError(note)

def fail():
    raise KeyError(note)

if sys.argv[1] != "python's own":
    start_logging("debug", sys.argv[1])
thread = threading.Thread(target=fail, name="failing")
thread.start()
thread.join()
Leaky()
logging.getLogger("test").error("%d is no number", note)
warnings.warn("an old name is used")
if sys.argv[1] == "json":
    fail()
"""


def spill(log_format: str) -> str:
    """Return what a process says in which nobody catches what fails."""
    done = subprocess.run(
        [sys.executable, "-c", SPILL, log_format, NOTE],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=log_format != JSON,
    )
    return done.stderr


def test_what_nobody_catches_is_an_event_and_quotes_nothing() -> None:
    told, told_by_python = spill(TEXT), spill("python's own")

    assert told_by_python.count(NOTE) >= 3
    assert "bug thread=failing" in told
    assert "builtins.KeyError" in told
    assert "bug thread=MainThread" in told
    assert "builtins.ValueError" in told
    assert NOTE not in told


def test_every_line_of_a_process_is_json_whatever_ends_it() -> None:
    told = spill(JSON)

    lines = [json.loads(line) for line in told.splitlines()]
    bugs = [(each["thread"], each["exception"][-1]["kind"]) for each in lines if "thread" in each]
    assert bugs == [
        ("failing", "builtins.KeyError"),
        ("MainThread", "builtins.ValueError"),
        ("MainThread", "builtins.KeyError"),
    ]
    assert lines[-1]["level"] == "critical"
    assert any("an old name is used" in each.get("message", "") for each in lines)
    assert NOTE not in told


def test_what_is_logged_while_a_call_is_answered_names_it_and_nothing_after(
    lines: Callable[[], list[dict[str, Any]]],
) -> None:
    begin_call([(CALL_KEY, "theirs-7")])
    logging.getLogger("json").info(event("during"))
    on_its_way = call_pairs()
    end_call()
    logging.getLogger("json").info(event("after"))

    during, after = lines()
    assert (during["call"], on_its_way) == ("theirs-7", ((CALL_KEY, "theirs-7"),))
    assert "call" not in after
    assert call_pairs() == ()


@pytest.mark.parametrize("told", ["", "x" * 65, "a b", "a\nb", "é"])
def test_an_id_that_does_not_belong_into_a_log_is_replaced(told: str) -> None:
    try:
        assert re.fullmatch(r"[0-9a-f]{16}", begin_call([(CALL_KEY, told)]))
    finally:
        end_call()
