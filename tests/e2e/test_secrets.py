"""Secrets in notes, through every door, on real services: told, refused, never quoted."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_types import CallToolResult
from tests.e2e.conftest import Finished, Shell
from tests.e2e.test_mcp import Agent, run, text_of
from tests.terminals import run_at_keyboard

from graft_client.mcp.catalogue import CATALOGUE

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MASKED = f"{TOKEN[:4]}…{TOKEN[-4:]}"
PASSWORD = "hunter2-vermilion-otter"  # noqa: S105 - it is to be found
BODY = f"git clone with\n{TOKEN}\nDB_PASSWORD={PASSWORD}\n"
PHRASE = "correct horse battery staple"


def files_with(root: Path, *texts: str) -> set[str]:
    """Return the names of all files below *root* in which one of *texts* stands."""
    return {
        each.name
        for each in root.rglob("*")
        if each.is_file()
        and not each.is_symlink()
        and "models" not in each.relative_to(root).parts
        and any(text.encode() in each.read_bytes() for text in texts)
    }


def save(shell: Shell, title: str, *arguments: str) -> Finished:
    return shell.run("insert", "--title", title, "--body-file", "-", *arguments, text=BODY)


@pytest.fixture
def refusing(shell: Shell) -> Shell:
    """A shell whose person has set that secrets are refused, in the settings file."""
    (shell.home / "config.toml").write_text('secrets = "refuse"\nlog_level = "debug"\n')
    return shell


def test_by_default_it_is_told_and_only_the_notes_file_ever_holds_it(
    shell: Shell, tmp_path: Path
) -> None:
    loud = replace(shell, environ={"GRAFT_LOG_LEVEL": "debug"})
    saved = save(loud, "one")
    meant = save(loud, "two", "--allow-secret")
    refused = save(loud, "three", "--strict-secrets")
    logs = [loud.run("log"), loud.run("log", "--json"), loud.run("status", "--json")]

    assert [each.status for each in (saved, meant, refused, *logs)] == [0, 0, 1, 0, 0, 0]
    assert f"body, line 2, column 1 looks like a secret: GitHub Token ({MASKED})" in saved.err
    assert "body, line 3, column 13 looks like a secret: password (password=…)" in saved.err
    assert "secret" not in meant.err
    assert f"GitHub Token in body, line 2, column 1 ({MASKED})" in refused.err
    assert "meant: GitHub Token in body, line 2, column 1; password in body, line 3" in logs[0].out
    for each in (saved, meant, refused, *logs):
        assert TOKEN not in each.out + each.err
        assert PASSWORD not in each.out + each.err
    assert loud.run("log", "--verify").status == 0
    loud.run("stop")
    assert files_with(tmp_path, TOKEN, PASSWORD) <= {"graft.db", "graft.db-wal"}
    assert files_with(tmp_path, TOKEN, PASSWORD)


def test_a_home_that_refuses_does_so_at_every_door(refusing: Shell) -> None:
    work = refusing.directory
    (work / "n.md").write_text(f"# from a file\n\n{TOKEN}\n")
    (work / "ok.md").write_text("# harmless\n\nmake\n")
    (work / "n.jsonl").write_text(json.dumps({"title": "t", "body": TOKEN}))
    editor = work / "ed.py"
    editor.write_text(f"import sys; open(sys.argv[1], 'w').write('# t\\n\\n{TOKEN}\\n')")
    editing = replace(refusing, environ={"EDITOR": f"{sys.executable} {editor}"})
    old = refusing.insert("the old one")["id"]

    told = {
        "insert": save(refusing, "one"),
        "supersede": save(refusing, "two", "--supersedes", old),
        "jsonl": refusing.run("insert", "--jsonl", "n.jsonl"),
        "note": editing.run("note"),
        "edit": editing.run("edit", old, "--reason", "r"),
        "import-md": refusing.run("import-md", "."),
    }

    assert {name: done.status for name, done in told.items()} == dict.fromkeys(told, 1)
    for name, done in told.items():
        assert "looks like a secret: GitHub Token in " in done.err + done.out, name
        assert TOKEN not in done.err + done.out, name
    titles = [each["title"] for each in refusing.run("list", "--json").lines()]
    assert sorted(titles) == ["harmless", "the old one"]
    allowed = save(refusing, "one", "--allow-secret")
    assert allowed.status == 0, allowed.err


def test_where_a_reviewer_is_set_up_they_alone_allow_what_the_home_refuses(
    refusing: Shell,
) -> None:
    typed = [("New passphrase", PHRASE), ("The same again", PHRASE)]
    around = refusing.environment()
    at = refusing.directory
    code, screen = run_at_keyboard("reviewer", "init", at=at, around=around, typed=typed)
    assert code == 0, screen
    (at / "body.md").write_text(BODY)
    allow = ("insert", "--title", "one", "--body-file", "body.md", "--allow-secret")

    refused = refusing.run(*allow)
    code, screen = run_at_keyboard(
        *(*allow, "--as-reviewer"),
        at=at,
        around=around,
        typed=[("Reviewer's passphrase: ", PHRASE)],
    )

    assert refused.status == 1
    assert "graft insert --allow-secret --as-reviewer" in refused.err
    assert (code, TOKEN in screen) == (0, False), screen
    (event,) = refusing.run("log", "--action", "allow-secret", "--json").lines()
    assert event["actor"] == "reviewer"


def test_an_agent_is_told_what_and_where_and_cannot_allow_it(refusing: Shell) -> None:
    async def refused(agent: Agent) -> None:
        told = await agent.refused("insert", title="one", body=BODY, scope="user")
        assert f"GitHub Token in body, line 2, column 1 ({MASKED})" in told
        assert TOKEN not in told
        assert PASSWORD not in told
        for wish in ("allow_secret", "secrets", "strict_secrets"):
            said = await agent.refused(
                "insert", title="one", body=BODY, scope="user", **{wish: "allow"}
            )
            assert "unknown arguments" in said

    assert not {"allow_secret", "secrets"} & CATALOGUE["insert"].arguments.keys()
    run(refusing, refused)
    assert refusing.run("list", "--json").lines() == []


def test_an_agent_is_warned_in_its_answer(shell: Shell) -> None:
    answers: list[CallToolResult] = []

    async def saves(agent: Agent) -> None:
        answers.append(await agent.call("insert", title="one", body=BODY, scope="user"))

    run(shell, saves)

    (answer,) = answers
    assert answer.structured_content is not None
    assert [each["kind"] for each in answer.structured_content["findings"]] == [
        "GitHub Token",
        "password",
    ]
    assert MASKED in text_of(answer)
    assert TOKEN not in text_of(answer)
