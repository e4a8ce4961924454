"""Backups on real services: while notes are saved, over a kill, in another home."""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell, make_home, stop

from graft_client import Graft, GraftError

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

SECONDS = 60.0


NOTES = 5
BODY = "one of many lines that say the same\n" * 6_000


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """A memory of some megabytes, of which nothing is embedded: copying is what takes time."""
    without = replace(shell, environ={"GRAFT_MODEL": "absent"})
    for number in range(NOTES):
        without.insert(f"note {number} of many", f"{number}\n{BODY}")
    return without


def test_a_backup_made_while_notes_are_saved_answers_in_another_home(
    shell: Shell, models_dir: Path, tmp_path: Path
) -> None:
    shell.insert("the quay crane is oiled on Tuesdays", "By the harbour master.")
    file = shell.directory / "notes.graft-backup"
    stopping = threading.Event()
    saved: list[str] = []

    def write() -> None:
        with Graft(home=shell.home, scope="user") as graft:
            while not stopping.is_set():
                saved.append(graft.insert(f"note {len(saved)} saved meanwhile").id)

    writer = threading.Thread(target=write)
    writer.start()
    made = [shell.run("backup", "create", str(file), "--force", "--json").json() for _ in range(3)]
    stopping.set()
    writer.join(SECONDS)
    verified = shell.run("backup", "verify", str(file), "--json").json()
    other = replace(shell, home=make_home(tmp_path / "other", models_dir))
    restored = other.run("backup", "restore", str(file), "--json").json()
    answer = other.query("when is the quay crane oiled")
    log = other.run("log", "--verify")
    stop(other)

    assert saved
    assert verified["backup"] == made[-1]
    assert restored["profiles"][0]["name"] == "default"
    assert (answer["hit"], answer["note"]["title"]) == (
        "STRONG",
        "the quay crane is oiled on Tuesdays",
    )
    assert log.status == 0, log.out + log.err
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_stays_unless_it_is_forced(shell: Shell) -> None:
    shell.insert("a note")
    file = shell.directory / "mine"
    file.write_text("something of mine")

    refused = shell.run("backup", "create", "mine", "--json")
    kept = file.read_text()
    forced = shell.run("backup", "create", "mine", "--force")

    assert (refused.status, json.loads(refused.err)["reason"]) == (1, "FILE_EXISTS")
    assert kept == "something of mine"
    assert forced.status == 0
    assert shell.run("backup", "verify", "mine").status == 0


def test_what_is_no_backup_is_refused_in_words(shell: Shell) -> None:
    shell.insert("a note")
    (shell.directory / "text").write_text("no backup\n" * 1_000)
    shell.run("backup", "create", "good")
    whole = (shell.directory / "good").read_bytes()
    (shell.directory / "cut").write_bytes(whole[: len(whole) // 2])

    refused = {
        name: shell.run("backup", "restore", name, "--json", "--profile", "new")
        for name in ("text", "cut", "missing", ".")
    }

    told = {name: json.loads(each.err) for name, each in refused.items()}
    assert {name: each.status for name, each in refused.items()} == {
        "text": 1,
        "cut": 1,
        "missing": 2,
        ".": 2,
    }
    assert "no backup of Graft" in told["text"]["message"]
    assert "cut off after" in told["cut"]["message"]
    assert [each["name"] for each in shell.run("profile", "list", "--json").lines()] == ["default"]


@pytest.mark.parametrize("files", [1, 3, 6])
def test_a_memstore_killed_while_it_restores_leaves_all_as_it_was_or_as_it_was_to_be(
    filled: Shell, files: int
) -> None:
    filled.run("backup", "create", "b")
    before = ids(filled)
    (memstore,) = filled.daemons("memstore")
    restoring = filled.start("backup", "restore", "b", "--profile", "again")
    end = time.monotonic() + SECONDS

    while len(files_of_drafts(filled)) < files and restoring.poll() is None:
        assert time.monotonic() < end
    os.kill(memstore, signal.SIGKILL)
    restoring.communicate(timeout=SECONDS)

    names = [each["name"] for each in filled.run("profile", "list", "--json").lines()]
    assert files_of_drafts(filled) == []
    assert ids(filled) == before
    assert len(before) == NOTES
    assert filled.run("log", "--verify").status == 0
    if "again" in names:
        assert ids(filled, "--profile", "again") == before
        assert filled.run("log", "--verify", "--profile", "again").status == 0
    else:
        assert not (filled.home / "profiles" / "again").exists()


def files_of_drafts(shell: Shell) -> list[Path]:
    with suppress(FileNotFoundError):
        return [path for path in (shell.home / "profiles" / ".drafts").rglob("*") if path.is_file()]
    return []


def ids(shell: Shell, *arguments: str) -> set[str]:
    listed = shell.run("list", "--json", "--limit", "0", *arguments)
    return {note["id"] for note in listed.lines()}


def test_a_create_that_is_killed_leaves_no_file_and_the_next_one_sweeps(filled: Shell) -> None:
    file = filled.directory / "b"
    creating = filled.start("backup", "create", "b")
    end = time.monotonic() + SECONDS
    while not list(filled.directory.glob(".b.draft-*")) and creating.poll() is None:
        assert time.monotonic() < end
    creating.kill()
    creating.communicate(timeout=SECONDS)
    left = list(filled.directory.glob(".b.draft-*"))
    there = file.exists()

    done = filled.run("backup", "create", "b")

    assert (len(left), there) == (1, False)
    assert done.status == 0, done.err
    assert [path.name for path in filled.directory.iterdir()] == ["b"]


def test_a_deleted_word_does_not_come_back_by_a_restore(shell: Shell) -> None:
    note = shell.insert("the word is zanzibar", "zanzibar")
    sibling = shell.insert("the word is kept", "kept")
    shell.run("backup", "create", "b")
    shell.run("delete", note["id"], "--reason", "r", "--yes")

    restored = shell.run("backup", "restore", "b", "--replace", "--yes", "--json").json()

    listed = [each["id"] for each in shell.run("list", "--json").lines()]
    shell.run("stop")
    homes = [
        path for path in shell.home.rglob("*") if path.is_file() and "models" not in path.parts
    ]
    with_word = [path for path in homes if b"zanzibar" in path.read_bytes()]
    assert restored["profiles"][0]["erased"] == 1
    assert listed == [sibling["id"]]
    assert b"zanzibar" in (shell.directory / "b").read_bytes()
    assert with_word == []
    with Graft(home=shell.home) as graft, pytest.raises(GraftError):
        graft.get(note["id"])
