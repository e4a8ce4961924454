"""The agents that graft knows: by what each is found, and where it keeps what, in which form."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

HOOK_SECONDS = 10
"""After which an agent gives up a hook; the hook itself ends long before, by GRAFT_HOOK_MS."""

SHARED_SKILLS = ".agents/skills"
"""Folder that every agent but Claude Code reads, below a person's home and in a repository."""


class HookForm(Enum):
    """How an agent's file holds hooks."""

    NONE = "none"
    GROUPS = "groups"
    """By event, groups of {matcher, hooks: [{type, command, timeout}]}."""
    FLAT = "flat"
    """By event, [{command, matcher, timeout}]; the file has a version."""
    OWN_FILE = "own file"
    """By event, [{type, command, timeout}] in a file of graft's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One event: *event* of `graft hook`, the agent's own *name* for it, for which tools."""

    event: str
    name: str
    matcher: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Where an agent keeps its configuration, at one level.

    Attributes:
        servers: files that may hold its servers; the first is made where there is none.
        skills: folder of its skills.
        hooks: file of its hooks; None where it has none.
    """

    servers: tuple[Path, ...]
    skills: Path
    hooks: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent.

    Attributes:
        name: as `graft setup` and `graft hook --agent` take it.
        title: its own name.
        programs: commands of its on PATH.
        group: members that lead to its servers in the file.
        form: "json", "toml", or "argv" for JSON whose command is a list.
        typed: an entry says that it is a local program, and how.
        workspace: variable that stands for the open folder, where servers start elsewhere.
        hook_form: how it takes hooks.
        hooks: the events of its that are confirmed.
        timeout: what its hooks' time limit is, in its own unit.
        next_step: what is left to do for a person.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    group: tuple[str, ...] = ("mcpServers",)
    form: str = "json"
    typed: str = ""
    workspace: str = ""
    hook_form: HookForm = HookForm.NONE
    hooks: tuple[Hook, ...] = ()
    timeout: int = HOOK_SECONDS
    next_step: str = ""


def _claude_hooks(tool: str) -> tuple[Hook, ...]:
    return (
        Hook(event="session-start", name="SessionStart"),
        Hook(event="prompt", name="UserPromptSubmit"),
        Hook(event="post-tool", name="PostToolUse", matcher=tool),
        Hook(event="stop", name="Stop"),
    )


AGENTS: tuple[Agent, ...] = (
    Agent(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        typed="stdio",
        hook_form=HookForm.GROUPS,
        # A command that fails is an event of its own there, and errors are what is looked for.
        hooks=(
            *_claude_hooks("Bash"),
            Hook(event="post-tool", name="PostToolUseFailure", matcher="Bash"),
        ),
    ),
    Agent(
        name="codex",
        title="Codex",
        programs=("codex",),
        group=("mcp_servers",),
        form="toml",
        hook_form=HookForm.GROUPS,
        hooks=_claude_hooks("Bash"),
        next_step="Codex asks once whether its hooks are to be trusted: /hooks",
    ),
    Agent(name="opencode", title="OpenCode", programs=("opencode",), group=("mcp",), form="argv"),
    Agent(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        typed="stdio",
        workspace="${workspaceFolder}",
        hook_form=HookForm.FLAT,
        # Before a prompt it takes no words for the model, so there is nothing to run then.
        hooks=(
            Hook(event="session-start", name="sessionStart"),
            Hook(event="post-tool", name="postToolUse", matcher="Shell"),
            Hook(event="stop", name="stop"),
        ),
        next_step="Cursor starts a new server when it is switched on in its settings: MCP",
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        hook_form=HookForm.GROUPS,
        hooks=(
            Hook(event="session-start", name="SessionStart"),
            Hook(event="prompt", name="BeforeAgent"),
            Hook(event="post-tool", name="AfterTool", matcher="run_shell_command"),
            Hook(event="stop", name="AfterAgent"),
        ),
        timeout=HOOK_SECONDS * 1_000,
    ),
    Agent(
        name="vscode",
        title="VS Code",
        programs=("code",),
        group=("servers",),
        typed="stdio",
        workspace="${workspaceFolder}",
        hook_form=HookForm.OWN_FILE,
        # As with Cursor; it knows no matchers.
        hooks=(
            Hook(event="session-start", name="SessionStart"),
            Hook(event="post-tool", name="PostToolUse"),
            Hook(event="stop", name="Stop"),
        ),
        next_step="VS Code asks once whether it may start the server",
    ),
)

NAMES = tuple(agent.name for agent in AGENTS)


def agent_named(name: str) -> Agent:
    """Give the agent of a name of `NAMES`."""
    return next(agent for agent in AGENTS if agent.name == name)


def marks_of(agent: Agent, person: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Give what shows that *person*, a home directory, uses an agent."""
    return {
        "claude-code": (_claude(person, environ), person / ".claude.json"),
        "codex": (_codex(person, environ),),
        "opencode": (_configuration(person, environ) / "opencode",),
        "cursor": (person / ".cursor",),
        "gemini": (person / ".gemini",),
        "vscode": (_code(person, environ),),
    }[agent.name]


