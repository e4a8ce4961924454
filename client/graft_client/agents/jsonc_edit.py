"""Changes one place of a JSON text and leaves every other byte, comments included, as it was."""

import json
import re
from collections.abc import Sequence

from graft_client.agents.jsonc import Item, Node, SyntaxProblem, parse

DEFAULT_INDENT = "  "

_INDENTED = re.compile(r"\n([ \t]+)\S")
_LINE_END = re.compile(r"[ \t]*(?=\r?\n|$)")
_MARGIN = re.compile(r"[ \t]*")

Path = Sequence[str | int]
"""Names of members and indices of elements, from the outermost value inwards."""


def set_value(text: str, path: Sequence[str], value: object) -> str:
    """Give the member at *path* a value, and make it, and what it lies in, where it is missing.

    Raises:
        SyntaxProblem: the text is no JSON, or *path* leads through something that is no object.
    """
    node = parse(text)
    for depth, key in enumerate(path):
        _need(text, node, "object", path[:depth])
        item = node.item(key)
        if item is None:
            return _inserted(text, node, key, _nested(path[depth + 1 :], value))
        node = item.value
    if node.value == value:
        return text
    shape = _Shape(text)
    written = shape.written(value, shape.margin(node.start), inline=shape.is_inline(node))
    return text[: node.start] + written + text[node.end :]


def append(text: str, path: Sequence[str], value: object) -> str:
    """Add an element to the array at *path*, which is made where it is missing.

    Raises:
        SyntaxProblem: see `set_value`.
    """
    node = find(text, path)
    if node is None:
        return set_value(text, path, [value])
    _need(text, node, "array", path)
    return _inserted(text, node, None, value)


def remove(text: str, path: Path) -> str:
    """Take out the member or the element at *path*; the text as it is where there is none."""
    parent = find(text, path[:-1])
    item = parent.item(path[-1]) if parent is not None else None
    if parent is None or item is None:
        return text
    if len(parent.items) == 1 and not _has_comment(text, parent, item):
        return text[: parent.start + 1] + text[parent.end - 1 :]
    return _cut(text, _spans_of(text, parent, item))


def find(text: str, path: Path) -> Node | None:
    """Find what lies at *path*.

    Raises:
        SyntaxProblem: the text is no JSON.
    """
    node = parse(text)
    for key in path:
        item = node.item(key)
        if item is None:
            return None
        node = item.value
    return node


class _Shape:
    """How a text is laid out: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENTED.search(text)
        self.unit = found[1] if found else DEFAULT_INDENT

    def margin(self, at: int) -> str:
        """Give the white space that the line of an offset begins with."""
        found = _MARGIN.match(self._text, self._text.rfind("\n", 0, at) + 1)
        assert found is not None, "it matches nothing as well"
        return found.group()

    def is_inline(self, node: Node) -> bool:
        """Tell whether a container is written on one line, and is to stay there."""
        if "\n" in self._text[node.start : node.end]:
            return False
        return bool(node.items) or ("\n" not in self._text.strip() and self._text.strip() != "{}")

    def written(self, value: object, margin: str, *, inline: bool) -> str:
        """Write a value whose first line stands at *margin*."""
        if inline:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return f"{self.newline}{margin}".join(lines)


def _inserted(text: str, parent: Node, key: str | None, value: object) -> str:
    """Write a new last item into a container."""
    shape = _Shape(text)
    last = parent.items[-1] if parent.items else None
    inline = shape.is_inline(parent) or (last is not None and _goes_on(text, parent, last))
    outer = shape.margin(parent.start)
    margin = outer + shape.unit
    if last is not None and _begins_its_line(text, last):
        margin = shape.margin(last.start)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    item = name + shape.written(value, margin, inline=inline)

    close = parent.end - 1
    tail = parent.start + 1 + len(text[parent.start + 1 : close].rstrip())
    before, after = text[:tail], text[tail:]
    if last is not None and last.comma is None:
        before = f"{text[: last.value.end]},{text[last.value.end : tail]}"
    elif last is not None:
        item += ","
    if inline:
        return f"{before}{' ' if last is not None else ''}{item}{after}"
    if last is None and "\n" not in text[tail:close]:
        after = shape.newline + outer + after.lstrip(" \t")
    return f"{before}{shape.newline}{margin}{item}{after}"


def _spans_of(text: str, parent: Node, item: Item) -> list[tuple[int, int]]:
    """Tell which parts of the text go with an item: itself, one comma, and its white space."""
    index = parent.items.index(item)
    previous = parent.items[index - 1] if index else None
    spans = [(item.start, item.value.end)]
    end = item.value.end
    if item.comma is not None:
        spans.append((item.comma, item.comma + 1))
        end = item.comma + 1
    elif previous is not None and previous.comma is not None:
        spans.append((previous.comma, previous.comma + 1))

    line = text.rfind("\n", 0, item.start) + 1
    rest = _LINE_END.match(text, end)
    closes = text[end : parent.end - 1].isspace() or end == parent.end - 1
    if line and _begins_its_line(text, item) and (rest is not None or closes):
        # The line break before it goes, with the margin; what comes after it stays.
        spans.append((line - 2 if text[line - 2 : line] == "\r\n" else line - 1, item.start))
        spans.append((end, rest.end() if rest is not None else end))
    elif previous is not None:
        spans.append((item.start - _spaces_before(text, item.start), item.start))
    elif item.comma is not None:
        spans.append((end, end + len(text[end:]) - len(text[end:].lstrip(" \t"))))
    return spans


def _spaces_before(text: str, at: int) -> int:
    return len(text[:at]) - len(text[:at].rstrip(" \t"))


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """Leave out what lies in *spans*, which may touch one another."""
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at : max(start, at)])
        at = max(at, end)
    return "".join((*kept, text[at:]))


def _has_comment(text: str, parent: Node, item: Item) -> bool:
    """Tell whether anything but *item*, its only one, stands in a container."""
    around = text[parent.start + 1 : item.start] + text[item.value.end : parent.end - 1]
    return bool(around.replace(",", " ").strip())


def _goes_on(text: str, parent: Node, last: Item) -> bool:
    """Tell whether the last item stands behind another and before the end, all on their lines."""
    return not _begins_its_line(text, last) and "\n" not in text[last.value.end : parent.end]


def _begins_its_line(text: str, item: Item) -> bool:
    return not text[text.rfind("\n", 0, item.start) + 1 : item.start].strip()


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _need(text: str, node: Node, kind: str, path: Path) -> None:
    if node.kind == kind:
        return
    line = text.count("\n", 0, node.start) + 1
    column = node.start - text.rfind("\n", 0, node.start)
    name = ".".join(str(key) for key in path) or "the file"
    raise SyntaxProblem(f"{name} is no {kind}", line, column)
