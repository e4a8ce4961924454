"""The id of the call that a thread works at: the same in the log of every service on its way."""

import os
import re
from collections.abc import Iterable
from contextvars import ContextVar

CALL_KEY = "graft-call"
"""Metadata that carries it: from whoever called first, if that gave one, to the embedder."""

CALL_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")
"""What an id may be; what is not, is replaced, for it goes into a log."""

RANDOM_BYTES = 8

_current: ContextVar[str] = ContextVar("call", default="")
_carried: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("carried", default=())


def current_call() -> str:
    """Return the id of the call that this thread works at; empty where it works at none."""
    return _current.get()


def begin_call(pairs: Iterable[tuple[str, str | bytes]]) -> str:
    """Take the id that a call's metadata *pairs* bring, or make one; return it."""
    told = [value for key, value in pairs if key == CALL_KEY]
    first = told[0] if told else ""
    if not isinstance(first, str) or not CALL_ID.fullmatch(first):
        first = os.urandom(RANDOM_BYTES).hex()
    _current.set(first)
    return first


def end_call() -> None:
    """Work at no call any more."""
    _current.set("")


def call_pairs() -> tuple[tuple[str, str], ...]:
    """Return the metadata that a call made on the way of the present one carries."""
    call = _current.get()
    return (((CALL_KEY, call),) if call else ()) + _carried.get()


def carry(pairs: tuple[tuple[str, str], ...]) -> None:
    """Have calls on the way of the present one carry *pairs* as well."""
    _carried.set(pairs)
