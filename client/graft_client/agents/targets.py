"""What graft puts into each file of an agent, and how its text looks with it and without it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from graft_client.agents import jsonc_edit, toml_edit
from graft_client.agents.commands import PROGRAM, is_hook, is_plain_server, runs_server
from graft_client.agents.jsonc import parse

NOT_OURS = "has a server named graft that is set up otherwise; it was left as it is"
CHANGED = "was changed by someone; it was left as it is"
_EMPTY = "{}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """How a file is to look; *text* None: it is not to be there. *remark*: what was left alone."""

    text: str | None
    remark: str = ""


class Target(Protocol):
    """One file that graft puts something into."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    def added(self, text: str | None, *, untouched: bool) -> Edited:
        """Give the text with what is ours in it.

        *text* is what is there, None without a file; *untouched*: it is as setup last left it.

        Raises:
            SyntaxProblem: it cannot be read.
        """

    def removed(self, text: str | None, made: frozenset[str], *, untouched: bool) -> Edited:
        """Give the text without what is ours, and without the empty containers of *made*.

        Raises:
            SyntaxProblem: it cannot be read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTarget:
    """Members and hooks in a JSON file that others write to as well.

    Attributes:
        path: where it lies.
        server: value of the member "graft" of *group*; None: the file holds no servers.
        group: members that lead to the servers.
        hooks: by the agent's events, what stands in their lists; None: the file holds no hooks.
        version: what the member "version" must hold at least; 0: there is none.
    """

    path: Path
    server: Mapping[str, Any] | None = None
    group: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[Mapping[str, Any], ...]] | None = None
    version: int = 0

    def added(self, text: str | None, *, untouched: bool) -> Edited:
        """See `Target`."""
        del untouched  # what is ours is known by what it says
        now = text if text and text.strip() else _EMPTY
        if self.version and "version" not in _object(now):
            now = jsonc_edit.set_value(now, ("version",), self.version)
        if self.hooks is not None:
            now = _with_hooks(now, self.hooks)
        remark = ""
        if self.server is not None:
            path = (*_group(now, self.group), PROGRAM)
            there = jsonc_edit.find(now, path)
            if there is not None and not is_plain_server(there.value):
                remark = NOT_OURS
            else:
                now = jsonc_edit.set_value(now, path, dict(self.server))
        return Edited(text=now, remark=remark)

    def removed(self, text: str | None, made: frozenset[str], *, untouched: bool) -> Edited:
        """See `Target`."""
        del untouched
        if text is None or not text.strip():
            return Edited(text=text)
        now, remark = text, ""
        if self.hooks is not None:
            now = _without_hooks(now)
        if self.server is not None:
            path = (*_group(now, self.group), PROGRAM)
            there = jsonc_edit.find(now, path)
            if there is not None and runs_server(there.value):
                now = jsonc_edit.remove(now, path)
            elif there is not None:
                remark = NOT_OURS
        now = _without_empty(now, made)
        if "" in made and _object(now).keys() <= {"version"}:
            return Edited(text=None, remark=remark)
        return Edited(text=now, remark=remark)


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlTarget:
    """One table of a TOML file that others write to as well."""

    path: Path
    group: str
    server: Mapping[str, Any]

    def added(self, text: str | None, *, untouched: bool) -> Edited:
        """See `Target`."""
        del untouched
        now = text or ""
        there = toml_edit.tables_of(toml_edit.parse(now), self.group).get(PROGRAM)
        if there is not None and not is_plain_server(there):
            return Edited(text=now, remark=NOT_OURS)
        return Edited(text=toml_edit.set_table(now, self.group, PROGRAM, self.server))

    def removed(self, text: str | None, made: frozenset[str], *, untouched: bool) -> Edited:
        """See `Target`."""
        del untouched
        if text is None:
            return Edited(text=None)
        there = toml_edit.tables_of(toml_edit.parse(text), self.group).get(PROGRAM)
        if there is not None and not runs_server(there):
            return Edited(text=text, remark=NOT_OURS)
        now = toml_edit.remove_table(text, self.group, PROGRAM)
        return Edited(text=None if "" in made and not now.strip() else now)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A file that is graft's alone."""

    path: Path
    content: str

    def added(self, text: str | None, *, untouched: bool) -> Edited:
        """See `Target`."""
        if text is None or text == self.content or untouched:
            return Edited(text=self.content)
        return Edited(text=text, remark=CHANGED)

    def removed(self, text: str | None, made: frozenset[str], *, untouched: bool) -> Edited:
        """See `Target`."""
        del made
        if text is None or text == self.content or untouched:
            return Edited(text=None)
        return Edited(text=text, remark=CHANGED)


