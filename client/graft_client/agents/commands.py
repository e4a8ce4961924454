"""The command lines that agents are given: to start the server, and to run at an event."""

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graft_client.errors import GraftError

PROGRAM = "graft"
EVENTS = ("session-start", "prompt", "post-tool", "stop")
_OPTIONS = frozenset({"--workspace", "--home", "--profile"})
_MCP_KEYS = frozenset({"type", "command", "args"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """How an agent calls graft.

    Attributes:
        program: path of graft, or its name where the agent's own PATH is to find it.
        options: options that every call takes along: another home, another profile.
    """

    program: str
    options: tuple[str, ...] = ()

    def server(self, workspace: str = "") -> list[str]:
        """Give the words that start the MCP server; *workspace* is the agent's own variable."""
        where = ("--workspace", workspace) if workspace else ()
        return [self.program, "mcp", *where, *self.options]

    def hook(self, event: str, agent: str) -> str:
        """Give the line that a shell runs at *event*, one of `EVENTS`."""
        return shlex.join([self.program, "hook", event, "--agent", agent, *self.options])


def own_program(environ: Mapping[str, str], python: str = sys.executable) -> str:
    """Find the absolute path of the graft that runs now, by *python*.

    The one that PATH leads to is named by that path, which stays the same when the installation
    behind it is renewed.

    Raises:
        GraftError: it is not installed as a command.
    """
    own = Path(python).with_name(PROGRAM)
    found = shutil.which(PROGRAM, path=environ.get("PATH", ""))
    if found is not None and (not own.exists() or Path(found).samefile(own)):
        return str(Path(found).absolute())
    if own.exists():
        return str(own)
    raise GraftError("graft is not installed as a command, so no agent can call it; install it")


def runs_server(entry: object) -> bool:
    """Tell whether an agent's entry of a server starts ``graft mcp``."""
    words = _server_words(entry)
    return len(words) > 1 and Path(words[0]).name == PROGRAM and words[1] == "mcp"


def is_plain_server(entry: object) -> bool:
    """Tell whether an entry starts ``graft mcp`` and is of the form that setup writes."""
    if not runs_server(entry) or not isinstance(entry, Mapping) or entry.keys() - _MCP_KEYS:
        return False
    options = _server_words(entry)[2:]
    return len(options) % 2 == 0 and _OPTIONS.issuperset(options[::2])


def is_hook(line: object) -> bool:
    """Tell whether a line that an agent runs is ``graft hook`` at one of its events."""
    if not isinstance(line, str) or not re.search(r"\bhook\b", line):
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    program, verb, event, *_ = (*words, "", "", "")
    return Path(program).name == PROGRAM and verb == "hook" and event in EVENTS


def _server_words(entry: object) -> Sequence[str]:
    if not isinstance(entry, Mapping):
        return ()
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command])]
    words += arguments if isinstance(arguments, list) else []
    return words if all(isinstance(word, str) for word in words) else ()
