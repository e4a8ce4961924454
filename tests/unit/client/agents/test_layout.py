"""What is written for agents names commands that exist, in the forms that agents take."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from graft_client.agents.commands import EVENTS, Invocation, is_hook, is_plain_server, own_program
from graft_client.agents.known import (
    AGENTS,
    NAMES,
    Agent,
    HookForm,
    agent_named,
    project_files,
    user_files,
)
from graft_client.agents.layout import hooks_of, plugin_targets, server_entry, targets_of
from graft_client.agents.targets import OwnFile
from graft_client.cli.app import graft
from graft_client.cli.setup import setup
from graft_client.errors import GraftError

ROOT = Path(__file__).parents[4]
INVOCATION = Invocation(program="/a b/graft", options=("--home", "/h", "--profile", "work"))


def lines_of(agent: Agent) -> Iterator[str]:
    """Give every line that an agent is to run at its events."""
    for (element,) in hooks_of(agent, INVOCATION).values():
        for each in element.get("hooks", [element]):
            yield each["command"]


def parsed(words: list[str]) -> Mapping[str, Any]:
    """Read a command line by the command that it names, as `graft` itself does."""
    context = click.Context(graft, info_name="graft")
    command = graft.get_command(context, words[0])
    assert command is not None, f"there is no graft {words[0]}"
    return command.make_context(words[0], words[1:], parent=context).params


@pytest.mark.parametrize("agent", AGENTS, ids=NAMES)
def test_the_server_is_started_by_a_command_that_exists(agent: Agent) -> None:
    entry = server_entry(agent, INVOCATION)
    words = entry["command"] if agent.form == "argv" else [entry["command"], *entry["args"]]

    assert words[:2] == ["/a b/graft", "mcp"]
    assert parsed(words[1:])["workspace"] == (agent.workspace or None)
    assert is_plain_server(entry)
    assert isinstance(entry["command"], list) == (agent.name == "opencode")
    assert entry.get("type") == {"argv": "local"}.get(agent.form, agent.typed or None)


@pytest.mark.parametrize("agent", AGENTS, ids=NAMES)
def test_every_hook_runs_a_command_that_exists(agent: Agent) -> None:
    for line in lines_of(agent):
        words = shlex.split(line)

        assert words[:2] == ["/a b/graft", "hook"]
        assert words[3:5] == ["--agent", agent.name]
        assert words[2] in EVENTS
        assert is_hook(line)
        parsed(words[1:])


def test_the_names_of_the_command_line_are_those_of_the_agents() -> None:
    (taken,) = (each for each in setup.params if isinstance(each, click.Argument))

    assert isinstance(taken.type, click.Choice)
    assert tuple(taken.type.choices) == NAMES == tuple(agent.name for agent in AGENTS)


def test_hooks_have_the_form_that_each_agent_takes() -> None:
    line = "'/a b/graft' hook post-tool --agent {} --home /h --profile work"

    assert hooks_of(agent_named("gemini"), INVOCATION)["AfterTool"] == (
        {
            "matcher": "run_shell_command",
            "hooks": [
                {"type": "command", "command": line.format("gemini"), "timeout": 10_000},
            ],
        },
    )
    assert hooks_of(agent_named("cursor"), INVOCATION)["postToolUse"] == (
        {"command": line.format("cursor"), "matcher": "Shell", "timeout": 10},
    )
    assert hooks_of(agent_named("vscode"), INVOCATION)["PostToolUse"] == (
        {"type": "command", "command": line.format("vscode"), "timeout": 10},
    )
    files = user_files(agent_named("vscode"), Path("/home/me"), {})
    (own,) = (
        each
        for each in targets_of(agent_named("vscode"), files, INVOCATION)
        if each.path == files.hooks
    )
    assert isinstance(own, OwnFile)
    # Copilot's own programs read the file as well, and refuse one without a version.
    assert json.loads(own.content)["version"] == 1
    assert hooks_of(agent_named("opencode"), INVOCATION) == {}


def test_every_agent_gets_a_server_the_skills_and_the_hooks_that_it_has(tmp_path: Path) -> None:
    for agent in AGENTS:
        targets = targets_of(agent, user_files(agent, tmp_path, {}), INVOCATION)

        names = [target.path.name for target in targets]
        assert names.count("SKILL.md") == len(names) - 1 - (
            agent.hook_form is not HookForm.NONE and agent.name != "gemini"
        )
        assert len({target.path for target in targets}) == len(targets)


def test_a_plugin_holds_what_setup_writes_for_claude_code(tmp_path: Path) -> None:
    targets = {
        str(target.path.relative_to(tmp_path)): target
        for target in plugin_targets(tmp_path, Invocation(program="graft"))
    }

    def content(name: str) -> Any:
        target = targets[name]
        assert isinstance(target, OwnFile)
        return json.loads(target.content)

    marketplace = content(".claude-plugin/marketplace.json")
    manifest = content("graft/.claude-plugin/plugin.json")
    assert marketplace["plugins"][0]["source"] == "./graft"
    assert marketplace["plugins"][0]["name"] == manifest["name"] == marketplace["name"] == "graft"
    assert content("graft/.mcp.json")["mcpServers"]["graft"]["command"] == "graft"
    assert "SessionStart" in content("graft/hooks/hooks.json")["hooks"]
    assert "graft/skills/graft-memory/SKILL.md" in targets


def test_the_program_is_named_by_the_path_that_leads_to_it(tmp_path: Path) -> None:
    own = own_program({"PATH": "/nowhere"})
    link = tmp_path / "graft"
    link.symlink_to(own)
    other = tmp_path / "other/graft"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)

    assert Path(own).is_absolute()
    assert own_program({"PATH": str(tmp_path)}) == str(link)
    assert own_program({"PATH": str(other.parent)}) == own


def test_what_is_not_ours_is_not_taken_for_it() -> None:
    for line in ("graft hook", "say graft hook stop", "graft hook 'stop", "graft stop hook", None):
        assert not is_hook(line)
    for entry in (
        None,
        {"url": "http://x"},
        {"command": "graft"},
        {"command": "npx", "args": ["mcp"]},
        {"command": "graft", "args": ["mcp", "--max-tokens", "9"]},
        {"command": "graft", "args": ["mcp"], "env": {"A": "b"}},
        {"command": "graft", "args": ["mcp", 1]},
    ):
        assert not is_plain_server(entry)


def test_without_a_command_nothing_can_be_written() -> None:
    with pytest.raises(GraftError, match="not installed as a command"):
        own_program({"PATH": "/nowhere"}, "/nowhere/python")


def test_the_documentation_names_every_file(tmp_path: Path) -> None:
    page = (ROOT / "docs/agents.md").read_text("utf-8")

    for agent in AGENTS:
        for below, files in (
            ("~/", user_files(agent, tmp_path, {})),
            ("", project_files(agent, tmp_path)),
        ):
            hooks = [files.hooks] if files.hooks else []
            for path in (*files.servers, files.skills, *hooks):
                name = f"`{below}{path.relative_to(tmp_path)}`"
                assert name in page or sys.platform == "darwin", f"{agent.name}: {name}"
