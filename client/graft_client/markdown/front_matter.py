"""The head of a Markdown file: YAML between two lines of ``---``, each value as it is written."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from graft_client.errors import InputError
from graft_client.limits import FRONT_MATTER_CHARS_MAX

Scalars = str | dict[str, str]
Value = str | list[Scalars]

MARK = "---"
_ENDS = (MARK, "...")
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_BREAKS = frozenset("\n\x85\u2028\u2029")
_PLAIN_TITLE = re.compile(r"^title:[ \t]+([^\s\"'|>\[{&*!%@`#].*?)[ \t]*$", re.MULTILINE)
_LINE_CHARS = 1 << 20  # wider than any value: each stays on its line


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value and the line of the file that it begins in."""

    value: Value
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A file taken apart; without a head *fields* is empty and *body* all of it."""

    body: str
    has_head: bool = False
    fields: Mapping[str, Field] = field(default_factory=dict)


class _Writer(yaml.SafeDumper):
    """Writes texts with line breaks as one line: of some breaks PyYAML reads back another text."""

    def text(self, text: str) -> yaml.Node:
        """Choose how *text* is written."""
        style = '"' if _BREAKS & set(text) else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Writer.add_representer(str, _Writer.text)


def join(head: Mapping[str, object], body: str, *, remarks: Sequence[str] = ()) -> str:
    """Write a file: *head*, which has at least one value, *remarks* as comments, *body*."""
    written = yaml.dump(
        dict(head),
        Dumper=_Writer,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=False,
        width=_LINE_CHARS,
    )
    comments = "".join(f"# {line}\n" for line in remarks)
    return f"{MARK}\n{written}{comments}{MARK}\n" + (f"\n{body}\n" if body else "")


def split(text: str, *, title_as_typed: bool = False) -> Parts:
    """Take a file apart; exactly what `join` put together comes back.

    A file whose first line is a rule, with no second one or with plain words between the two, has
    no head. Texts stay as they are written: ``3.10`` and ``no`` are texts in a head, not numbers
    and the like.

    Args:
        text: of the file.
        title_as_typed: take all that follows ``title:`` on its line for the title, which YAML
            would end at a ``#`` and refuse for a colon.

    Raises:
        InputError: the head is no YAML, names a field twice, holds values within values, or is too
            long.
    """
    text = text.removeprefix("\ufeff")
    if not text.startswith(f"{MARK}\n"):
        # Written by another system, or by hand there.
        text = text.replace("\r\n", "\n")
    lines = text[:FRONT_MATTER_CHARS_MAX].split("\n")
    if lines[0].rstrip() != MARK:
        return Parts(body=text)
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() in _ENDS), 0)
    if not end and len(text) > FRONT_MATTER_CHARS_MAX:
        raise InputError(
            f"the front matter has no end within {FRONT_MATTER_CHARS_MAX:,} characters"
        )
    if not end:
        return Parts(body=text)
    head = "\n".join(lines[1:end])
    root = _compose(_with_title_quoted(head) if title_as_typed else head)
    if root is not None and not isinstance(root, yaml.MappingNode):
        return Parts(body=text)
    body = text[sum(len(line) + 1 for line in lines[: end + 1]) :]
    fields = {} if root is None else _fields(root)
    return Parts(body=body.removeprefix("\n").removesuffix("\n"), has_head=True, fields=fields)


def _with_title_quoted(head: str) -> str:
    return _PLAIN_TITLE.sub(lambda found: f"title: {json.dumps(found[1])}", head, count=1)


def _compose(head: str) -> yaml.Node | None:
    try:
        # It makes nodes alone, never objects, and gives no value a type.
        node: yaml.Node | None = yaml.compose(head, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 2}: " if mark else ""
        raise InputError(
            f"{where}the front matter is no YAML: {error.problem}; a text with a colon or a # in it"
            " stands in quotes"
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        words = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise InputError(f"the front matter is no YAML: {words}") from error
    return node


def _fields(root: yaml.MappingNode) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    seen: set[str] = set()
    for key, node in root.value:
        line = key.start_mark.line + 2
        name = _scalar(key, line, "a name of a field")
        if name in seen:
            raise InputError(f"line {line}: {name} is there twice; leave one out")
        seen.add(name)
        value = _value(node, line, name)
        if value is not None:
            fields[name] = Field(value=value, line=line)
    return fields


def _value(node: yaml.Node, line: int, name: str) -> Value | None:
    """Read one value; None where nothing stands there."""
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and node.value in _NOTHING else str(node.value)
    # A map is taken for a list of that one.
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [_item(each, line, name) for each in items]


def _item(node: yaml.Node, line: int, name: str) -> Scalars:
    if not isinstance(node, yaml.MappingNode):
        return _scalar(node, line, name)
    return {_scalar(key, line, name): _scalar(each, line, name) for key, each in node.value}


def _scalar(node: yaml.Node, line: int, name: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise InputError(f"line {line}: {name} must be a text, or a list of texts")
    return str(node.value)
