"""Asking why, and what was asked in vain, as a person does it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell
from tests.e2e.test_scopes import repository

pytestmark = pytest.mark.model

TITLE = "pip fails behind the company proxy with a certificate error"
QUESTION = "pip certificate verify failed behind a corporate proxy"
UNKNOWN = "how do I rotate the nginx access logs every night"


@pytest.mark.parametrize("text", [QUESTION, "what about pip and proxies", UNKNOWN])
def test_explain_agrees_with_the_answer_and_outlives_the_service(shell: Shell, text: str) -> None:
    shell.insert(TITLE, "Set PIP_CERT to the company's CA bundle.", "--wait")
    answer = shell.query(text)

    at_once = shell.run("explain", answer["receipt"], "--json").json()
    shell.run("stop")
    later = shell.run("explain", answer["receipt"][-8:], "--json").json()
    shown = shell.run("explain", answer["receipt"][:8])

    assert (at_once["hit"], at_once["probability"]) == (answer["hit"], answer["probability"])
    told = {each["name"]: each["value"] for each in at_once["signals"]}
    assert answer["signals"].items() <= told.items()
    assert later == at_once
    assert shown.out.startswith(answer["hit"])
    assert text not in shown.out + json.dumps(later)


def test_a_question_in_vain_is_listed_until_a_note_answers_it(shell: Shell) -> None:
    for _ in range(2):
        assert shell.query(UNKNOWN)["hit"] == "MISS"
    listed = shell.run("misses", "--json").lines()

    stored = shell.insert("Rotate the nginx access logs every night with logrotate", "", "--wait")
    closed = shell.run("misses", "--json").lines()

    assert [(each["question"], each["count"]) for each in listed] == [(UNKNOWN, 2)]
    assert stored["answers"] == 2
    assert [each["answered_by"] for each in closed] == [stored["id"]]


def test_a_question_of_one_repository_is_not_told_in_another(shell: Shell, tmp_path: Path) -> None:
    here = replace(shell, directory=repository(tmp_path / "here", "git@host:o/here.git"))
    there = replace(shell, directory=repository(tmp_path / "there", "git@host:o/there.git"))

    here.query(UNKNOWN)

    assert there.run("misses", "--json").lines() == []
    assert shell.run("misses", "--json").lines() == []
    assert [each["question"] for each in here.run("misses", "--json").lines()] == [UNKNOWN]


def test_switched_off_and_cleared_no_question_stays_in_the_file(shell: Shell) -> None:
    shell.query("where do quokkas nest")
    cleared = shell.run("misses", "--clear", "--yes", "--json").json()
    shell.run("stop")
    silent = replace(shell, environ={"GRAFT_MISSES": "0"})
    answer = silent.query("where do wombats nest")

    told = silent.run("misses")
    silent.run("stop")

    content = b"".join(path.read_bytes() for path in (shell.home / "profiles/default").iterdir())
    assert cleared["questions"] == 1
    assert answer["receipt"]
    assert "the setting misses is off" in told.err
    assert b"quokkas" not in content
    assert b"wombats" not in content
