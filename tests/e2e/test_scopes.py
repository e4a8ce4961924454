"""A note belongs to the repository it was saved in, and is got by its id from anywhere."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

TITLE = "my-app needs the seed script before its first test run"
QUESTION = "what must run before the first test run of my-app"


def repository(path: Path, remote: str = "") -> Path:
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", path], check=True)
    if remote:
        subprocess.run(["git", "-C", path, "remote", "add", "origin", remote], check=True)
    return path


def test_a_note_of_one_repository_is_no_answer_in_another_of_the_same_name(
    shell: Shell, tmp_path: Path
) -> None:
    here = replace(shell, directory=repository(tmp_path / "a" / "my-app"))
    there = replace(shell, directory=repository(tmp_path / "b" / "my-app"))

    note = here.insert(TITLE)

    assert note["scope"] == f"project:{tmp_path.resolve() / 'a' / 'my-app'}"
    assert here.query(QUESTION)["hit"] == "STRONG"
    assert there.query(QUESTION)["hit"] == "MISS"
    assert there.run("retrieve", QUESTION, "--json").json()["results"] == []
    assert there.run("get", note["id"], "--json").json()["title"] == TITLE
    assert there.run("query", QUESTION, "--json", "--all-scopes").json()["hit"] == "STRONG"


def test_a_question_outside_any_repository_says_where_it_looked_and_what_lies_elsewhere(
    shell: Shell, tmp_path: Path
) -> None:
    inside = replace(shell, directory=repository(tmp_path / "repo", "git@github.com:o/n.git"))
    inside.insert(TITLE)

    missed = shell.run("query", QUESTION)

    assert missed.status == 0
    assert "user" in missed.err
    assert "1 note" in missed.err
    assert TITLE not in missed.out + missed.err


def test_clones_of_one_remote_share_their_notes_and_no_token_is_stored(
    shell: Shell, tmp_path: Path
) -> None:
    first = repository(tmp_path / "first", "https://me:secret@GitHub.com:443/owner/name.git")
    second = repository(tmp_path / "second", "git@github.com:owner/name.git")

    note = replace(shell, directory=first).insert(TITLE)
    answer = replace(shell, directory=second).query(QUESTION)

    assert note["scope"] == "project:github.com/owner/name"
    assert answer["note"]["id"] == note["id"]


def test_a_note_saved_outside_a_repository_is_seen_everywhere(shell: Shell, tmp_path: Path) -> None:
    said = shell.run("insert", "--title", TITLE)
    inside = replace(shell, directory=repository(tmp_path / "repo"))

    assert "user" in said.out + said.err
    assert inside.query(QUESTION)["hit"] == "STRONG"


def test_a_deleted_note_is_gone_from_every_read_and_from_the_file(shell: Shell) -> None:
    kept = shell.insert("Xylophones are tuned by filing their bars", "zebrafish")
    gone = shell.insert("Quokkas live on Rottnest Island", "quokkasecret")
    assert shell.query("where do quokkas live")["note"]["id"] == gone["id"]

    deleted = shell.run("delete", gone["id"], "--reason", "wrong", "--yes", "--json").json()

    assert deleted["outcome"] in ("erased", "erasing")
    again = shell.query("where do quokkas live")
    ranked = shell.run("retrieve", "quokkas xylophones", "--json").json()["results"]
    assert again["hit"] != "STRONG"
    assert gone["id"] not in str(again)
    assert [result["id"] for result in ranked] == [kept["id"]]
    assert shell.run("get", gone["id"]).status == 1
    assert [note["id"] for note in shell.run("list", "--json").lines()] == [kept["id"]]
    shell.run("stop")
    folder = shell.home / "profiles" / "default"
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"zebrafish" in content
    assert b"quokkasecret" not in content


def test_ids_are_taken_whole_by_their_beginning_and_by_their_end(shell: Shell) -> None:
    note_id = shell.insert("a note with an id")["id"]

    for piece in (note_id, note_id[:12], note_id[-8:], note_id[-8:].upper()):
        assert shell.run("get", piece, "--json").json()["id"] == note_id
    for piece in (note_id[-7:], "zzzzzzzz", "0" * 33, ""):
        assert shell.run("get", piece).status in (1, 2)
    assert shell.run("get", "f" * 8).status == 1
