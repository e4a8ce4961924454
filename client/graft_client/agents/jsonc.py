"""Reads JSON with comments and trailing commas, and keeps the place of everything in the text."""

import json
import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, Literal, NoReturn, cast

from graft_client.limits import AGENT_FILE_DEPTH_MAX

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<comment>//[^\r\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\x00-\x1f]++|\\.)*+")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])
    |(?P<word>true|false|null)(?!\w)
    |(?P<mark>[{}\[\],:])""",
    re.DOTALL | re.VERBOSE,
)
_CLOSING = {"object": "}", "array": "]"}


class SyntaxProblem(ValueError):  # noqa: N818 - what is wrong with a file, not with a program
    """A text cannot be read; *line* and *column* count from 1."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {what}")


@dataclass(slots=True, kw_only=True)
class Item:
    """A member of an object, or an element of an array, whose *key* is None."""

    key: str | None
    start: int
    value: "Node"
    comma: int | None = None
    """Offset of the comma after it."""


@dataclass(slots=True, kw_only=True)
class Node:
    """One value, from *start* to before *end*; of an object's equal keys the last one counts."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int = 0
    value: Any  # what json.loads would give
    items: list[Item] = field(default_factory=list)

    def item(self, key: str | int) -> Item | None:
        """Find a member by its key, or an element by its index."""
        if isinstance(key, int):
            return self.items[key] if self.kind == "array" and key < len(self.items) else None
        return next((item for item in reversed(self.items) if item.key == key), None)


class _Next(Enum):
    VALUE = auto()
    KEY = auto()
    COLON = auto()
    MORE = auto()
    NOTHING = auto()


_EXPECTED: Final = {
    _Next.VALUE: "a value",
    _Next.KEY: "a name in double quotes",
    _Next.COLON: "a colon",
    _Next.MORE: "a comma or the end of what was opened",
    _Next.NOTHING: "the end of the file",
}


def parse(text: str) -> Node:
    """Read *text*.

    Raises:
        SyntaxProblem: it is no JSON, comments and trailing commas apart.
    """
    reader = _Reader(text)
    offset = 0
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            reader.refuse(offset)
        reader.take(found)
        offset = found.end()
    return reader.finish()


class _Reader:
    """Builds the value from tokens, one after the other; what is open lies on a stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root: Node | None = None
        self._open: list[Node] = []
        self._next = _Next.VALUE
        self._key: tuple[str, int] | None = None

    def take(self, token: "re.Match[str]") -> None:
        """Take the next token."""
        kind, text, at = token.lastgroup, token.group(), token.start()
        if kind in {"space", "comment"}:
            return
        if kind == "mark":
            self._mark(text, at)
        elif kind == "string" and self._next is _Next.KEY:
            self._key = (str(self._loads(text, at)), at)
            self._next = _Next.COLON
        elif self._next is _Next.VALUE:
            self._add(Node(kind="scalar", start=at, end=token.end(), value=self._loads(text, at)))
            self._next = _Next.MORE if self._open else _Next.NOTHING
        else:
            self.refuse(at)

    def finish(self) -> Node:
        """Return the whole value once there are no more tokens."""
        if self._root is None or self._open:
            self.refuse(len(self._text))
        return self._root

    def refuse(self, at: int, what: str = "") -> NoReturn:
        """Say what should stand at an offset."""
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        raise SyntaxProblem(what or f"expected {_EXPECTED[self._next]}", line, column)

    def _loads(self, text: str, at: int) -> object:
        try:
            return cast("object", json.loads(text))
        except ValueError as error:
            self.refuse(at, f"{error}")

    def _mark(self, mark: str, at: int) -> None:
        if mark in "{[" and self._next is _Next.VALUE:
            self._enter(mark, at)
        elif mark in "}]" and self._open and mark == _CLOSING[self._open[-1].kind]:
            self._leave(at)
        elif mark == ":" and self._next is _Next.COLON:
            self._next = _Next.VALUE
        elif mark == "," and self._next is _Next.MORE:
            self._open[-1].items[-1].comma = at
            self._next = _Next.KEY if self._open[-1].kind == "object" else _Next.VALUE
        else:
            self.refuse(at)

    def _enter(self, mark: str, at: int) -> None:
        if len(self._open) >= AGENT_FILE_DEPTH_MAX:
            self.refuse(at, f"more than {AGENT_FILE_DEPTH_MAX} values within one another")
        node = (
            Node(kind="object", start=at, value={})
            if mark == "{"
            else Node(kind="array", start=at, value=[])
        )
        self._add(node)
        self._open.append(node)
        self._next = _Next.KEY if mark == "{" else _Next.VALUE

    def _leave(self, at: int) -> None:
        # A value must follow a colon; after a comma the end may come, that comma was the last.
        if self._next is _Next.COLON or (self._next is _Next.VALUE and self._key is not None):
            self.refuse(at)
        self._open.pop().end = at + 1
        self._next = _Next.MORE if self._open else _Next.NOTHING

    def _add(self, node: Node) -> None:
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        if parent.kind == "array":
            parent.items.append(Item(key=None, start=node.start, value=node))
            parent.value.append(node.value)
            return
        assert self._key is not None, "a value in an object follows its name"
        key, start = self._key
        self._key = None
        parent.items.append(Item(key=key, start=start, value=node))
        parent.value[key] = node.value