def containers(before: str | None, target: Target) -> frozenset[str]:
    """Name what setup has to make around what is ours, so that it can go again: "" is the file."""
    if before is None:
        return frozenset({""})
    if not isinstance(target, JsonTarget):
        return frozenset()
    before = before if before.strip() else _EMPTY
    paths: list[tuple[str, ...]] = []
    if target.server is not None:
        paths.append(_group(before, target.group))
    if target.hooks is not None:
        paths += [("hooks",), *(("hooks", event) for event in target.hooks)]
    prefixes = {path[:end] for path in paths for end in range(1, len(path) + 1)}
    return frozenset(
        "/".join(prefix) for prefix in prefixes if jsonc_edit.find(before, prefix) is None
    )


def _group(text: str, group: tuple[str, ...]) -> tuple[str, ...]:
    """Say where servers stand: OpenCode takes them right below "mcp", or below "mcp.servers".

    Its second version names the second and goes on reading the first; a file that has the second
    is written in that way.
    """
    if group != ("mcp",):
        return group
    servers = jsonc_edit.find(text, ("mcp", "servers"))
    nested = (
        servers is not None
        and isinstance(servers.value, dict)
        and not {"type", "command", "url", "enabled"} & servers.value.keys()
    )
    return ("mcp", "servers") if nested else group


def _object(text: str) -> dict[str, Any]:
    value = parse(text).value
    return value if isinstance(value, dict) else {}


def _with_hooks(text: str, hooks: Mapping[str, tuple[Mapping[str, Any], ...]]) -> str:
    """Put our elements into the lists of their events; older ones of ours are replaced."""
    for event in [event for event in _events(text) if event not in hooks]:
        text = _without_hooks_of(text, event)
    for event, wanted in hooks.items():
        ours = [element for _, element in _ours(text, event)]
        if ours == [dict(each) for each in wanted]:
            continue
        text = _without_hooks_of(text, event)
        for each in wanted:
            text = jsonc_edit.append(text, ("hooks", event), dict(each))
    return text


def _without_hooks(text: str) -> str:
    for event in _events(text):
        text = _without_hooks_of(text, event)
    return text


def _without_hooks_of(text: str, event: str) -> str:
    while True:
        found = next(_ours(text, event), None)
        if found is None:
            return text
        text = jsonc_edit.remove(text, found[0])


def _events(text: str) -> list[str]:
    hooks = _object(text).get("hooks")
    if not isinstance(hooks, dict):
        return []
    return [event for event, elements in hooks.items() if isinstance(elements, list)]


def _ours(text: str, event: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Find what is ours in an event's list: an element, or one hook of a group with others."""
    node = jsonc_edit.find(text, ("hooks", event))
    if node is None or not isinstance(node.value, list):
        return
    for index, element in enumerate(node.value):
        path = ("hooks", event, index)
        if not isinstance(element, dict):
            continue
        inner = element.get("hooks")
        if not isinstance(inner, list):
            if is_hook(element.get("command")):
                yield path, element
            continue
        mine = [isinstance(each, dict) and is_hook(each.get("command")) for each in inner]
        if mine and all(mine):
            yield path, element
        else:
            yield from (
                ((*path, "hooks", at), inner[at]) for at, is_ours in enumerate(mine) if is_ours
            )


def _without_empty(text: str, made: frozenset[str]) -> str:
    """Take out the containers that setup made and that nobody has put anything into."""
    for path in sorted(made - {""}, key=lambda each: each.count("/"), reverse=True):
        keys = path.split("/")
        node = jsonc_edit.find(text, keys)
        if node is not None and not node.items and node.kind != "scalar" and not _said(text, node):
            text = jsonc_edit.remove(text, keys)
    return text


def _said(text: str, node: Any) -> bool:  # a Node of jsonc
    """Tell whether a comment stands in an empty container."""
    return bool(text[node.start + 1 : node.end - 1].strip())
