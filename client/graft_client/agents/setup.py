"""Adds graft to coding agents, and takes it out again: plans first, then does what was shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

from graft.wire.paths import Home
from graft_client.agents.apply import apply_adding, apply_removing
from graft_client.agents.commands import Invocation
from graft_client.agents.disk import FileProblemError
from graft_client.agents.known import (
    AGENTS,
    Agent,
    agent_named,
    marks_of,
    project_files,
    user_files,
)
from graft_client.agents.layout import plugin_targets, targets_of
from graft_client.agents.ledger import Ledger
from graft_client.agents.plan import Change, Plan, plan_adding, plan_removing
from graft_client.agents.targets import Target

PLUGIN = "claude-code-plugin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is asked for.

    Attributes:
        agents: names; PLUGIN stands for the plugin that is written to *plugin*.
        project: top of the repository whose files are meant; None: the person's own.
        plugin: folder of a plugin; None: none is written.
        remove: take out what is ours.
    """

    agents: tuple[str, ...]
    project: Path | None = None
    plugin: Path | None = None
    remove: bool = False


class Setup:
    """One run of it.

    Args:
        choice: what is asked for.
        person: home directory of the person.
        environ: environment that tells where agents keep their files.
        home: the memory's directory, where the ledger and the backups lie.
        invocation: how agents call graft.
    """

    def __init__(
        self,
        choice: Choice,
        *,
        person: Path,
        environ: Mapping[str, str],
        home: Home,
        invocation: Invocation,
    ) -> None:
        self._choice = choice
        self._person = person
        self._environ = environ
        self._invocation = invocation
        self._home = home

    def plans(self) -> list[Plan]:
        """Plan for every agent.

        Raises:
            FileProblemError: the ledger cannot be read.
        """
        ledger = Ledger.load(self._home)
        return [self._plan(name, ledger) for name in self._choice.agents]

    def apply(self, shown: Plan) -> list[str]:
        """Do what was *shown*; return the backups that are kept when something was taken out.

        A file that several agents read is written with the first of them.

        Raises:
            FileProblemError: a file was changed meanwhile, or cannot be written.
        """
        ledger = Ledger.load(self._home)
        lock = ledger.lock()
        try:
            ledger = Ledger.load(self._home)
            plan = self._plan(shown.agent, ledger)
            if plan.problem:
                raise FileProblemError(plan.problem)
            plan = _within(plan, shown)
            if self._choice.remove:
                return apply_removing(plan, ledger)
            own = self._choice.project is None and self._choice.plugin is None
            apply_adding(plan, ledger, private=own)
            return []
        finally:
            lock.release()

    def _plan(self, name: str, ledger: Ledger) -> Plan:
        targets = self._targets(name)
        if self._choice.remove:
            return plan_removing(name, targets, ledger, frozenset(self._choice.agents))
        return plan_adding(name, targets, ledger)

    def _targets(self, name: str) -> tuple[Target, ...]:
        if name == PLUGIN:
            assert self._choice.plugin is not None, "it is asked for with its folder"
            return plugin_targets(self._choice.plugin, self._invocation)
        agent = agent_named(name)
        if self._choice.project is not None:
            files = project_files(agent, self._choice.project)
        else:
            files = user_files(agent, self._person, self._environ)
        return targets_of(agent, files, self._invocation)


def installed(
    person: Path, environ: Mapping[str, str], find: Callable[..., str | None] = which
) -> list[str]:
    """Name the agents that *person* uses, by their folders and their commands on PATH."""
    return [agent.name for agent in AGENTS if _is_there(agent, person, environ, find)]


def _is_there(
    agent: Agent, person: Path, environ: Mapping[str, str], find: Callable[..., str | None]
) -> bool:
    return any(mark.exists() for mark in marks_of(agent, person, environ)) or any(
        find(program, path=environ.get("PATH", "")) for program in agent.programs
    )


def _within(plan: Plan, shown: Plan) -> Plan:
    """Hold a new plan to what was shown, file by file."""
    before = {change.path: change for change in shown.changes}
    return replace(
        plan,
        changes=tuple(
            change if change.action == "keep" else _as_shown(change, before.get(change.path))
            for change in plan.changes
        ),
    )


def _as_shown(change: Change, shown: Change | None) -> Change:
    if shown is None or shown.after != change.after:
        raise FileProblemError(f"{change.path} was changed meanwhile; run the same again")
    return change
