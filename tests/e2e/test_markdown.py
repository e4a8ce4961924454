"""Notes leave one memory as Markdown files and come into another: nothing is lost on the way."""

import json
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell, make_home, stop
from tests.terminals import run_on_terminal

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

BODIES = {
    "pip: fails # behind the proxy": "Set `PIP_CERT`.\n\n---\n\n- a rule above\n",
    "no": "\r\nleading break, and none at the end",
    "日本語 / a title: with “quotes” \U0001f980": "  indented\n\n\n",
    "same title": "one",
    "Same TITLE": "other",
    "🦀": "",
}


@pytest.fixture
def other(shell: Shell, tmp_path: Path, models_dir: Path) -> Iterator[Shell]:
    """A shell at the same place on another, empty memory."""
    other = Shell(home=make_home(tmp_path / "other", models_dir), directory=shell.directory)
    yield other
    stop(other)


def texts(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.glob("*.md")}


def save_all(shell: Shell) -> None:
    subprocess.run(["git", "init", "--quiet", shell.directory], check=True)
    (shell.directory / "app.py").write_text("print()\n")
    for title, body in BODIES.items():
        shell.insert(title, body, "--keyword", "b", "--keyword", "a", "--source", "file:app.py")
    fields = (
        "--kind",
        "dead-end",
        "--author",
        "me",
        "--scope",
        "user",
        "--source",
        "url:https://x",
    )
    times = ("--valid-from", "2020-01-01T00:00:00Z", "--expires-at", "2100-01-01T00:00:00+09:00")
    shell.insert("all fields", "b", "--applies-to", "npm:react@^18", *fields, *times)


def test_what_was_exported_is_imported_and_exported_the_same(shell: Shell, other: Shell) -> None:
    save_all(shell)

    went = shell.run("export-md", "out", "--json")
    came = other.run("import-md", "out", "--json")
    back = other.run("export-md", "back", "--json")
    again = other.run("import-md", "back", "--json")
    third = other.run("export-md", "back", "--json")

    assert [each["outcome"] for each in went.lines()] == ["written"] * 7
    assert [each["outcome"] for each in came.lines()] == ["imported"] * 7
    assert [each["trust"] for each in came.lines()] == ["candidate"] * 7
    assert [each["outcome"] for each in back.lines()] == ["written"] * 7
    assert texts(shell.directory / "out") == texts(shell.directory / "back")
    assert {(each["outcome"], each["event"]) for each in again.lines()} == {("duplicate", None)}
    assert {each["outcome"] for each in third.lines()} == {"unchanged"}
    note = other.run("get", came.lines()[0]["id"], "--json").json()
    assert note["uses"] == {"strong": 0, "got": 0, "last_used": None}
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (shell.directory / "out").iterdir()}
    assert modes == {0o600}


def test_a_rejected_text_does_not_come_back_with_a_file_and_stops_no_other(shell: Shell) -> None:
    wrong = shell.insert("the port is 8080", "It is 8080.")
    shell.insert("the port is open", "It is.")
    shell.run("export-md", "out")
    shell.run("reject", wrong["id"], "--reason", "it is 9090")
    (shell.directory / "out" / "new.md").write_text("# A new one\n")

    done = shell.run("import-md", "out", "--json")

    outcomes = {
        record["file"].rpartition("-")[0] or "new": (record["outcome"], record.get("reason"))
        for record in map(json.loads, done.out.splitlines())
    }
    assert done.status == 1
    assert outcomes == {
        "the-port-is-8080": ("refused", "REJECTED_TEXT"),
        "the-port-is-open": ("duplicate", None),
        "new": ("imported", None),
    }
    assert shell.query("A new one")["hit"] == "WEAK"


def test_a_person_sees_how_far_it_is(shell: Shell) -> None:
    (shell.directory / "notes").mkdir()
    for number in range(3):
        (shell.directory / "notes" / f"{number}.md").write_text(f"# note {number}\n")

    around = shell.environment()
    code, screen = run_on_terminal("import-md", "notes", at=shell.directory, around=around)
    piped = shell.run("export-md", "out", "--quiet")

    assert code == 0
    assert "graft: importing ━━━━━━━━" in screen
    assert "100%" in screen
    assert screen.count("imported") >= 3
    assert piped.err == ""
    assert "\x1b" not in piped.out
