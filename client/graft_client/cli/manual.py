"""Manual pages, written from the commands themselves so that they cannot drift."""

from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from typing import NamedTuple

import click

from graft.wire.build import version_text
from graft.wire.setting_list import SETTINGS
from graft_client.cli.exits import EXIT_CODES
from graft_client.cli.options import EverywhereOption, everywhere_options
from graft_client.settings import ENVIRONMENT_ONLY

SECTION = 1
_VERBATIM = "\b"
_EXAMPLES = ("Example:", "Examples:")


class Page(NamedTuple):
    """One manual page."""

    name: str
    text: str


def pages(root: click.Command, name: str) -> Iterator[Page]:
    """Write a page for *root* and one for every command below it."""
    waiting = [(root, click.Context(root, info_name=name))]
    while waiting:
        command, context = waiting.pop(0)
        children = [] if not isinstance(command, click.Group) else _children(command, context)
        yield Page(_page_name(context), "\n".join(_lines(command, context, children)) + "\n")
        waiting += children


def _children(
    group: click.Group, context: click.Context
) -> list[tuple[click.Command, click.Context]]:
    found = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    return [
        (command, click.Context(command, info_name=name, parent=context))
        for name, command in found
        if command is not None
    ]


def _lines(
    command: click.Command,
    context: click.Context,
    children: Sequence[tuple[click.Command, click.Context]],
) -> Iterator[str]:
    name = _page_name(context)
    yield f'.TH "{_escaped(name.upper())}" {SECTION} "" "graft {version_text()}" "Graft"'
    yield ".SH NAME"
    yield f"{_escaped(name)} \\- {_escaped(_short(command))}"
    yield ".SH SYNOPSIS"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{_escaped(context.command_path)}\\fR {_escaped(usage)}"
    yield from _description(command.help or "")
    yield from _options("OPTIONS", _records(command.get_params(context), context, everywhere=False))
    if children:
        yield from _options(
            "COMMANDS", [(_page_name(each), _short(child)) for child, each in children]
        )
    yield from _options(
        "OPTIONS OF ALL COMMANDS", _records(everywhere_options(), context, everywhere=True)
    )
    if context.parent is None:
        settings = [(each.variable, each.help) for each in (*SETTINGS, *ENVIRONMENT_ONLY)]
        yield from _options("ENVIRONMENT", settings)
    codes = [(str(each.code), each.meaning.replace("`", "")) for each in EXIT_CODES]
    yield from _options("EXIT STATUS", codes)
    if context.parent is not None:
        yield ".SH SEE ALSO"
        yield f"\\fB{_escaped(_page_name(context.parent))}\\fR({SECTION})"


def _description(help_text: str) -> Iterator[str]:
    """Write what the help says; what it shows as it stands, such as an example, stays so."""
    yield ".SH DESCRIPTION"
    for paragraph in cleandoc(help_text).split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if lines[0] != _VERBATIM:
            yield ".PP"
            yield _escaped(" ".join(line.strip() for line in lines))
            continue
        if lines[1] in _EXAMPLES:
            yield ".SH EXAMPLES"
        yield ".nf"
        yield from (_escaped(line.strip()) for line in lines[1:] if line not in _EXAMPLES)
        yield ".fi"


def _records(
    parameters: Iterable[click.Parameter], context: click.Context, *, everywhere: bool
) -> list[tuple[str, str]]:
    return [
        record
        for each in parameters
        if isinstance(each, click.Option)
        and isinstance(each, EverywhereOption) is everywhere
        and (record := each.get_help_record(context)) is not None
    ]


def _options(title: str, records: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f".SH {title}"
    for name, words in records:
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _escaped(" ".join(words.split()))


def _short(command: click.Command) -> str:
    """Give the first sentence of a command's help, as a phrase."""
    sentence = cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ").strip()
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _page_name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _escaped(text: str) -> str:
    """Write *text* so that roff shows it as it stands."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown
