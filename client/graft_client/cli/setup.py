"""`graft setup`: adds graft to the coding agents of this machine, and takes it out again."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graft_client.agents.known import AGENTS, NAMES
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.errors import GraftError, InputError
from graft_client.gitfiles import find_worktree
from graft_client.programs import INSTALL_LINE, SETUP_MODULES, missing

if TYPE_CHECKING:
    from graft_client.agents.commands import Invocation
    from graft_client.agents.plan import Plan
    from graft_client.agents.setup import Choice, Setup


@click.command(cls=GraftCommand)
@click.argument("agents", metavar="[AGENT]…", nargs=-1, type=click.Choice(NAMES))
@click.option("--project", is_flag=True, help="Write the files of this repository instead.")
@click.option(
    "--plugin",
    metavar="DIRECTORY",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a plugin for Claude Code there instead, with its marketplace.",
)
@click.option("--remove", is_flag=True, help="Take out what setup has written.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_session
def setup(  # noqa: PLR0913 - click gives every option as an argument
    session: Session,
    *,
    agents: tuple[str, ...],
    project: bool,
    plugin: Path | None,
    remove: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Add graft to coding agents: claude-code, codex, opencode, cursor, gemini, vscode.

    Without a name, to those that are installed. Writes each one's own files: the MCP server and
    the skills; what others wrote there stays as it is. Shows what it will write, and asks.

    \b
    Example:
        graft setup
        graft setup codex --project --dry-run
    """
    if plugin is not None and (project or agents):
        raise InputError("--plugin goes with neither an agent nor --project; leave one out")
    lacking = missing(SETUP_MODULES)
    if lacking:
        raise GraftError(
            f"graft setup needs {', '.join(lacking)}, which is not installed; run: {INSTALL_LINE}",
            details={"install": INSTALL_LINE},
        )
    made = _setup(session, _choice(session, agents, project, plugin, remove))
    plans = made.plans()
    _show(session.output, plans)
    failed = [plan for plan in plans if plan.problem]
    if not dry_run and any(plan.work for plan in plans):
        _ask(session.output, plans, yes=yes, remove=remove)
        failed += _apply(session.output, made, plans, remove=remove)
        if plugin is not None and not remove:
            _tell_plugin(session.output, plugin)
    if failed:
        raise GraftError(f"nothing was written for {', '.join(plan.agent for plan in failed)}")


def _choice(
    session: Session, agents: tuple[str, ...], project: bool, plugin: Path | None, remove: bool
) -> "Choice":
    # The editors of configuration files, which no other command needs.
    from graft_client.agents.setup import PLUGIN, Choice, installed  # noqa: PLC0415

    if plugin is not None:
        return Choice(agents=(PLUGIN,), plugin=plugin.absolute(), remove=remove)
    root = find_worktree(Path.cwd()) if project else None
    if project and root is None:
        raise InputError("--project writes into a repository, and there is none here; git init")
    names = agents or (NAMES if remove else tuple(installed(_person(session), session.environ)))
    if not names:
        raise GraftError("no coding agent was found; name one, for example: graft setup codex")
    return Choice(agents=tuple(dict.fromkeys(names)), project=root, remove=remove)


def _setup(session: Session, choice: "Choice") -> "Setup":
    from graft_client.agents.setup import Setup  # noqa: PLC0415

    return Setup(
        choice,
        person=_person(session),
        environ=session.environ,
        home=session.home,
        invocation=_invocation(session, shared=bool(choice.project or choice.plugin)),
    )


def _invocation(session: Session, *, shared: bool) -> "Invocation":
    """Say how agents call graft.

    A person's own files name it by its path, since programs of a desktop have another PATH, and
    take along the home and the profile of this run. Files that are shared name it alone: others
    have it elsewhere; they take along what was given on the command line.
    """
    from graft_client.agents.commands import PROGRAM, Invocation, own_program  # noqa: PLC0415

    options: list[str] = []
    usual = Path(_person(session) / ".graft").resolve()
    if session.home_was_given or (not shared and session.home.root != usual):
        options += ["--home", str(session.home.root)]
    settings = session.configuration.settings
    from_here = settings.source("profile") not in {"default", str(session.home.config_file)}
    if session.chosen_profile or (not shared and from_here):
        options += ["--profile", session.configuration.profile]
    program = PROGRAM if shared else own_program(session.environ)
    return Invocation(program=program, options=tuple(options))


def _person(session: Session) -> Path:
    home = session.environ.get("HOME")
    if not home:
        raise GraftError("HOME is not set, so nobody can tell where agents keep their files")
    return Path(home)


def _show(output: Output, plans: list["Plan"]) -> None:
    from graft_client.agents.plan import difference  # noqa: PLC0415

    seen: set[Path] = set()
    for plan in plans:
        files = [change for change in plan.work if change.path not in seen]
        seen.update(change.path for change in files)
        if output.as_json:
            output.record(
                {
                    "agent": plan.agent,
                    "files": [
                        {
                            "path": str(each.path),
                            "action": each.action,
                            "difference": difference(each),
                        }
                        for each in files
                    ],
                    "remarks": plan.remarks,
                    "problem": plan.problem or None,
                }
            )
            continue
        output.line(f"{plan.agent}: {_summary(plan, len(files))}", bold=True)
        for change in files:
            output.line(f"  {change.action} {change.path}")
            # What goes whole was shown when it came, and a skill is read in its own place.
            told = change.action != "delete" and change.path.suffix != ".md"
            for line in difference(change) if told else ():
                output.quote(line, fg={"+": "green", "-": "red"}.get(line[:1]))
        for remark in plan.remarks:
            output.say(f"graft: {remark}")


def _summary(plan: "Plan", files: int) -> str:
    if plan.problem:
        return plan.problem
    if not plan.work:
        return "nothing to do, it is as it should be"
    return count_of(files, "file") if files else "nothing but files that were named above"


def _ask(output: Output, plans: list["Plan"], *, yes: bool, remove: bool) -> None:
    if yes:
        return
    if output.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            "there is no terminal to ask on; add --yes to mean it, or --dry-run to see it only"
        )
    verb = "Take this out of" if remove else "Write this for"
    names = ", ".join(plan.agent for plan in plans if plan.work)
    if not click.confirm(f"{verb} {names}?", err=True):
        raise GraftError("nothing was written")


def _apply(output: Output, made: "Setup", plans: list["Plan"], *, remove: bool) -> list["Plan"]:
    """Do it for one agent after the other; return those for which it failed."""
    failed: list[Plan] = []
    for plan in plans:
        if plan.problem:
            continue
        try:
            kept = made.apply(plan)
        except GraftError as error:
            output.say(f"graft: {plan.agent}: {error.message}")
            failed.append(plan)
            continue
        for backup in kept:
            output.say(f"graft: what was there before setup is kept in {backup}")
        if plan.work:
            rest = "" if remove else _next_step(plan.agent)
            output.say(f"graft: {plan.agent} is done{rest}")
    return failed


def _next_step(agent: str) -> str:
    return next(
        (f"; {each.next_step}" for each in AGENTS if each.name == agent and each.next_step), ""
    )


def _tell_plugin(output: Output, plugin: Path) -> None:
    output.say(f"graft: in Claude Code: /plugin marketplace add {plugin.absolute()}")
    output.say("graft: then: /plugin install graft@graft")
