"""The ten minutes of docs/agents.md, line by line, as a new user has them."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import GRAFT, SECONDS, Shell
from tests.e2e.test_scopes import repository

PAGE = Path(__file__).parents[2] / "docs/agents.md"
INDENT = "    "
PROMPT = "$ "
ANYTHING = "…"
_SAVED = re.compile(r"^saved ([0-9a-f]{8}) ")

Step = tuple[str, list[str]]


def steps(text: str) -> Iterator[Step]:
    """Yield each command of the section with the lines that it should print."""
    section = text.partition("\n## Ten minutes\n")[2].partition("\n## ")[0]
    command: str | None = None
    shown: list[str] = []
    indented = (each for each in section.splitlines() if each.startswith(INDENT))
    for line in (each.removeprefix(INDENT) for each in indented):
        if line.startswith(PROMPT):
            if command is not None:
                yield command, shown
            command, shown = line.removeprefix(PROMPT), []
        elif command is not None and command.endswith("\\"):
            command += f"\n{line}"
        else:
            shown.append(line)
    assert command is not None
    yield command, shown


def fits(printed: str, shown: list[str]) -> bool:
    """Tell whether *printed* is what is *shown*, where ``…`` stands for anything."""
    pattern = ".*".join(map(re.escape, "\n".join(shown).split(ANYTHING)))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


@pytest.mark.parametrize(
    ("printed", "shown", "fitting"),
    [
        ("a 1 b\n", ["a … b"], True),
        ("a 1 c\n", ["a … b"], False),
        ("", [], True),
        ("x", [], False),
        ("a\nb\n", ["a", "…"], True),
        ("b\n", ["a", "…"], False),
    ],
)
def test_what_differs_is_noticed(printed: str, shown: list[str], *, fitting: bool) -> None:
    assert fits(printed, shown) is fitting


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_new_user_s_ten_minutes_go_as_written(shell: Shell, tmp_path: Path) -> None:
    person = tmp_path / "person"
    (person / ".claude").mkdir(parents=True)
    work = replace(shell, directory=repository(tmp_path / "app"))
    environment = {
        **work.environment(),
        "HOME": str(person),
        "PATH": f"{GRAFT.parent}:/usr/bin:/bin",
    }
    found = list(steps(PAGE.read_text("utf-8")))
    ids: dict[str, str] = {}

    for command, shown in found:
        line = command
        for written, real in ids.items():
            line = line.replace(written, real)
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=work.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        saved = [_SAVED.match(each) for each in (done.stdout, *shown[:1])]
        if all(saved) and len(saved) == 2:
            real, written = (each[1] for each in saved if each)
            ids[written] = real
        expected = [each if not ids else _replaced(each, ids) for each in shown]
        assert done.returncode == 0, (line, done.stderr)
        assert fits(done.stdout, expected), (line, done.stdout, done.stderr)

    assert len(found) > 10
    assert ids


def _replaced(text: str, ids: dict[str, str]) -> str:
    for written, real in ids.items():
        text = text.replace(written, real)
    return text
