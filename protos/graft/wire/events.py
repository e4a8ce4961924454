"""What a service says of itself: events with their fields, and never the text of a note.

An event is logged with ``log.info(event("refused", method=method, reason=reason))``: as text it is
one line of words and ``key=value`` parts, as JSON one object a line with the same fields.
"""

import json
import logging
import math
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType

from typing_extensions import override

from graft.wire.call_ids import current_call

EVENT_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"

TEXT, JSON = "text", "json"
LOG_FORMATS = (TEXT, JSON)

CHAIN_MAX = 8
"""Exceptions of one chain that are told."""

RESERVED = frozenset({"time", "level", "logger", "event", "message", "exception", "call"})
"""What a JSON line has besides the fields of its event."""

FieldValue = str | int | float | bool | None

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened, as the message of a log record.

    Attributes:
        name: what happened, in words that are the same each time.
        fields: the rest; values of other types are told by what `str` makes of them.
    """

    name: str
    fields: Mapping[str, object]

    @override
    def __str__(self) -> str:
        """Write it for people."""
        return " ".join((self.name, *(f"{key}={value}" for key, value in self.fields.items())))


def event(name: str, /, **fields: object) -> Event:
    """Build the message of a log record; *fields* may have no name that is `RESERVED`."""
    assert RESERVED.isdisjoint(fields), f"{name}: a field has a name of the line's own"
    return Event(name=name, fields=fields)


class EventFormatter(logging.Formatter):
    """Writes events, and of an exception where it was raised and what it is.

    What it says is left out: a library may quote what it was given, and that may be a note.
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Write *record*; how another formatter wrote its exception does not count."""
        own = copy(record)
        own.exc_text = None
        call = current_call()
        if call:
            own.msg, own.args = f"{own.getMessage()} call={call}", ()
        return super().format(own)

    @override
    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return places and kinds of an exception and of those that led to it, the first first."""
        told = []
        for error in _chain(ei[1]):
            told += [*traceback.format_tb(error.__traceback__), _kind(error)]
        return "".join(f"{each.rstrip()}\n" for each in told).rstrip()


class JsonFormatter(logging.Formatter):
    """Writes each event as one JSON object on one line, for programs.

    Its keys are time (RFC 3339, UTC), level, logger, event and the event's fields; call, where it
    happened while one was answered; of an exception the kinds and places, the first first. What is
    no event of ours, a library's warning say, is the event "message" with its text under message.
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Write *record*; the line is ASCII, whatever the locale is."""
        line: dict[str, object] = {
            "time": _rfc_3339(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if isinstance(record.msg, Event):
            line["event"] = record.msg.name
            line |= {key: _plain(value) for key, value in record.msg.fields.items()}
        else:
            line |= {"event": "message", "message": record.getMessage()}
        call = current_call()
        if call:
            line["call"] = call
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = [
                {"kind": _kind(error), "at": _places(error)} for error in _chain(record.exc_info[1])
            ]
        return json.dumps(line)


def start_logging(level: str, log_format: str = TEXT) -> None:
    """Log the events of this process from *level* on to its standard error.

    Called again it changes both. An exception that ends a thread, or that nobody can be told of,
    is an event as well.

    Args:
        level: least level that is logged.
        log_format: `TEXT` or `JSON`; with JSON an exception that ends the process and Python's
            warnings are events too, so that every line is JSON.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == JSON else EventFormatter(EVENT_FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Otherwise an event that cannot be written is told with its arguments and all that led to it.
    logging.raiseExceptions = False
    threading.excepthook = _log_end_of_thread
    sys.unraisablehook = _log_unraisable
    sys.excepthook = _log_end_of_process if log_format == JSON else sys.__excepthook__
    logging.captureWarnings(capture=log_format == JSON)


def tell_refusal(problem: str, log_format: str) -> None:
    """Say on the standard error of a service that cannot start why it cannot."""
    if log_format == JSON:
        start_logging("info", JSON)
        log.error(event("refused to start", problem=problem))
    else:
        print(problem, file=sys.stderr, flush=True)  # noqa: T201 - errors go to stderr


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    name = "" if ended.thread is None else ended.thread.name
    log.error(event("bug", thread=name), exc_info=ended.exc_value)


def _log_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    name = threading.current_thread().name
    log.error(event("bug", thread=name), exc_info=unraisable.exc_value)


def _log_end_of_process(
    _: type[BaseException], error: BaseException, __: TracebackType | None
) -> None:
    log.critical(event("bug", thread=threading.current_thread().name), exc_info=error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Give an exception and those that led to it, the first first."""
    chain: list[BaseException] = []
    while error is not None and len(chain) < CHAIN_MAX:
        chain.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return reversed(chain)


def _kind(error: BaseException) -> str:
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"{name}: {os.strerror(error.errno)}"  # the system's words, not a caller's
    return name


def _places(error: BaseException) -> list[str]:
    return [
        f"{frame.filename}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]


def _plain(value: object) -> FieldValue:
    """Return *value* as JSON has it; what is not finite is a text, for JSON has no such number."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _rfc_3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
