"""Reads what an agent gives a tool, leniently where agents err, and refuses what cannot be meant.

A list may come as JSON text or as its only element, a number or a flag as text.
"""

import json
import math
from collections.abc import Collection, Mapping
from typing import Any

from graft_client.errors import InputError

_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no", ""})


class Arguments:
    """The arguments of one call, read by their names.

    Raises:
        InputError: there is one that the tool does not know.
    """

    def __init__(self, given: Mapping[str, Any] | None, known: Collection[str]) -> None:
        self._given = {name: value for name, value in (given or {}).items() if value is not None}
        unknown = sorted(self._given.keys() - set(known))
        if unknown:
            raise InputError(
                f"unknown arguments: {', '.join(unknown)}; known: {', '.join(sorted(known))}"
            )

    def has(self, name: str) -> bool:
        """Tell whether an argument is given."""
        return name in self._given

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; *default* where it is not given, or None to require it.

        Raises:
            InputError: it is missing, or none.
        """
        value = self._given.get(name, default)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if value is None:
            raise InputError(f"{name} is missing; it is a text")
        raise InputError(f"{name} is {_kind(value)}; give a text")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty where it is not given.

        Raises:
            InputError: it holds something else.
        """
        value = self._given.get(name, ())
        if isinstance(value, str):
            value = _from_json_list(value)
        if not isinstance(value, (list, tuple)):
            raise InputError(f"{name} is {_kind(value)}; give a list of texts")
        for each in value:
            if not isinstance(each, str):
                raise InputError(f"{name} holds {_kind(each)}; give a list of texts")
        return tuple(value)

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 0 to *most*.

        Raises:
            InputError: it is another one, or none.
        """
        value = self._given.get(name, default)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise InputError(f"{name} is {value[:40]!r}; give a whole number") from None
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"{name} is {_kind(value)}; give a whole number")
        if not 0 <= value <= most:
            raise InputError(f"{name} is {value}; give 0 to {most:,}")
        return value

    def flag(self, name: str) -> bool:
        """Return a flag; False where it is not given.

        Raises:
            InputError: it is none.
        """
        value = self._given.get(name, False)
        if isinstance(value, bool):
            return value
        word = str(value).lower() if isinstance(value, (str, int)) else "?"
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise InputError(f"{name} is {_kind(value)}; give true or false")

    def choice(self, name: str, words: Collection[str], default: str | None = None) -> str:
        """Return one of *words*.

        Raises:
            InputError: it is none of them.
        """
        word = self.text(name, default)
        if word not in words:
            raise InputError(f"{name} is {word[:40]!r}; give one of {', '.join(words)}")
        return word


def _from_json_list(value: str) -> object:
    """Read a list that came as JSON; any other text is its only element."""
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return [value]
    return [value] if value else []


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    names |= {list: "a list", dict: "an object", type(None): "nothing"}
    return names.get(type(value), "something else")
