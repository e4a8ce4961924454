"""How far a project is learned outlives sessions, moves with the repository, and is never lost."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command

from graft_client.learning import (
    REMARK_CHARS_MAX,
    TOPIC_CHARS_MAX,
    TOPICS_MAX,
    LearningFile,
)
from graft_client.settings import configure

REMOTE = '[remote "origin"]\n\turl = git@example.org:shop/app.git\n'


@pytest.fixture(autouse=True)
def repository(place: Path) -> Path:
    """A repository, which is the working directory of commands."""
    git = place / ".git"
    for folder in ("objects", "refs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("")
    return place


def only_file(home: Path) -> Path:
    (file,) = (home / "projects/default").glob("*.json")
    return file


def test_topics_are_kept_in_order_with_their_state_and_the_next_one(
    command: Command, repository: Path, home: Path
) -> None:
    assert command("project", "status", "--json").json()["next"] is None

    command("project", "mark", "how it is built", "how  it is\ndeployed", "data", "--state", "open")
    command("project", "mark", "how it is built", "--remark", "make does it")
    command("project", "mark", "data", "--state", "skipped")
    shown = command("project", "status", "--json").json()

    assert shown["scope"] == f"project:{repository.resolve()}"
    assert [(each["name"], each["state"]) for each in shown["topics"]] == [
        ("how it is built", "done"),
        ("how it is deployed", "open"),
        ("data", "skipped"),
    ]
    assert shown["topics"][0]["remark"] == "make does it"
    assert (shown["open"], shown["done"], shown["skipped"]) == (1, 1, 1)
    assert shown["next"] == "how it is deployed"
    assert only_file(home).stat().st_mode & 0o777 == 0o600
    assert only_file(home).parent.stat().st_mode & 0o777 == 0o700


def test_a_remark_stays_until_another_one_is_given(command: Command) -> None:
    command("project", "mark", "data", "--state", "open", "--remark", "read up to models.py")

    kept = command("project", "mark", "data", "--json").json()
    cleared = command("project", "mark", "data", "--remark", "", "--json").json()

    assert kept["topics"][0]["remark"] == "read up to models.py"
    assert cleared["topics"][0]["remark"] == ""


def test_people_see_a_table_and_what_is_next(command: Command) -> None:
    assert "nothing is marked" in command("project", "status").out

    command("project", "mark", "how it is built")
    command("project", "mark", "deploy \x1b[31mred", "--state", "open")
    shown = command("project", "mark", "deployment", "--state", "open")

    assert "how it is built" in shown.out
    assert shown.out.splitlines()[-2:] == ["1 of 2 topics done", "next: deployment"]


def test_a_topic_can_be_dropped_and_an_unknown_one_cannot(command: Command) -> None:
    command("project", "mark", "a", "b")

    left = command("project", "mark", "a", "--state", "dropped", "--json").json()
    refused = command("project", "mark", "c", "--state", "dropped")

    assert [each["name"] for each in left["topics"]] == ["b"]
    assert refused.code == 2
    assert "'c'" in refused.err


def test_progress_moves_along_when_the_repository_gets_a_remote(
    command: Command, repository: Path, home: Path
) -> None:
    command("project", "mark", "before")
    (repository / ".git/config").write_text(REMOTE)
    there = command("project", "status", "--json").json()

    command("project", "mark", "after")

    content = json.loads(only_file(home).read_text())
    assert there["scope"] == "project:example.org/shop/app"
    assert [each["name"] for each in there["topics"]] == ["before"]
    assert [each["name"] for each in content["topics"]] == ["before", "after"]


def test_reset_asks_shows_and_forgets(command: Command, home: Path) -> None:
    assert command("project", "reset", "--yes", "--json").json()["removed"] is False
    command("project", "mark", "a")

    asked = command("project", "reset")
    dry = command("project", "reset", "--dry-run")
    before = only_file(home).exists()
    done = command("project", "reset", "--yes", "--json").json()

    assert asked.code == 2
    assert "--yes" in asked.err
    assert dry.out.startswith("would forget")
    assert before
    assert done["removed"] is True
    assert command("project", "status", "--json").json()["topics"] == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"topics": 7}', b'{"topics": [{"name": 1}]}', b"\xff", b"null"],
)
def test_a_file_that_cannot_be_read_is_named_and_kept(
    command: Command, home: Path, content: bytes
) -> None:
    command("project", "mark", "a")
    file = only_file(home)
    file.write_bytes(content)

    refused = [command("project", "status"), command("project", "mark", "b")]

    assert [each.code for each in refused] == [1, 1]
    assert all(str(file) in each.err and "project reset" in each.err for each in refused)
    assert file.read_bytes() == content
    assert command("project", "reset", "--yes").code == 0


def test_what_is_too_much_is_refused_and_changes_nothing(command: Command) -> None:
    command("project", "mark", "a")

    refused = [
        command("project", "mark", "x" * (TOPIC_CHARS_MAX + 1)),
        command("project", "mark", "b", "--remark", "x" * (REMARK_CHARS_MAX + 1)),
        command("project", "mark", *(str(number) for number in range(TOPICS_MAX))),
        command("project", "mark", " \t "),
        command("project", "mark", "a\x00b"),
        command("project", "mark"),
    ]

    assert [each.code for each in refused] == [2] * 6
    shown = command("project", "status", "--json").json()
    assert [each["name"] for each in shown["topics"]] == ["a"]


def test_outside_a_repository_there_is_no_project(command: Command, repository: Path) -> None:
    shutil.rmtree(repository / ".git")

    for words in (("status",), ("mark", "a"), ("reset", "--yes")):
        refused = command("project", *words)
        assert (refused.code, "no repository" in refused.err) == (2, True)


def test_agents_that_mark_at_once_lose_nothing(repository: Path, home: Path) -> None:
    graft = str(Path(sys.executable).with_name("graft"))
    running = [
        subprocess.Popen(
            [graft, "project", "mark", f"topic {number}", "--home", str(home)],
            cwd=repository,
            stdout=subprocess.DEVNULL,
        )
        for number in range(8)
    ]

    assert [each.wait(50) for each in running] == [0] * 8
    configuration = configure(home=home, directory=repository)
    project = configuration.project()
    assert project is not None
    learned = LearningFile(configuration.home, "default", project).read()
    assert {each.name for each in learned.topics} == {f"topic {number}" for number in range(8)}


def test_a_home_that_is_not_ours_alone_is_told_with_its_reason(
    command: Command, home: Path
) -> None:
    shutil.rmtree(home)
    home.mkdir()
    (home / "letter.txt").write_text("somebody else's folder")

    done = command("project", "mark", "data")

    assert done.code == 1
    assert str(home) in done.err
    assert "None" not in done.err
