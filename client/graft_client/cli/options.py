"""The options that every command takes, before or after its name."""

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from graft_client.errors import GraftError
from graft_client.settings import configure

META_KEY = "graft_client.options"


class EverywhereOption(click.Option):
    """An option that every command takes; the last one given counts."""


class GraftCommand(click.Command):
    """A command that takes the options of all commands as well."""

    def __init__(self, name: str | None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.params.extend(everywhere_options())

    @override
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then those of all commands."""
        _format_options(self, ctx, formatter)


class GraftGroup(click.Group):
    """A group of commands that takes the options of all commands as well."""

    command_class: type[click.Command] | None = GraftCommand

    def __init__(self, name: str | None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.params.extend(everywhere_options())

    @override
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the group's own options, those of all commands, and its commands."""
        _format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def given(context: click.Context) -> Mapping[str, Any]:
    """Give the values of the options of all commands that were given, by their names."""
    values: dict[str, Any] = context.meta.get(META_KEY, {})
    return values


def everywhere_options() -> list[click.Parameter]:
    """Make the options of all commands; each command has its own set, as click wants it."""
    return [
        EverywhereOption(
            ["--profile"],
            metavar="PROFILE",
            help="Profile to use.  [env: GRAFT_PROFILE; default: default]",
            shell_complete=complete_profiles,
            **_KEPT,
        ),
        EverywhereOption(
            ["--scope"],
            metavar="SCOPE",
            help="Scope to look at, or to save to, instead of the directory's own."
            "  [env: GRAFT_SCOPE]",
            **_KEPT,
        ),
        EverywhereOption(
            ["--all-scopes"],
            is_flag=True,
            default=None,
            help="Look at every scope.",
            **_KEPT,
        ),
        EverywhereOption(
            ["--json"],
            is_flag=True,
            default=None,
            help="Print one JSON object a line and nothing else; errors too, on stderr.",
            **_KEPT,
        ),
        EverywhereOption(
            ["--home"],
            metavar="DIR",
            type=click.Path(file_okay=False),
            help="Directory of the memory.  [env: GRAFT_HOME; default: ~/.graft]",
            **_KEPT,
        ),
        EverywhereOption(
            ["--timeout"],
            metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True),
            help="Seconds that a call may take.  [env: GRAFT_TIMEOUT; default: 30]",
            **_KEPT,
        ),
        EverywhereOption(
            ["--quiet"],
            is_flag=True,
            default=None,
            help="Print no talk on stderr, only data and errors.",
            **_KEPT,
        ),
    ]


def complete_profiles(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the profiles that are there; read from the home, nothing is started."""
    try:
        folders = configure(home=given(context).get("home")).home.profiles.iterdir()
        names = sorted(folder.name for folder in folders)
    except (OSError, GraftError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> object:
    """Remember a value that was given; click shares meta between a command and its groups."""
    if value is not None and parameter.name is not None:
        context.meta.setdefault(META_KEY, {})[parameter.name] = value
    return value


_KEPT: dict[str, Any] = {"expose_value": False, "callback": _keep}


def _format_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    own: list[tuple[str, str]] = []
    everywhere: list[tuple[str, str]] = []
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            (everywhere if isinstance(parameter, EverywhereOption) else own).append(record)
    for title, records in (("Options", own), ("Everywhere", everywhere)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
