"""Every example that a command's help shows is one that the command line takes."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from graft_client.cli.app import graft

APART = re.compile(r"\s(?:\||&&|>)\s")


def commands_below(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield f"{path} {name}", found
        if isinstance(found, click.Group):
            yield from commands_below(found, f"{path} {name}")


def examples(help_text: str) -> list[str]:
    """Return the commands of ours in a help's example, without what is before and after a pipe."""
    shown = help_text.partition("Example:\n")[2].replace("\b\n", "").replace("\\\n", " ")
    parts = (part.strip() for line in shown.splitlines() for part in APART.split(line))
    return [each for each in parts if each.startswith("graft ")]


def parse(words: list[str]) -> None:
    """Read *words* as the command line would, and run nothing."""
    command: click.Command = graft
    context, left = click.Context(command), words
    while isinstance(command, click.Group) and left:
        name, found, left = command.resolve_command(context, left)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    command.make_context(command.name, left, parent=context.parent)


EXAMPLES = [
    (name, each)
    for name, command in commands_below(graft, "graft")
    for each in examples(command.help or "")
]


def test_there_are_examples_and_what_nobody_takes_is_noticed() -> None:
    assert len(EXAMPLES) > 50
    with pytest.raises(click.UsageError):
        parse(["query", "x", "--no-such-option"])


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=lambda each: each[:50])
def test_an_example_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    (tmp_path / "notes").mkdir()  # what there must be for one of them
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)

    assert line.startswith(name), f"an example of {name} is of another command"
    parse(words[1:])
