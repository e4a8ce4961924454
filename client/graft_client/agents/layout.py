"""Which files graft puts what into, for an agent at one of its levels or for a plugin."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graft.wire.build import version_text
from graft_client.agents.commands import PROGRAM, Invocation
from graft_client.agents.known import HOOK_SECONDS, Agent, Files, Hook, HookForm, agent_named
from graft_client.agents.skills import SKILL_FILE, skill_texts
from graft_client.agents.targets import JsonTarget, OwnFile, Target, TomlTarget

DESCRIPTION = "A local memory: ask whether a problem was solved before, save what took effort."


def targets_of(agent: Agent, files: Files, invocation: Invocation) -> tuple[Target, ...]:
    """Give everything that is written for *agent*, its servers first."""
    servers = next((each for each in files.servers if each.exists()), files.servers[0])
    targets: list[Target] = []
    if agent.form == "toml":
        targets.append(
            TomlTarget(path=servers, group=agent.group[0], server=server_entry(agent, invocation))
        )
    else:
        together = files.hooks == servers
        targets.append(
            JsonTarget(
                path=servers,
                group=agent.group,
                server=server_entry(agent, invocation),
                hooks=hooks_of(agent, invocation) if together else None,
            )
        )
    if files.hooks is not None and files.hooks != servers:
        targets.append(_hooks_file(agent, files.hooks, invocation))
    targets += [
        OwnFile(path=files.skills / name / SKILL_FILE, content=text)
        for name, text in skill_texts().items()
    ]
    return tuple(targets)


def server_entry(agent: Agent, invocation: Invocation) -> dict[str, Any]:
    """Give the entry that starts the server."""
    words = invocation.server(agent.workspace)
    if agent.form == "argv":
        return {"type": "local", "command": words}
    entry: dict[str, Any] = {"type": agent.typed} if agent.typed else {}
    return {**entry, "command": words[0], "args": words[1:]}


def hooks_of(agent: Agent, invocation: Invocation) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """Give what stands in the list of each of the agent's events."""
    return {hook.name: (_hook(agent, hook, invocation),) for hook in agent.hooks}


def plugin_targets(folder: Path, invocation: Invocation) -> tuple[Target, ...]:
    """Give the files of a plugin for Claude Code, and of the marketplace that lists it."""
    agent = agent_named("claude-code")
    plugin = folder / PROGRAM
    version = version_text().split()[0]
    contents: dict[Path, object] = {
        folder / ".claude-plugin/marketplace.json": {
            "name": PROGRAM,
            "owner": {"name": "Graft"},
            "plugins": [{"name": PROGRAM, "source": "./graft", "description": DESCRIPTION}],
        },
        plugin / ".claude-plugin/plugin.json": {
            "name": PROGRAM,
            "version": version,
            "description": DESCRIPTION,
        },
        plugin / ".mcp.json": {"mcpServers": {PROGRAM: server_entry(agent, invocation)}},
        plugin / "hooks/hooks.json": {"hooks": hooks_of(agent, invocation)},
    }
    own = [OwnFile(path=path, content=_json(value)) for path, value in contents.items()]
    skills = [
        OwnFile(path=plugin / "skills" / name / SKILL_FILE, content=text)
        for name, text in skill_texts().items()
    ]
    return (*own, *skills)


def _hooks_file(agent: Agent, path: Path, invocation: Invocation) -> Target:
    hooks = hooks_of(agent, invocation)
    if agent.hook_form is HookForm.OWN_FILE:
        return OwnFile(path=path, content=_json({"version": 1, "hooks": hooks}))
    return JsonTarget(path=path, hooks=hooks, version=int(agent.hook_form is HookForm.FLAT))


def _hook(agent: Agent, hook: Hook, invocation: Invocation) -> dict[str, Any]:
    line = invocation.hook(hook.event, agent.name)
    matcher = {"matcher": hook.matcher} if hook.matcher else {}
    if agent.hook_form is HookForm.FLAT:
        return {"command": line, **matcher, "timeout": HOOK_SECONDS}
    command = {"type": "command", "command": line, "timeout": agent.timeout}
    return command if agent.hook_form is HookForm.OWN_FILE else {**matcher, "hooks": [command]}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
