"""A note for other versions is no STRONG answer in a project, and a dead end is none anywhere."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

TITLE = "Async views raise SynchronousOnlyOperation when ATOMIC_REQUESTS is on"
BODY = "Turn ATOMIC_REQUESTS off and open transaction.atomic inside sync_to_async."
QUESTION = "async view raises SynchronousOnlyOperation, ATOMIC_REQUESTS is on"
LOCK = '[[package]]\nname = "django"\nversion = "{}"\n'


def project(shell: Shell, tmp_path: Path, version: str) -> Shell:
    top = tmp_path / version
    (top / ".git").mkdir(parents=True)
    (top / "src").mkdir()
    (top / "uv.lock").write_text(LOCK.format(version))
    return replace(shell, directory=top / "src")


def test_the_lock_file_of_a_project_decides_whether_a_note_applies(
    shell: Shell, tmp_path: Path
) -> None:
    note_id = shell.insert(TITLE, BODY, "--applies-to", "pypi:Django >= 4.2, < 5")["id"]

    nowhere = shell.query(QUESTION)
    inside = project(shell, tmp_path, "4.2.11").query(QUESTION)
    outside = project(shell, tmp_path, "5.1").query(QUESTION)

    assert [each["hit"] for each in (nowhere, inside, outside)] == ["STRONG", "STRONG", "WEAK"]
    assert {each["note"]["id"] for each in (nowhere, inside, outside)} == {note_id}
    assert nowhere["applicability"][0]["words"] == "only for django >=4.2,<5"
    assert outside["applicability"][0]["words"] == "applies to django >=4.2,<5; here is 5.1"
    assert outside["note"]["body"] is None
    assert outside["note"]["applies_to"] == ["pypi:django>=4.2,<5"]


def test_what_is_given_beats_the_lock_file_and_is_said(shell: Shell, tmp_path: Path) -> None:
    shell.insert(TITLE, BODY, "--applies-to", "pypi:django<5", "--applies-to", "os:linux|macos")
    here = project(shell, tmp_path, "5.1")

    said = here.run("query", QUESTION)
    given = here.run("query", QUESTION, "--context", "pypi:django==4.2")
    windows = here.query(QUESTION, "--context", "os:windows", "--context", "pypi:django@4.2")

    assert said.out.startswith("WEAK")
    assert "applies to django <5; here is 5.1\n" in said.out
    assert given.out.startswith("STRONG")
    assert windows["hit"] == "WEAK"
    assert "applies to linux or macos; here is windows" in [
        each["words"] for each in windows["applicability"]
    ]


def test_a_broken_lock_file_is_named_and_keeps_no_answer_back(shell: Shell, tmp_path: Path) -> None:
    shell.insert(TITLE, BODY, "--applies-to", "pypi:django<5")
    here = project(shell, tmp_path, "5.1")
    (here.directory.parent / "uv.lock").write_text("<<<<<<< HEAD")
    os.mkfifo(here.directory / "poetry.lock")

    done = here.run("query", QUESTION)

    assert (done.status, done.out[:6]) == (0, "STRONG")
    assert "uv.lock is left out, since it is broken" in done.err
    assert "poetry.lock is left out" in done.err


def test_a_dead_end_comes_beside_the_fix_and_is_never_strong(shell: Shell) -> None:
    tried = shell.insert(
        "Async views and ATOMIC_REQUESTS: DJANGO_ALLOW_ASYNC_UNSAFE does not help, it still raises",
        "The check is another one.",
        "--kind",
        "dead-end",
    )["id"]

    alone = shell.query("DJANGO_ALLOW_ASYNC_UNSAFE does not help async views, ATOMIC_REQUESTS")
    fix = shell.insert(TITLE, BODY)["id"]
    beside = shell.query(QUESTION)
    said = shell.run("query", QUESTION).out

    assert (alone["hit"], alone["note"]["id"], alone["note"]["kind"]) == ("WEAK", tried, "dead-end")
    assert (beside["hit"], beside["note"]["id"]) == ("STRONG", fix)
    assert [each["id"] for each in beside["dead_ends"]] == [tried]
    assert f"dead end: {tried[-8:]}  Async views" in said
    assert "another one" not in said

    shell.run("delete", tried, "--reason", "wrong", "--yes")
    assert shell.query(QUESTION)["dead_ends"] == []


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("django>=4", "names no ecosystem"),
        ("pypi:django@latest", "'latest' is no range of versions by PEP 440"),
        ("os:beos", "'beos' is no operating system"),
    ],
)
def test_a_range_that_cannot_be_read_is_refused_by_its_part(
    shell: Shell, spec: str, part: str
) -> None:
    refused = shell.run("insert", "--title", "t", "--applies-to", spec)

    assert refused.status == 1
    assert "applies_to" in refused.err
    assert part in refused.err
    assert shell.run("list", "--json").lines() == []
