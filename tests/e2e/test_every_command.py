"""Every command there is: with --json it prints objects and nothing else; tables fit a terminal."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import click
import pytest
from rich.cells import cell_len
from tests.e2e.conftest import Finished, Shell
from tests.terminals import run_on_terminal

from graft_client.cli.app import graft

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

BECAUSE = ("--reason", "r")
COLUMNS = 40
COLOR = re.compile(r"\x1b\[[0-9;]*m")

# In this order on one memory. A name in braces is a note that the test has saved; "!" before a
# command: it is refused here, and says so in JSON as well.
STEPS = """
start
status
token create one --all-scopes
token list
token revoke one --yes
undo {event}
insert --title one --body b --keyword k --source url:https://x
query one
retrieve one
explore one
classify --title one
misses
analytics
list
get {a}
open {a}
note
edit {a} --reason r
set {b} --keyword +n
sources list
sources add {b} url:https://y --reason r
sources diff
sources refresh {b}
supersede {c} --by {d} --reason r
dispute {d} --reason r
mark-stale {e} --reason r
retire {e} --reason r
restore {e} --reason r
reject {f} --reason r
verify {b} --run true
delete {g} --reason r --yes
scope current
scope list
scope move team:a team:b --reason r --yes
stats
log
explain {receipt}
maintain status
maintain scan
maintain log
maintain apply-safe
!maintain resolve 9999 --decision approve --reason r
consolidate
export-md out
import-md out
review list
!review show 9999
!review approve 9999 --reason r
!review reject 9999 --reason r
!review keep-both 9999 --reason r
!review supersede 9999 --reason r
reviewer status
!reviewer init
profile list
profile current
profile add other
backup create b.graft-backup
!backup create b.graft-backup
backup verify b.graft-backup
backup restore b.graft-backup --profile restored
reindex
model list
!model use no-such-model
!model pull no-such-model
config show
config check
config path
completion bash
man pages
doctor
doctor --repair
service install --dry-run
service status
service remove
project mark one --state open
project status
project reset --yes
setup claude-code --dry-run --project
!setup
!ask
demo
stop
"""
NO_JSON = {
    "hook": "its standard output is what the agent reads, in the agent's own form",
    "mcp": "its standard output is the protocol's, which is JSON of another kind",
}

TABLES = """
list
retrieve one
classify --title one
misses
sources list
sources diff
scope list
stats
log
maintain status
maintain scan
maintain log
project mark one
profile list
config show
"""
"""What explain, doctor and status say besides stands in lines, which a terminal breaks."""


def leaves(group: click.Group, path: str = "") -> Iterator[str]:
    """Name every command below *group*."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = f"{path} {name}".strip()
        if isinstance(command, click.Group):
            yield from leaves(command, below)
        else:
            yield below


def arguments_of(line: str, names: dict[str, str]) -> list[str]:
    return [each.format_map(names) for each in line.lstrip("!").split()]


@pytest.fixture
def names(shell: Shell) -> dict[str, str]:
    """Save notes, ask something, and name them."""
    subprocess.run(["git", "init", "--quiet", shell.directory], check=True)
    titles = {
        "a": "how the quay crane is oiled every second Tuesday",
        "b": "where the harbour's spare fuses lie",
        "c": "the lighthouse signals twice",
        "d": "the lighthouse signals three times",
        "e": "tide tables are printed on yellow paper",
        "f": "the ferry is blue",
        "g": "the cargo manifest is kept by the purser",
    }
    saved = {name: shell.insert(title, "Body.")["id"] for name, title in titles.items()}
    shell.run("insert", "--title", "of a team", "--scope", "team:a")
    disputed = shell.run("dispute", saved["b"], *BECAUSE, "--json").json()
    return {
        **saved,
        "event": str(disputed["event"]),
        "receipt": shell.query("how do I prune an apple tree")["receipt"],
    }


def read(text: str) -> dict[str, object]:
    """Read one object; what is none is empty."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def problems(line: str, done: Finished) -> Iterator[str]:
    """Say what of an outcome is no JSON, or not what was expected."""
    refused = line.startswith("!")
    if (done.status != 0) is not refused:
        yield f"{line}: ended with {done.status}: {done.err}"
    yield from (
        f"{line}: printed {each[:80]!r}" for each in done.out.splitlines() if not read(each)
    )
    told = set(read(done.err)) if refused else set()
    if (told != {"reason", "message", "details"}) if refused else done.err:
        yield f"{line}: said {done.err[:200]!r}"


def test_no_command_is_forgotten_here() -> None:
    commands = set(leaves(graft))
    steps = [line.lstrip("!") for line in STEPS.split("\n") if line]

    tried = {each for each in commands for line in steps if f"{line} ".startswith(f"{each} ")}

    assert commands - tried == set(NO_JSON)


def test_every_command_prints_objects_and_nothing_else(shell: Shell, names: dict[str, str]) -> None:
    script = shell.directory / "editor.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n"
        "text = path.read_text().replace('title:', 'title: newly', 1)\npath.write_text(text)\n"
    )
    home = shell.directory / "person"
    home.mkdir()
    environ = {"EDITOR": f"{sys.executable} {script}", "HOME": str(home)}
    person = replace(shell, environ=environ)
    found: list[str] = []

    for line in filter(None, STEPS.split("\n")):
        done = person.run(*arguments_of(line, names), "--json")
        found += problems(line, done)

    if found:
        pytest.fail("\n".join(found))


def test_no_table_is_wider_than_the_terminal(shell: Shell, names: dict[str, str]) -> None:
    shell.insert(
        "wide 漢字 " * 20, "b", "--keyword", "k" * 100, "--source", "url:https://x/" + "y" * 90
    )
    shell.insert("one", "b", "--applies-to", "npm:react@^18")
    around = {**shell.environment(), "COLUMNS": str(COLUMNS)}
    wide = []

    for line in filter(None, TABLES.split("\n")):
        arguments = (*arguments_of(line, names), "--quiet")
        code, screen = run_on_terminal(*arguments, at=shell.directory, around=around)
        assert code == 0, screen
        shown = COLOR.sub("", screen).split("\r\n")
        wide += [f"{line}: {each}" for each in shown if cell_len(each) > COLUMNS]

    if wide:
        pytest.fail("\n".join(wide))


def test_no_color_and_a_dumb_terminal_get_no_colours(shell: Shell, names: dict[str, str]) -> None:
    for line in ("list", "log", "query crane", "status", "doctor", "open {a}", "export-md out"):
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            around = {**shell.environment(), "PAGER": "cat", **plain}
            arguments = (*arguments_of(line, names), "--quiet")
            _, screen = run_on_terminal(*arguments, at=shell.directory, around=around)

            assert "\x1b" not in screen, (line, plain)
