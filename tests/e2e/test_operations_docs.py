"""The commands of docs/operations.md do what the page says, one after another on one home."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

ROOT = Path(__file__).parents[2]


MANAGER = """#!/bin/sh
case "$*" in *is-active*) echo active;; esac
"""


def with_manager(shell: Shell) -> Shell:
    """Give a shell whose person has folders of their own, and a manager that says yes."""
    person = shell.directory.parent / "person"
    (person / "bin").mkdir(parents=True)
    for name in ("systemctl", "launchctl"):
        (person / "bin" / name).write_text(MANAGER)
        (person / "bin" / name).chmod(0o755)
    path = f"{person / 'bin'}:{shell.environment()['PATH']}"
    return replace(shell, environ={"HOME": str(person), "XDG_CONFIG_HOME": "", "PATH": path})


def commands() -> list[list[str]]:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    lines = [line.removeprefix("    ") for line in page.splitlines() if line.startswith("    ")]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_every_command_of_the_page_runs(shell: Shell) -> None:
    person = with_manager(shell)
    person.insert("a note to keep", "with a body")
    found = commands()

    failed = []
    for program, *arguments in found:
        assert program == "graft", program
        done = person.run(*arguments)
        if done.status != 0:
            failed.append((arguments, done.status, done.out, done.err))

    assert failed == []
    assert len(found) >= 5
