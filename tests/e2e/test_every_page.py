"""The commands of the pages run as they stand there, one after another, each page on one home."""

import re
import shlex
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.e2e.conftest import GRAFT, SECONDS, Shell
from tests.terminals import run_on_terminal

ROOT = Path(__file__).parents[2]
TESTED_ELSEWHERE = {
    "docs/cli.md": "tests/e2e/test_every_command.py",
    "docs/docker.md": "tests/docker/test_page.py",
    "docs/metrics.md": "tests/e2e/test_metrics.py",
    "docs/operations.md": "tests/e2e/test_operations_docs.py",
    "docs/protos.md": "tests/e2e/test_protos_page.py",
    "docs/remote.md": "tests/e2e/test_remote_page.py",
    "client/README.md": "tests/e2e/test_client_readme.py",
}
NOT_RUN = {
    "make demo": "a test of its own runs the demo",
    "make test": "that is what runs",
    "pip install": ".ci/run installs the wheel with and without its extras",
    "pipx install": ".ci/run installs the wheel as a tool",
    "CMAKE_ARGS=": "takes the toolkit of a GPU",
    "graft model pull bge-m3": "a download of 635 MB; the embedder's tests fetch from a server",
    "graft reindex --model bge-m3": "the same; test_profiles_and_builds.py moves a profile",
}
COMMAND = re.compile(
    r"^    (?:\$ )?((?:graft|make|pip|pipx|sqlite3|docker|buf|CMAKE_ARGS=\S+) .*)$"
)
PICTURES = ("graft CLI ·",)
"""Lines that begin as a command would and are part of a drawing."""
EDITOR = "#!/bin/sh\nprintf '\\nA line more.\\n' >> \"$1\"\n"
WRITING = "#!/bin/sh\nprintf -- '---\\ntitle: written by hand %s\\n---\\nbody\\n' $$ > \"$1\"\n"
FAILING_BUILD = "all:\n\t@echo 'error: externally-managed-environment: pip refuses'; exit 1\n"
OLD_SCHEMA = """
CREATE TABLE nodes (id BLOB PRIMARY KEY, title TEXT, body TEXT, created_at INTEGER, state INTEGER);
CREATE TABLE keywords (id INTEGER PRIMARY KEY, text TEXT UNIQUE COLLATE NOCASE);
CREATE TABLE node_keywords (node_id BLOB, keyword_id INTEGER);
INSERT INTO nodes VALUES
  (x'01', 'The mirror is synced at four', 'By cron.', 1, 0),
  (x'02', 'The mirror is synced at two', 'By cron.', 2, 2);
INSERT INTO keywords VALUES (1, 'mirror');
INSERT INTO node_keywords VALUES (x'01', 1);
"""


def nothing(_: Shell) -> None:
    """Prepare nothing."""


def newest_note(shell: Shell) -> str:
    return str(shell.run("list", "--json").lines()[0]["id"])[-8:]


def last_receipt(shell: Shell) -> str:
    return str(shell.query("anything")["receipt"])[-8:]


def first_found(shell: Shell) -> str:
    return str(shell.run("review", "list", "--json").lines()[0]["item"])


def another_model(shell: Shell) -> str:
    (path,) = (shell.home / "models").glob("*.gguf")
    return str(path)


def save_a_pair(shell: Shell) -> None:
    """Save two notes that a scan takes for a contradiction."""
    shell.insert("The cache is flushed before each deploy")
    shell.insert("The cache is not flushed before each deploy")


