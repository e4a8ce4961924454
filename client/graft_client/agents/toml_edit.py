"""Changes one table of a TOML text and leaves every other byte, comments included, as it was."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from graft_client.agents.jsonc import SyntaxProblem

Plain = Mapping[str, Any]  # what tomllib gives


def parse(text: str) -> dict[str, Any]:
    """Read *text*.

    Raises:
        SyntaxProblem: it is no TOML.
    """
    try:
        tomlkit.parse(text)
        content = tomllib.loads(text)
    except ParseError as error:
        raise SyntaxProblem(str(error).split(" at line")[0], error.line, error.col) from error
    except (tomllib.TOMLDecodeError, TOMLKitError) as error:
        raise SyntaxProblem(str(error), 1, 1) from error
    return content


def tables_of(content: Plain, group: str) -> dict[str, Any]:
    """Give the tables of a group, none where there is no such group.

    Raises:
        SyntaxProblem: it is something else.
    """
    tables = content.get(group, {})
    if not isinstance(tables, dict):
        raise SyntaxProblem(f"{group} is no table", 1, 1)
    return tables


def set_table(text: str, group: str, name: str, values: Plain) -> str:
    """Make the table ``[group.name]`` hold *values*, at the end of the text where it is new.

    Raises:
        SyntaxProblem: the text is no TOML, or cannot take the table.
    """
    before = parse(text)
    if tables_of(before, group).get(name) == values:
        return text
    if name in tables_of(before, group):
        after = _spliced(text, group, name, _block(text, group, name, values))
    else:
        after = _appended(text, group, name, values)
    if after is None or not _is_toml(after):
        after = _inlined(text, group, name, values)
    _check(before, after, group, name, values)
    return after


def remove_table(text: str, group: str, name: str) -> str:
    """Take the table ``[group.name]`` out; the text as it is where there is none.

    Raises:
        SyntaxProblem: the text is no TOML, or the table cannot be taken out alone.
    """
    before = parse(text)
    if name not in tables_of(before, group):
        return text
    after = _spliced(text, group, name, "")
    if after is None:
        after = _inlined(text, group, name, None)
    _check(before, after, group, name, None)
    return after


def _appended(text: str, group: str, name: str, values: Plain) -> str:
    newline = _newline(text)
    gap = "" if not text or text.endswith("\n") else newline
    if text.strip():
        gap += newline
    return text + gap + _block(text, group, name, values)


def _block(text: str, group: str, name: str, values: Plain) -> str:
    table = tomlkit.table()
    table.update(values)
    return f"[{group}.{name}]\n{tomlkit.dumps(table)}".replace("\n", _newline(text))


def _spliced(text: str, group: str, name: str, block: str) -> str | None:
    """Put *block* in the place of the lines of ``[group.name]``; None where it has no such lines.

    tomlkit cannot take a table out of a group whose tables lie apart. So the fewest lines from
    the header on are sought without which the rest of the text says what it said.
    """
    before = tomllib.loads(text)
    lines = text.splitlines(keepends=True)
    header = re.compile(rf"\s*\[\s*{group}\s*\.\s*[\"']?{name}[\"']?\s*\]")
    for start in (at for at, line in enumerate(lines) if header.match(line)):
        for end in range(start + 1, len(lines) + 1):
            if _holds_others("".join(lines[start:end]), group, name):
                break  # with more lines it would say still more
            rest = "".join((*lines[:start], *lines[end:]))
            if not _is_gone(before, rest, group, name):
                continue
            # The empty line before it came with it.
            alone = not block and start > 0 and not lines[start - 1].strip()
            last = end == len(lines)
            return "".join((*lines[: start - (alone and last)], block, *lines[end:]))
    return None


def _holds_others(block: str, group: str, name: str) -> bool:
    """Tell whether lines are complete and say anything but the one table."""
    try:
        return bool(_without(tomllib.loads(block), group, name))
    except tomllib.TOMLDecodeError:
        return False  # it ends within a string or a list


def _is_gone(before: Plain, rest: str, group: str, name: str) -> bool:
    try:
        found = tomllib.loads(rest)
    except tomllib.TOMLDecodeError:
        return False
    gone = name not in tables_of(found, group)
    return gone and _without(before, group, name) == _without(found, group, name)


def _inlined(text: str, group: str, name: str, values: Plain | None) -> str:
    """Change a table that is written inline, ``group = { name = … }``."""
    document: Any = tomlkit.parse(text)
    if values is None:
        del document[group][name]
    else:
        document[group][name] = dict(values)
    return tomlkit.dumps(document)


def _check(before: Plain, after: str, group: str, name: str, values: Plain | None) -> None:
    """Refuse an edit that changed anything but the one table."""
    found = tomllib.loads(after) if _is_toml(after) else {}
    right = tables_of(found, group).get(name) == values
    if not right or _without(before, group, name) != _without(found, group, name):
        raise SyntaxProblem(f"[{group}.{name}] cannot be changed alone; do it by hand", 1, 1)


def _without(content: Plain, group: str, name: str) -> dict[str, Any]:
    """Give *content* without the one table, and without its group where nothing else is in it."""
    rest = {key: value for key, value in content.items() if key != group}
    others = {key: value for key, value in tables_of(content, group).items() if key != name}
    return {**rest, group: others} if others else rest


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
        tomlkit.parse(text)
    except (tomllib.TOMLDecodeError, TOMLKitError):
        return False
    return True


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