def user_files(agent: Agent, person: Path, environ: Mapping[str, str]) -> Files:
    """Tell where an agent keeps what is a person's own, in all projects."""
    shared = person / SHARED_SKILLS
    match agent.name:
        case "claude-code":
            folder = _claude(person, environ)
            # With a folder of its own even the file that else lies beside it is in there.
            apart = folder if environ.get("CLAUDE_CONFIG_DIR") else person
            return Files(
                servers=(apart / ".claude.json",),
                skills=folder / "skills",
                hooks=folder / "settings.json",
            )
        case "codex":
            folder = _codex(person, environ)
            return Files(
                servers=(folder / "config.toml",), skills=shared, hooks=folder / "hooks.json"
            )
        case "opencode":
            return Files(
                servers=_opencode(_configuration(person, environ) / "opencode"), skills=shared
            )
        case "vscode":
            return Files(
                servers=(_code(person, environ) / "mcp.json",),
                skills=shared,
                hooks=person / ".copilot/hooks/graft.json",
            )
        case _:
            return _same_everywhere(agent, person)


def project_files(agent: Agent, root: Path) -> Files:
    """Tell where an agent keeps what belongs to the repository at *root*."""
    shared = root / SHARED_SKILLS
    match agent.name:
        case "claude-code":
            return Files(
                servers=(root / ".mcp.json",),
                skills=root / ".claude/skills",
                hooks=root / ".claude/settings.json",
            )
        case "codex":
            return Files(
                servers=(root / ".codex/config.toml",),
                skills=shared,
                hooks=root / ".codex/hooks.json",
            )
        case "opencode":
            return Files(servers=_opencode(root), skills=shared)
        case "vscode":
            return Files(
                servers=(root / ".vscode/mcp.json",),
                skills=shared,
                hooks=root / ".github/hooks/graft.json",
            )
        case _:
            return _same_everywhere(agent, root)


def _same_everywhere(agent: Agent, below: Path) -> Files:
    """Cursor and Gemini CLI have the same files in a repository as in a home."""
    folder, skills = below / f".{agent.name}", below / SHARED_SKILLS
    if agent.name == "gemini":
        settings = folder / "settings.json"
        return Files(servers=(settings,), skills=skills, hooks=settings)
    return Files(servers=(folder / "mcp.json",), skills=skills, hooks=folder / "hooks.json")


def _opencode(folder: Path) -> tuple[Path, ...]:
    return (folder / "opencode.json", folder / "opencode.jsonc")


def _claude(person: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CLAUDE_CONFIG_DIR") or person / ".claude")


def _codex(person: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CODEX_HOME") or person / ".codex")


def _configuration(person: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CONFIG_HOME") or person / ".config")


def _code(person: Path, environ: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return person / "Library/Application Support/Code/User"
    return _configuration(person, environ) / "Code/User"
