"""Corrections that hold, by the command line on real services."""

import json

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

OLD = "The staging pooler listens on port 6432"
NEW = "The staging pooler listens on port 7000"
QUESTION = "which port does the staging pooler listen on"


def error_of(shell: Shell, *arguments: str) -> dict[str, object]:
    """Return the refusal of a command that ends with 1."""
    ran = shell.run(*arguments, "--json")
    assert ran.status == 1, ran.err
    (content,) = [line for line in ran.err.splitlines() if line.startswith("{")]
    error = json.loads(content)
    assert isinstance(error, dict)
    return error


def test_a_correction_holds(shell: Shell) -> None:
    old = shell.insert(OLD, "As its configuration says.")
    new = shell.insert(NEW, "It was moved.", "--supersedes", old["id"], "--reason", "it was moved")

    assert shell.query(QUESTION)["note"]["id"] == new["id"]
    assert new["superseded"] == old["id"]
    found = shell.run("retrieve", QUESTION, "--json").json()["results"]
    assert [each["id"] for each in found] == [new["id"]]
    shown = shell.run("get", old["id"], "--json").json()
    assert (shown["state"], shown["superseded_by"]) == ("superseded", new["id"])
    assert shown["state_reason"] == "it was moved"

    again = error_of(shell, "insert", "--title", OLD, "--body", "As its configuration says.")
    assert again["reason"] == "KNOWN_TEXT"
    assert again["details"]["head"] == new["id"]  # type: ignore[index]

    back = shell.insert(OLD, "As its configuration says.", "--supersedes", new["id"])
    assert shell.query(QUESTION)["note"]["id"] == back["id"]
    assert shell.run("get", old["id"], "--json").json()["superseded_by"] == back["id"]


def test_a_rejected_text_does_not_come_back(shell: Shell) -> None:
    old = shell.insert(OLD)
    other = shell.insert("The staging cache listens on port 6379")
    shell.run("reject", old["id"], "--reason", "it never did")

    refused = error_of(shell, "insert", "--title", OLD.upper(), "--keyword", "new", "--author", "x")
    held = shell.insert("On port 6432 the staging pooler listens")
    corrected = shell.insert(NEW)

    assert refused["reason"] == "REJECTED_TEXT"
    assert held["trust"] == "held"
    assert corrected["trust"] == "observed"
    found = shell.run("retrieve", "which port does staging listen on", "--json").json()["results"]
    assert {each["id"] for each in found} == {other["id"], corrected["id"]}
    assert shell.run("get", held["id"], "--json").json()["trust"] == "held"


def test_what_was_done_can_be_undone(shell: Shell) -> None:
    note = shell.insert(OLD)
    retired = shell.run("retire", note["id"], "--reason", "gone", "--json").json()
    hidden = shell.query(QUESTION)["hit"]

    undone = shell.run("undo", str(retired["event"]), "--json").json()

    assert (retired["state"], undone["state"]) == ("retired", "active")
    assert hidden == "MISS"
    assert shell.query(QUESTION)["note"]["id"] == note["id"]
    disputed = shell.run("dispute", note["id"], "--reason", "not here", "--json").json()
    assert disputed["trust"] == "disputed"
    assert shell.query(QUESTION)["hit"] == "WEAK"
    assert error_of(shell, "undo", str(retired["event"]))["reason"] == "NOT_LAST_CHANGE"
