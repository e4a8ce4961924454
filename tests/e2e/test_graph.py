"""Saved notes are joined by themselves, and a walk finds what hangs together with a text."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

PROXY = (
    ("pip fails behind the company proxy with a certificate error", "pip"),
    ("npm install fails behind the company proxy with a certificate error", "npm"),
    ("docker pull fails behind the company proxy with a certificate error", "docker"),
)
OTHERS = (
    ("Postgres locks the whole table while an index is built", "postgres"),
    ("The settings page flickers when the theme is changed", "css"),
    ("Kubernetes evicts pods when the node's disk is full", "kubernetes"),
    ("The invoice total is rounded twice in the report", "billing"),
    ("React renders the list twice in development mode", "react"),
)


def fill(shell: Shell, *arguments: str) -> list[str]:
    """Store the notes and return the ids of those on proxies."""
    ids = [
        shell.insert(title, "", "--keyword", "proxy", "--keyword", tool, *arguments)["id"]
        for title, tool in PROXY
    ]
    for title, keyword in OTHERS:
        shell.insert(title, "", "--keyword", keyword)
    wait_until_joined(shell)
    return ids


def wait_until_joined(shell: Shell) -> None:
    for _ in range(100):
        if not shell.status()["memstore"]["pending"]:
            return
    raise AssertionError("work is still pending")


def explored(shell: Shell, *arguments: str) -> dict[str, Any]:
    return shell.run("explore", *arguments, "--json").json()


def test_a_walk_finds_what_hangs_together_and_nothing_is_written(shell: Shell) -> None:
    ids = fill(shell)

    answer = explored(shell, "pip certificate error behind a proxy", "--beam", "1")
    again = explored(shell, "pip certificate error behind a proxy", "--beam", "1")
    unknown = explored(shell, "pip certificate error", "--keyword", "proxyy")
    people = shell.run("explore", "pip certificate error behind a proxy", "--beam", "1")

    found = [node["id"] for node in answer["nodes"]]
    assert set(found) == set(ids)
    assert found[0] == ids[0]
    assert [path["ids"] for path in answer["paths"]] == [found]
    assert {edge["kind"] for edge in answer["edges"]} == {"KEYWORD", "SEMANTIC"}
    assert {edge["keyword"] for edge in answer["edges"]} == {"proxy", None}
    assert (answer["hint"], answer["degraded"]) == (None, [])
    assert [again[name] for name in ("nodes", "edges", "paths")] == [
        answer[name] for name in ("nodes", "edges", "paths")
    ]
    assert (unknown["nodes"], "proxyy" in unknown["hint"]) == ([], True)
    assert "└─ " in people.out
    assert "(proxy 0." in people.out
    keywords = {each for note in shell.run("list", "--json").lines() for each in note["keywords"]}
    assert "proxyy" not in keywords


def test_keywords_are_suggested_before_a_note_is_saved(shell: Shell) -> None:
    nothing = shell.run("classify", "--title", "cargo fails behind the proxy", "--json").json()
    fill(shell)

    found = shell.run("classify", "--title", "cargo fails behind the proxy", "--json").json()

    assert nothing["suggestions"] == []
    assert found["suggestions"][0] == {"keyword": "proxy", "score": 1.0}
    assert 3 <= len(found["suggestions"]) <= 6


def test_a_walk_stays_in_its_scopes_and_passes_no_deleted_note(
    shell: Shell, tmp_path: Path
) -> None:
    repository = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    inside = replace(shell, directory=repository)
    ids = fill(inside)
    text = "certificate error behind a proxy"

    here = explored(inside, text)
    elsewhere = explored(shell, text)
    everywhere = explored(shell, text, "--all-scopes")
    inside.run("delete", ids[1], "--reason", "wrong", "--yes")
    without = explored(inside, text, "--depth", "8", "--beam", "32")

    assert set(ids) <= {node["id"] for node in here["nodes"]}
    assert not any(note in str(elsewhere) for note in ids)
    assert elsewhere["notes_elsewhere"] == len(PROXY) + len(OTHERS)
    assert set(ids) <= {node["id"] for node in everywhere["nodes"]}
    assert ids[1] not in str(without)
    assert ids[0] in str(without)
