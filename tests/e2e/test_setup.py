"""`graft setup` as a person runs it, with six agents in a home directory."""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Finished, Shell
from tests.terminals import run_on_terminal

AGENTS = {"claude-code", "codex", "opencode", "cursor", "gemini", "vscode"}
CODE = "Library/Application Support/Code/User" if sys.platform == "darwin" else ".config/Code/User"
FOLDERS = (".claude", ".codex", ".config/opencode", ".cursor", ".gemini", CODE)


@pytest.fixture
def person(tmp_path: Path) -> Shell:
    """Somebody with all six agents, in a repository."""
    home = tmp_path / "person"
    for folder in FOLDERS:
        (home / folder).mkdir(parents=True)
    work = home / "src/app"
    (work / ".git").mkdir(parents=True)
    (work / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (work / ".git/objects").mkdir()
    (work / ".git/refs").mkdir()
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "GRAFT_HOME": str(home / ".graft")}
    return Shell(home=home / ".graft", directory=work, environ=environ)


def files(shell: Shell) -> dict[str, bytes]:
    root = Path(shell.environ["HOME"])
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".graft" not in path.parts
    }


def by_agent(finished: Finished) -> dict[str, Any]:
    return {each["agent"]: each for each in finished.lines()}


def test_six_agents_are_set_up_again_and_taken_out(person: Shell) -> None:
    config = Path(person.environ["HOME"]) / ".codex/config.toml"
    config.write_text('model = "gpt-5" # fast\n')
    before = files(person)

    shown = by_agent(person.run("setup", "--dry-run", "--json"))
    assert shown.keys() == AGENTS
    assert files(person) == before
    assert not person.home.exists()

    done = person.run("setup", "--yes")
    assert done.status == 0, done.err
    added = files(person)
    server = tomllib.loads(config.read_text())["mcp_servers"]["graft"]
    assert Path(server["command"]).is_absolute()
    assert json.loads(added[f"{CODE}/mcp.json"])["servers"]["graft"]["args"] == [
        "mcp",
        "--workspace",
        "${workspaceFolder}",
    ]

    again = person.run("setup", "--yes")
    assert again.out.count("it is as it should be") == len(AGENTS)
    assert files(person) == added

    removed = person.run("setup", "--remove", "--yes")
    assert removed.status == 0, removed.err
    assert files(person) == before


def test_the_server_that_is_written_answers(person: Shell) -> None:
    assert person.run("setup", "claude-code", "--yes").status == 0
    root = Path(person.environ["HOME"])
    entry = json.loads((root / ".claude.json").read_text())["mcpServers"]["graft"]

    done = person.run(*entry["args"], "--help")

    assert done.status == 0
    assert "Serve a coding agent" in done.out


def test_without_a_terminal_nothing_is_written_unasked(person: Shell) -> None:
    before = files(person)

    refused = person.run("setup")
    as_json = person.run("setup", "--json")

    assert (refused.status, as_json.status) == (2, 2)
    assert "add --yes to mean it" in refused.err
    assert "--yes" in json.loads(as_json.err)["message"]
    assert files(person) == before


@pytest.mark.parametrize(("typed", "status"), [("n\n", 1), ("y\n", 0)])
def test_on_a_terminal_it_asks(person: Shell, typed: str, status: int) -> None:
    code, screen = run_on_terminal(
        "setup", "gemini", at=person.directory, around=person.environment(), typed=typed
    )

    assert code == status
    assert "Write this for gemini?" in screen
    assert (".gemini/settings.json" in files(person)) == (status == 0)


def test_a_damaged_file_stops_its_agent_alone(person: Shell) -> None:
    path = Path(person.environ["HOME"]) / ".gemini/settings.json"
    path.write_text('{"a": }')

    done = person.run("setup", "gemini", "codex", "--yes")

    assert done.status == 1
    assert f"{path} cannot be read, line 1, column 7: expected a value" in done.out
    assert "nothing was written for gemini" in done.err
    assert path.read_text() == '{"a": }'
    assert ".codex/config.toml" in files(person)


def test_a_repository_gets_files_that_others_can_use(person: Shell) -> None:
    done = person.run("setup", "--project", "--yes", "--profile", "work")

    assert done.status == 0, done.err
    servers = json.loads((person.directory / ".mcp.json").read_text())["mcpServers"]
    assert servers["graft"]["command"] == "graft"
    assert servers["graft"]["args"] == ["mcp", "--profile", "work"]
    assert (person.directory / ".agents/skills/graft-memory/SKILL.md").is_file()
    assert not (Path(person.environ["HOME"]) / ".claude.json").exists()


def test_who_had_nothing_is_not_taken_anything_out_of(person: Shell) -> None:
    before = files(person)
    person.run("setup", "codex", "cursor", "--yes")

    shown = person.run("setup", "--remove", "--yes")

    told = dict(line.split(": ", 1) for line in shown.out.splitlines() if line[:1] != " ")
    nothing = {name for name, what in told.items() if what.startswith("nothing to do")}
    assert nothing == AGENTS - {"codex", "cursor"}
    assert "codex is done" in shown.err
    assert "gemini is done" not in shown.err
    assert files(person) == before


def test_another_home_and_profile_are_taken_along(person: Shell, tmp_path: Path) -> None:
    home = tmp_path / "other home"

    done = person.run("setup", "codex", "--yes", "--home", str(home), "--profile", "work")

    assert done.status == 0, done.err
    config = Path(person.environ["HOME"]) / ".codex/config.toml"
    server = tomllib.loads(config.read_text())["mcp_servers"]["graft"]
    assert server["args"] == ["mcp", "--home", str(home), "--profile", "work"]
    hooks = json.loads((Path(person.environ["HOME"]) / ".codex/hooks.json").read_text())["hooks"]
    (prompt,) = hooks["UserPromptSubmit"][0]["hooks"]
    program, *words = shlex.split(prompt["command"])
    assert words == [
        *("hook", "prompt", "--agent", "codex"),
        *("--home", str(home), "--profile", "work"),
    ]
    # An agent that runs what is not there may take that for a refusal of the prompt.
    ran = subprocess.run([program, *words], input=b"{}", capture_output=True, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_a_plugin_is_written_and_taken_away(person: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"

    done = person.run("setup", "--plugin", str(folder), "--yes")
    assert done.status == 0, done.err
    assert f"/plugin marketplace add {folder}" in done.err
    assert (folder / "graft/skills/graft-memory/SKILL.md").is_file()

    assert person.run("setup", "--plugin", str(folder), "--remove", "--yes").status == 0
    assert not folder.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nano",), "'nano' is not one of"),
        (("codex", "--plugin", "p"), "--plugin goes with neither an agent nor --project"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    person: Shell, arguments: tuple[str, ...], message: str
) -> None:
    done = person.run("setup", *arguments)

    assert done.status == 2
    assert message in done.err


def test_where_there_is_nothing_to_write_to_it_says_so(person: Shell, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    around = {**person.environ, "HOME": str(empty), "GRAFT_HOME": str(empty / ".graft")}
    nobody = Shell(home=person.home, directory=empty, environ=around)

    assert "no coding agent was found" in nobody.run("setup").err
    assert nobody.run("setup", "--project").status == 2
    assert nobody.run("setup", "--remove").status == 0
