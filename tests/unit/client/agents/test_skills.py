"""Skills name only tools, arguments, commands and options that exist."""

import itertools
import re
import shlex
from collections.abc import Iterator

import click
import pytest

from graft_client.agents.skills import skill_texts
from graft_client.cli.app import graft
from graft_client.mcp.catalogue import CATALOGUE
from graft_client.mcp.protocol import tool_of

SKILLS = skill_texts()
NAMES = ("graft-audit", "graft-capture-error", "graft-learn", "graft-memory", "graft-review")
DESCRIPTION_CHARS_MAX = 1_024
"""What Claude Code and Codex take."""
LINES_MAX = 70
_SPAN = re.compile(r"`([^`]+)`")
_CALL = re.compile(r"([a-z_]+)\(([^)]*)\)")


def spans(text: str) -> Iterator[str]:
    for match in _SPAN.finditer(text):
        yield " ".join(match[1].split())


def command_lines(text: str) -> list[list[str]]:
    return [shlex.split(each) for each in spans(text) if each.split()[0] == "graft"]


def calls(text: str) -> list[tuple[str, list[str]]]:
    found = (_CALL.fullmatch(each) for each in spans(text))
    return [(each[1], each[2].replace(" ", "").split(",")) for each in found if each]


def check_line(words: list[str]) -> None:
    """Walk down to the command and look at each of its options."""
    command: click.Command = graft
    context, rest = click.Context(graft), words[1:]
    while rest and isinstance(command, click.Group):
        found = command.get_command(context, rest[0])
        if found is None:
            break
        command, rest = found, rest[1:]
        context = click.Context(command, parent=context)
    assert not isinstance(command, click.Group) or not rest, words
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    choices = {
        name: each.type.choices
        for each in command.params
        for name in each.opts
        if isinstance(each.type, click.Choice)
    }
    for word, after in itertools.zip_longest(rest, rest[1:], fillvalue=""):
        if word.startswith("-") and word != "-":
            assert word in options, words
            assert after in choices.get(word, [after]), words


def test_the_skills_are_those_that_are_meant() -> None:
    assert tuple(sorted(SKILLS)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_says_what_it_is_for_and_is_short(name: str) -> None:
    head, _, body = SKILLS[name].removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())

    assert fields.keys() == {"name", "description"}
    assert fields["name"] == name
    assert 0 < len(fields["description"]) <= DESCRIPTION_CHARS_MAX
    assert body.count("\n") <= LINES_MAX
    assert body.isascii() or "…" in body


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_names_commands_and_options_that_exist(name: str) -> None:
    lines = command_lines(SKILLS[name])

    assert lines
    for words in lines:
        check_line(words)


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_names_tools_and_arguments_that_exist(name: str) -> None:
    told = (tool_of(each).model_dump(mode="json", by_alias=True) for each in CATALOGUE)
    tools = {each["name"]: each["inputSchema"]["properties"].keys() for each in told}
    found = calls(SKILLS[name])

    assert found or name == "graft-review"
    for tool, arguments in found:
        assert tool in tools, tool
        assert set(arguments) - {""} <= tools[tool], (tool, arguments)


@pytest.mark.parametrize(
    "line", ["graft nothing", "graft insert --no-such-flag", "graft review nothing 1"]
)
def test_a_wrong_name_would_be_noticed(line: str) -> None:
    with pytest.raises(AssertionError):
        check_line(line.split())


def test_no_skill_tells_an_agent_to_delete_or_to_take_a_reviewer_s_place() -> None:
    for text in SKILLS.values():
        verbs = {words[1] for words in command_lines(text) if len(words) > 1}
        assert "delete" not in verbs