def keep_an_old_file(shell: Shell) -> None:
    with sqlite3.connect(shell.directory / "old.db") as connection:
        connection.executescript(OLD_SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How the commands of a page are run.

    Attributes:
        prepare: makes what the page takes for granted.
        stands_for: what a word of the page stands for, found out before each command with it.
        typed: what a person types at commands that need a terminal.
        ends: the exit codes of commands that end with another than 0, by how they begin.
        after: looks at what has become of all that.
    """

    prepare: Callable[[Shell], object] = nothing
    stands_for: Mapping[str, Callable[[Shell], str]] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)
    after: Callable[[Shell], object] = nothing


def has_what_was_in_use(shell: Shell) -> None:
    (note,) = shell.run("list", "--scope", "user", "--json").lines()
    assert (note["title"], note["keywords"]) == ("The mirror is synced at four", ["mirror"])


PAGES = {
    "README.md": Page(
        stands_for={
            "7f3a9c21": newest_note,
            "5b0c77e1": last_receipt,
            "path/to/any-embedding-model.gguf": another_model,
        },
        typed={"graft ask": "\x1b", "graft setup": "y\n", "graft delete": "yes\n"},
        ends={"graft ask": 1},  # nothing was chosen
    ),
    "docs/agents.md": Page(typed={"graft setup": "y\n"}),
    "docs/applicability.md": Page(),
    "docs/comparison.md": Page(prepare=keep_an_old_file, after=has_what_was_in_use),
    "docs/explain.md": Page(
        prepare=lambda shell: shell.query("what nobody knows"),
        typed={"graft misses --clear": "yes\n"},
    ),
    "docs/markdown.md": Page(
        prepare=lambda shell: shell.insert("a note"),
        stands_for={"1f3a9c04": newest_note},
        typed={"graft edit": "because\n"},
    ),
    "docs/quickstart.md": Page(stands_for={"7f3a9c21": newest_note}),
    "docs/upkeep.md": Page(prepare=save_a_pair, stands_for={" 12 ": first_found}),
}


def commands(page: str) -> list[str]:
    """Return the commands of a page, up to a section that a test of its own walks through."""
    found: list[str] = []
    going_on = False
    text = (ROOT / page).read_text("utf-8").partition("\n## Ten minutes\n")[0]
    for line in text.splitlines():
        if going_on:
            found[-1] += f"\n{line}"
        elif (match := COMMAND.match(line)) and not match[1].startswith(PICTURES):
            found.append(match[1])
        else:
            continue
        going_on = line.endswith("\\")
    return found


def with_person(shell: Shell) -> Shell:
    """Give a shell of somebody who has a home of their own, an agent, an editor and a build."""
    person = shell.directory.parent / "person"
    (person / ".claude").mkdir(parents=True)
    (shell.directory / "Makefile").write_text(FAILING_BUILD)
    for name, text in (("editor", EDITOR), ("writer", WRITING)):
        (person / name).write_text(text)
        (person / name).chmod(0o755)
    around = {"HOME": str(person), "PATH": f"{GRAFT.parent}:/usr/bin:/bin", "PAGER": "cat"}
    return replace(shell, environ=around)


def run(shell: Shell, command: str, page: Page) -> tuple[int, str]:
    """Run a command as a person would; return its exit code and what it said."""
    writer = "writer" if command.startswith("graft note") else "editor"
    environment = {**shell.environment(), "EDITOR": f"{shell.environ['HOME']}/{writer}"}
    for beginning, typed in page.typed.items():
        if command.startswith(beginning):
            words = shlex.split(command, comments=True)[1:]
            return run_on_terminal(*words, at=shell.directory, around=environment, typed=typed)
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=shell.directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def unwanted(page: str) -> Iterator[str]:
    return (each for each in commands(page) if each.startswith(tuple(NOT_RUN)))


def test_every_page_with_commands_is_run_by_a_test() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "client").glob("*.md")]
    names = {str(path.relative_to(ROOT)) for path in pages}

    assert {each for each in names if commands(each)} <= {*PAGES, *TESTED_ELSEWHERE}
    assert {each for each in TESTED_ELSEWHERE.values() if not (ROOT / each).is_file()} == set()


def test_nothing_is_left_out_that_no_page_names() -> None:
    left_out = [each for page in PAGES for each in unwanted(page)]

    assert {
        each for each in NOT_RUN if not any(line.startswith(each) for line in left_out)
    } == set()


@pytest.mark.model
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_the_page_runs(shell: Shell, name: str) -> None:
    page, person = PAGES[name], with_person(shell)
    page.prepare(person)
    left_out = set(unwanted(name))
    ran = 0

    for command in commands(name):
        if command in left_out:
            continue
        line = command
        for word, find in page.stands_for.items():
            if word in line:
                real = find(person)
                line = line.replace(word, f" {real} " if word.startswith(" ") else real)
        code, said = run(person, line, page)
        wanted = [code for begins, code in page.ends.items() if command.startswith(begins)]
        assert [code] == (wanted or [0]), (line, said)
        ran += 1

    page.after(person)
    assert ran
