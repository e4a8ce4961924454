"""What a service says of itself: events with their fields, and never the text of a note."""

import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from copy import copy
from types import TracebackType

from typing_extensions import override

EVENT_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"

CHAIN_MAX = 8
"""Exceptions of one chain that are told."""


log = logging.getLogger(__name__)


class EventFormatter(logging.Formatter):
    """Writes events, and of an exception where it was raised and what it is.

    What it says is left out: a library may quote what it was given, and that may be a note.
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Write *record*; how another formatter wrote its exception does not count."""
        own = copy(record)
        own.exc_text = None
        return super().format(own)

    @override
    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return places and kinds of an exception and of those that led to it, the first first."""
        told = []
        for error in reversed(list(_chain(ei[1]))):
            told += [*traceback.format_tb(error.__traceback__), _kind(error)]
        return "".join(f"{each.rstrip()}\n" for each in told).rstrip()


def start_logging(level: str) -> None:
    """Log the events of this process from *level* on to its standard error.

    An exception that ends a thread, or that nobody can be told of, is an event as well.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EventFormatter(EVENT_FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    # Otherwise an event that cannot be written is told with its arguments and all that led to it.
    logging.raiseExceptions = False
    threading.excepthook = _log_end_of_thread
    sys.unraisablehook = _log_unraisable


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    name = "" if ended.thread is None else ended.thread.name
    log.error("bug thread=%s", name, exc_info=ended.exc_value)


def _log_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    log.error("bug thread=%s", threading.current_thread().name, exc_info=unraisable.exc_value)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(CHAIN_MAX):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _kind(error: BaseException) -> str:
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"{name}: {os.strerror(error.errno)}"  # the system's words, not a caller's
    return name
