"""The log and its comparison with the file, by the command line on real services."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

TITLE = "The staging pooler listens on port 6432"
QUESTION = "which port does the staging pooler listen on"


def as_session(shell: Shell, session: str) -> Shell:
    """Return a shell on the same home whose programs belong to a session."""
    return replace(shell, environ={**shell.environ, "GRAFT_SESSION": session})


def test_what_was_done_is_shown_and_what_was_edited_is_named(shell: Shell, tmp_path: Path) -> None:
    note = shell.insert(TITLE, "As its configuration says.")["id"]
    shell.insert("The staging cache listens on port 6379")
    shell.run("retire", note, "--reason", "it moved")
    refused = shell.run("retire", note, "--reason", "it moved")
    kept = tmp_path / "head.txt"
    kept.write_text(shell.run("log", "--head").out)
    shell.run("restore", note, "--reason", "it is back")

    listed = shell.run("log", "--note", note, "--json").lines()
    sound = shell.run("log", "--verify", "--expect-head", str(kept))
    shell.run("stop")
    with closing(sqlite3.connect(shell.home / "profiles" / "default" / "graft.db")) as file, file:
        file.execute("UPDATE notes SET body = 'It never moved.' WHERE id = ?", [note])
    edited = shell.run("log", "--verify", "--json")

    assert refused.status == 1
    done = [each["action"] for each in listed if each["action"] != "refused"]
    assert done == ["restore", "retire", "insert"]
    assert TITLE not in json.dumps(listed)
    assert (sound.status, sound.err) == (0, "")
    assert "agree with 2 notes" in sound.out
    assert edited.status == 1
    (flaw,) = json.loads(edited.out)["flaws"]
    assert (flaw["table"], flaw["row"]) == ("notes", note)
    assert "notes " + note in shell.run("log", "--verify").out
    actions = [each["action"] for each in shell.run("log", "--json").lines()]
    assert actions.count("refused") == 1, "also after the service was stopped"


def test_another_head_than_the_kept_one_is_noticed(shell: Shell) -> None:
    shell.insert(TITLE)
    hash_, count = shell.run("log", "--head").out.split()[0].split("@")

    sound = shell.run("log", "--verify", "--expect-head", f"{hash_}@{count}")
    forged = shell.run("log", "--verify", "--expect-head", f"{'0' * 64}@{count}")
    nothing = shell.run("log", "--verify", "--expect-head", "nowhere.txt")

    assert (sound.status, forged.status, nothing.status) == (0, 1, 2)
    assert "expected head 1" in forged.out
    assert "graft:" in nothing.err


def test_a_session_hears_once_what_became_of_what_it_was_given(shell: Shell) -> None:
    note = shell.insert(TITLE, "As its configuration says.")["id"]
    reader = as_session(shell, "reader-1")
    assert reader.query(QUESTION)["hit"] == "STRONG"

    retired = shell.run("retire", note, "--reason", "it moved", "--json").json()
    first = reader.run("query", "rotate a picture")
    second = reader.query("rotate a picture")

    assert retired["given_to"] == {"count": 1, "sessions": ["reader-1"]}
    assert f"note {note[-8:]}, which this session was given, was retired" in first.err
    assert second["notices"] == []
    shown = shell.run("get", note, "--json").json()
    assert (shown["uses"]["strong"], shown["uses"]["got"]) == (1, 0)
