"""What an agent tells a hook on stdin, whichever agent it is."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graft_client.agents.commands import EVENTS
from graft_client.agents.known import AGENTS

INPUT_BYTES_MAX = 1 << 20
"""What is read of stdin; of more the rest is left."""
DEPTH_MAX = 6
"""Levels of a tool's answer that are looked through for text."""
TEXTS_MAX = 256
"""Texts of a tool's answer that are read."""

_RESPONSES = ("tool_response", "tool_output", "tool_result")
_EXIT_CODES = ("exitCode", "exit_code")
_FIRST = ("error", "stderr", "stdout", "output")
"""Members of a tool's answer that are read before the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One event.

    Attributes:
        kind: one of `EVENTS`.
        agent: name of the agent; empty where it was not said.
        name: the agent's own name for the event.
        session: name of the agent's session; empty where it tells none.
        directory: where the agent works; empty where it does not say.
        prompt: what the person typed.
        tool_text: what a tool printed.
        command: what a shell tool was told to run; empty of every other tool.
        failed: the agent says that the tool failed.
        again: it follows from an earlier answer of a hook, so that another one would go round.
    """

    kind: str
    agent: str
    name: str
    session: str = ""
    directory: str = ""
    prompt: str = ""
    tool_text: str = ""
    command: str = ""
    failed: bool = False
    again: bool = False


def read_event(kind: str, agent: str, told: bytes) -> HookEvent | None:
    """Read an event.

    None where it is none of ours, where the agent tells nothing that can be read, and where a
    person broke a tool off: what it printed till then says nothing.
    """
    if kind not in EVENTS:
        return None
    try:
        content = json.loads(told.decode("utf-8", "replace")) if told.strip() else {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, Mapping):
        return None
    name = _text(content, "hook_event_name", "hookEventName") or _usual_name(kind, agent)
    response = _response(content)
    if content.get("is_interrupt") or _member(response, "interrupted"):
        return None
    return HookEvent(
        kind=kind,
        agent=agent,
        name=name,
        session=_text(content, "session_id", "sessionId", "conversation_id"),
        directory=_directory(content),
        prompt=_text(content, "prompt"),
        tool_text="\n".join(_texts([content.get("error"), response])),
        command=_command(content),
        failed="Failure" in name or bool(content.get("error")) or _ended_badly(response),
        again=bool(content.get("stop_hook_active") or content.get("loop_count")),
    )


def _response(content: Mapping[str, object]) -> object:
    """Give what a tool answered; Cursor writes it as JSON within the JSON."""
    written = content.get("tool_output")
    if isinstance(written, str):
        with suppress(ValueError, RecursionError):
            return json.loads(written)
    return next((content[each] for each in _RESPONSES if each in content), None)


def _command(content: Mapping[str, object]) -> str:
    """Give the line that a shell tool ran; some agents have hooks run after every tool."""
    command = _member(content.get("tool_input"), "command")
    return command if isinstance(command, str) else ""


def _ended_badly(response: object) -> bool:
    code = next((found for each in _EXIT_CODES if (found := _member(response, each))), 0)
    return isinstance(code, int) and code != 0


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _usual_name(kind: str, agent: str) -> str:
    """Give the agent's own name for an event; Claude Code's where it has none of its own."""
    own = [hook for each in AGENTS if each.name == agent for hook in each.hooks]
    return next(each.name for each in (*own, *AGENTS[0].hooks) if each.event == kind)


def _directory(content: Mapping[str, object]) -> str:
    """Give the folder that is worked in; Cursor names those that it has open."""
    roots = content.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else None
    found = _text(content, "cwd") or (first if isinstance(first, str) else "")
    return found if Path(found).is_absolute() and "\0" not in found else ""


def _text(content: Mapping[str, object], *names: str) -> str:
    return next((each for name in names if isinstance(each := content.get(name), str)), "")


def _texts(values: object) -> Iterator[str]:
    """Yield the texts in a tool's answer, those that tell of errors first, without recursion."""
    waiting, given = [(values, 0)], 0
    while waiting and given < TEXTS_MAX:
        value, depth = waiting.pop()
        if isinstance(value, str):
            given += 1
            yield value
        elif depth < DEPTH_MAX and isinstance(value, Mapping):
            ordered = sorted(value, key=lambda each: (each not in _FIRST, str(each)))
            waiting += [(value[each], depth + 1) for each in reversed(ordered)]
        elif depth < DEPTH_MAX and isinstance(value, list):
            waiting += [(each, depth + 1) for each in reversed(value[:TEXTS_MAX])]
