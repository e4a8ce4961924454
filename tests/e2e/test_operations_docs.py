"""The commands of docs/operations.md do what the page says, one after another on one home."""

import shlex
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

ROOT = Path(__file__).parents[2]


def commands() -> list[list[str]]:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    lines = [line.removeprefix("    ") for line in page.splitlines() if line.startswith("    ")]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_every_command_of_the_page_runs(shell: Shell) -> None:
    shell.insert("a note to keep", "with a body")
    found = commands()

    failed = []
    for program, *arguments in found:
        assert program == "graft", program
        done = shell.run(*arguments)
        if done.status != 0:
            failed.append((arguments, done.status, done.out, done.err))

    assert failed == []
    assert len(found) >= 5
