"""The command `graft` and its families of commands."""

import click
from typing_extensions import override

from graft.wire.build import version_text
from graft_client.cli.completion import completion
from graft_client.cli.config import config
from graft_client.cli.daemons import start, status, stop
from graft_client.cli.demo import demo
from graft_client.cli.doctor import doctor
from graft_client.cli.insert import insert
from graft_client.cli.models import model
from graft_client.cli.notes import delete, get, list_notes, stats
from graft_client.cli.options import GraftGroup
from graft_client.cli.profiles import profile, reindex
from graft_client.cli.recall import query, retrieve

COMMANDS = (
    *(insert, query, retrieve, get, list_notes, delete, stats),
    *(reindex, profile, model),
    *(start, stop, status, doctor, config, completion, demo),
)


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"graft {version_text()}")
        context.exit()


class _InOrder(GraftGroup):
    """Lists its commands as they stand in `COMMANDS`, the daily ones first."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which they were added."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]})
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


for _command in COMMANDS:
    graft.add_command(_command)
