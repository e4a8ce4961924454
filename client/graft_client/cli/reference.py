"""The reference in docs/cli.md, written from the commands themselves so that it cannot drift."""

from collections.abc import Iterator, Sequence

import click

from graft.wire.setting_list import SETTINGS
from graft_client.cli.app import graft
from graft_client.cli.exits import EXIT_CODES
from graft_client.cli.options import EverywhereOption, everywhere_options
from graft_client.limits import LIMITS
from graft_client.settings import ENVIRONMENT_ONLY

WIDTH = 92


def commands() -> str:
    """Write every command with its help, without the options of all commands."""
    return "\n".join(_sections(graft, "graft", None))


def options_everywhere() -> str:
    """Write the options of all commands."""
    context = click.Context(graft, info_name="graft")
    records = [option.get_help_record(context) for option in everywhere_options()]
    rows = [(f"`{each[0]}`", each[1]) for each in records if each is not None]
    return _table(("option", "what it does"), rows)


def exit_codes() -> str:
    """Write the exit codes."""
    return _table(("code", "meaning"), [(str(each.code), each.meaning) for each in EXIT_CODES])


def limits() -> str:
    """Write the limits."""
    return _table(("what", "limit"), LIMITS)


def settings() -> str:
    """Write the settings of the file, then the variables that stand in no file."""
    in_file = [
        (
            f"`{each.name}`",
            f"`{each.variable}`",
            f"`{each.default}`" if each.default else "empty",
            each.rule.allowed,
            each.help,
        )
        for each in SETTINGS
    ]
    outside = [(f"`{each.variable}`", each.help) for each in ENVIRONMENT_ONLY]
    return "\n\n".join(
        (
            _table(("setting", "variable", "default", "allowed", "what it does"), in_file),
            "In the environment alone:",
            _table(("variable", "what it does"), outside),
        )
    )


def _sections(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    if parent is not None:
        level = "##" if parent.parent is None else "###"
        yield f"{level} {path}\n\n```text\n{_help(command, context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, "a listed command is there"
            yield from _sections(found, f"{path} {name}", context)


def _help(command: click.Command, context: click.Context) -> str:
    formatter = click.HelpFormatter(width=WIDTH)
    command.format_usage(context, formatter)
    command.format_help_text(context, formatter)
    own = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        and not isinstance(parameter, EverywhereOption)
        and "--help" not in parameter.opts
        and (record := parameter.get_help_record(context)) is not None
    ]
    if own:
        with formatter.section("Options"):
            formatter.write_dl(own)
    return formatter.getvalue().rstrip()


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )
