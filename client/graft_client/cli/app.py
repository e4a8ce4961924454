"""The command `graft` and its families of commands."""

from importlib import import_module
from typing import NamedTuple

import click
from typing_extensions import override

from graft.wire.build import version_text
from graft_client.cli.options import GraftGroup


class Entry(NamedTuple):
    """Where a command lies."""

    module: str
    attribute: str


COMMANDS = {
    "insert": Entry("insert", "insert"),
    "note": Entry("compose", "note"),
    "edit": Entry("compose", "edit"),
    "query": Entry("recall", "query"),
    "ask": Entry("ask", "ask"),
    "retrieve": Entry("recall", "retrieve"),
    "explore": Entry("graph", "explore"),
    "classify": Entry("graph", "classify"),
    "explain": Entry("explain", "explain"),
    "misses": Entry("misses", "misses"),
    "analytics": Entry("analytics", "analytics"),
    "open": Entry("open_note", "open_note"),
    "get": Entry("notes", "get"),
    "list": Entry("notes", "list_notes"),
    "supersede": Entry("lifecycle", "supersede"),
    "retire": Entry("lifecycle", "retire"),
    "restore": Entry("lifecycle", "restore"),
    "reject": Entry("lifecycle", "reject"),
    "dispute": Entry("lifecycle", "dispute"),
    "mark-stale": Entry("lifecycle", "mark_stale"),
    "set": Entry("lifecycle", "set_note"),
    "sources": Entry("sources", "sources"),
    "scope": Entry("scope", "scope"),
    "undo": Entry("lifecycle", "undo"),
    "verify": Entry("verify", "verify"),
    "review": Entry("review", "review"),
    "reviewer": Entry("reviewer", "reviewer"),
    "delete": Entry("notes", "delete"),
    "maintain": Entry("maintain", "maintain"),
    "consolidate": Entry("maintain", "consolidate"),
    "export-md": Entry("export_md", "export_md"),
    "import-md": Entry("import_md", "import_md"),
    "log": Entry("log", "log"),
    "stats": Entry("notes", "stats"),
    "reindex": Entry("profiles", "reindex"),
    "profile": Entry("profiles", "profile"),
    "backup": Entry("backup", "backup"),
    "model": Entry("models", "model"),
    "start": Entry("daemons", "start"),
    "stop": Entry("daemons", "stop"),
    "status": Entry("daemons", "status"),
    "doctor": Entry("doctor", "doctor"),
    "token": Entry("token", "token"),
    "service": Entry("service", "service"),
    "mcp": Entry("mcp_server", "mcp"),
    "project": Entry("project", "project"),
    "setup": Entry("setup", "setup"),
    "hook": Entry("hook", "hook"),
    "config": Entry("config", "config"),
    "completion": Entry("completion", "completion"),
    "man": Entry("man", "man"),
    "demo": Entry("demo", "demo"),
}


class _WhenNeeded(GraftGroup):
    """Imports a command's module when that command is called: a query loads none of the others."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, the daily ones first."""
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command *cmd_name*; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        entry = COMMANDS[cmd_name]
        module = import_module(f"graft_client.cli.{entry.module}")
        command = getattr(module, entry.attribute)
        assert isinstance(command, click.Command), f"{entry} is a command"
        return command


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"graft {version_text()}")
        context.exit()


@click.group(cls=_WhenNeeded, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and end.",
)
def graft() -> None:
    """Remember what was learned: save notes, ask whether a problem has been seen before.

    Everything runs on this machine; the services start by themselves.

    \b
    Example:
        graft insert --title "CI needs Node 20" --body "Node 18 lacks fetch."
        graft query "why does CI fail on fetch"
    """
