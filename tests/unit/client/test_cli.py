import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import daemon_service_pb2, note_pb2, recall_service_pb2
from graft_client.cli.app import COMMANDS, graft

GRAFT = Path(sys.executable).with_name("graft")
ID = "0193a7a0" + "0" * 16 + "89abcdef"


def strong() -> recall_service_pb2.QueryResponse:
    return recall_service_pb2.QueryResponse(
        hit=recall_service_pb2.HIT_STRONG,
        probability=0.97,
        note=note_pb2.Note(
            id=ID,
            title="Use Node 20",
            body="Node 18 lacks fetch.",
            keywords=["ci"],
            scope="user",
            lifecycle=note_pb2.LIFECYCLE_ACTIVE,
            trust=note_pb2.TRUST_OBSERVED,
            recorded_at_ms=1_767_225_600_000,
        ),
        signals=[recall_service_pb2.Signal(name="title_cosine", value=0.9)],
    )


def test_help_version_and_completion_load_neither_grpc_nor_protobuf() -> None:
    program = (
        "import sys, os\n"
        "from graft_client.cli.__main__ import run\n"
        "for arguments in (['--help'], ['insert', '--help'], ['--version'],"
        " ['profile', 'current'], ['config', 'path'], ['completion', 'zsh']):\n"
        "    assert run(arguments) == 0, arguments\n"
        "heavy = ('grpc', 'google', 'rich', 'numpy', 'asyncio', 'yaml', 'markdown_it',"
        " 'prompt_toolkit', 'blake3')\n"
        "print([name for name in sys.modules if name.split('.')[0] in heavy], file=sys.stderr)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("graft ", "plain,insert"),
        ("graft profile ", "plain,current"),
        ("graft insert --bo", "plain,--body-file"),
        ("graft insert --body-file ./n", "file,./n"),
    ],
)
def test_completion_offers_commands_and_options_without_grpc(words: str, expected: str) -> None:
    program = (
        "import sys\n"
        "from graft_client.cli.__main__ import run\n"
        "try:\n    run([])\n"
        "finally:\n    print([n for n in sys.modules if n.startswith(('grpc', 'google'))])\n"
    )
    parts = words.split(" ")
    environ = {"_GRAFT_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environ["COMP_CWORD"] = str(len(parts) - 1)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environ
    )

    assert expected in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(command: Command, shell: str) -> None:
    done = command("completion", shell)

    assert done.code == 0
    assert "_GRAFT_COMPLETE" in done.out


@pytest.mark.parametrize(
    ("shell", "asks", "expected"),
    [
        (
            ["bash", "--norc", "-c"],
            "COMP_WORDS=(graft qu) COMP_CWORD=1; _graft_completion graft; echo $COMPREPLY",
            "query",
        ),
        (["zsh", "-f", "-c"], "print $_comps[graft]", "_graft_completion"),
        (
            ["fish", "--no-config", "-c"],
            'complete -C "graft mod"',
            "model\tList, fetch and choose models.",
        ),
    ],
)
def test_a_shell_that_knows_nothing_yet_completes_with_the_script(
    command: Command, tmp_path: Path, shell: list[str], asks: str, expected: str
) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"there is no {shell[0]} on this machine")
    script = command("completion", shell[0]).out
    environ = {"PATH": f"{Path(sys.executable).parent}:{os.defpath}", "HOME": str(tmp_path)}

    done = subprocess.run(
        [*shell, f"{script}\n{asks}"], capture_output=True, text=True, check=False, env=environ
    )

    assert (done.stdout.strip(), done.stderr) == (expected, "")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_help_begins_with_a_verb_and_ends_with_an_example(name: str) -> None:
    found = graft.get_command(click.Context(graft), name)

    assert found is not None
    assert found.name == name
    assert found.help is not None
    assert found.help.split()[0].istitle()
    assert "Example:\n" in found.help
    assert "graft " in found.help.split("Example:")[1]


def test_insert_prints_where_the_note_went_for_people(
    command: Command, memstore: FakeState
) -> None:
    done = command("insert", "--title", "t", "--scope", "user")
    again = command("insert", "--title", "t", "--scope", "user")
    project = command("insert", "--title", "t", "--scope", "project:host/o/n")

    assert done.out == "saved 00000000 to user, seen everywhere\n"
    assert again.out == "already there: 00000000 in user\n"
    assert project.out == "saved 00000001 to project:host/o/n, seen in that project\n"
    assert len(memstore.notes) == 2


def test_insert_prints_the_documented_object(command: Command, memstore: FakeState) -> None:
    done = command("insert", "--title", "t", "--body-file", "-", "--json", stdin="ü\n".encode())

    reply = done.json()
    assert set(reply) >= {
        *("id", "duplicate", "state", "trust", "scope", "pending", "similar", "event")
    }
    assert (reply["duplicate"], reply["state"], reply["event"]) == (False, "active", 7)
    assert memstore.notes[reply["id"]].body == "ü\n"
    assert done.err == ""


def test_every_field_of_a_note_has_a_flag(command: Command, memstore: FakeState) -> None:
    command(
        *("insert", "--title", "t", "--body", "b", "--keyword", "k", "--keyword", "j"),
        *("--source", "url:https://x/y", "--kind", "dead-end", "--scope", "team:a"),
        *("--valid-from", "2026-01-01T09:00:00+09:00", "--valid-to", "2026-02-01T00:00:00Z"),
        *("--expires-at", "2027-01-01T00:00:00Z", "--author", "me", "--wait"),
        *("--applies-to", "pypi:django>=4.2,<5", "--applies-to", "os:linux"),
    )

    (note,) = memstore.notes.values()
    assert list(note.keywords) == ["j", "k"]
    assert (note.scope, note.author, note.kind) == ("team:a", "me", note_pb2.NOTE_KIND_DEAD_END)
    assert note.valid_from_ms == 1_767_225_600_000
    assert list(note.applies_to) == ["pypi:django>=4.2,<5", "os:linux"]
    assert memstore.requests("InsertNote")[0].wait_for_passages  # type: ignore[attr-defined] # the fake keeps all kinds


def test_get_prints_the_documented_object(command: Command, memstore: FakeState) -> None:
    stored = command("insert", "--title", "t", "--body", "b", "--json").json()

    note = command("get", stored["id"], "--json").json()

    assert set(note) >= {
        *("id", "title", "body", "keywords", "author", "scope", "state", "trust"),
        *("valid_from", "valid_to", "recorded_at", "superseded_by", "sources"),
    }
    assert note["superseded_by"] is None
    assert note["recorded_at"] == "2026-01-01T00:00:00.000Z"
    assert command("get", stored["id"], "--markdown").out == "# t\n\nb\n"
    assert len(memstore.notes) == 1


def test_a_strong_answer_is_the_note_and_nothing_on_stderr(
    command: Command, memstore: FakeState
) -> None:
    memstore.query_reply = strong()

    done = command("query", "why does CI fail", "--exit-status")
    reply = command("query", "why does CI fail", "--json").json()

    assert done.code == 0
    assert done.out.startswith("STRONG 97%\n    Use Node 20\n89abcdef · user · observed · ci\n")
    assert done.out.endswith("\n\n    Node 18 lacks fetch.\n")
    assert set(reply) >= {*("hit", "probability", "note", "signals", "near", "degraded", "receipt")}
    assert reply["note"]["body"] == "Node 18 lacks fetch."
    assert reply["signals"] == {"title_cosine": 0.9}


def test_a_miss_says_where_it_looked_and_what_lies_elsewhere(
    command: Command, memstore: FakeState
) -> None:
    memstore.query_reply = recall_service_pb2.QueryResponse(
        hit=recall_service_pb2.HIT_MISS,
        notes_elsewhere=12,
        near=[recall_service_pb2.NearNote(id=ID, title="near one", why="other words")],
        degraded=["vector"],
    )

    done = command("query", "x", "--scope", "user", "--exit-status")

    assert done.code == 4
    assert done.out == "MISS\n  89abcdef  near one (other words)\n"
    assert "searched user; 12 notes lie elsewhere (--all-scopes looks there too)" in done.err
    assert "answered without vector" in done.err
    assert command("query", "x", "--quiet").err == ""
    assert command("query", "x", "--json").err == ""


def test_options_of_all_commands_are_taken_before_and_after_the_name(
    command: Command, memstore: FakeState
) -> None:
    command("--scope", "a", "--json", "query", "x")
    command("query", "--scope", "b", "x", "--profile", "work")
    command("--scope", "a", "query", "x", "--scope", "c")
    command("query", "x", "--all-scopes")

    requests = memstore.requests("Query")
    seen = [(list(each.scope.scopes), each.scope.all, each.profile) for each in requests]  # type: ignore[attr-defined] # as above
    assert seen == [
        (["a"], False, "default"),
        (["b"], False, "work"),
        (["c"], False, "default"),
        ([], True, "default"),
    ]


def test_a_question_comes_from_stdin_whole(command: Command, memstore: FakeState) -> None:
    command("query", "-", stdin=b"C++ don't\nGB/s\x00")
    command("retrieve", "-", "--json", stdin="サンド".encode())

    assert memstore.requests("Query")[0].text == "C++ don't\nGB/s\x00"  # type: ignore[attr-defined] # as above
    assert memstore.requests("Retrieve")[0].text == "サンド"  # type: ignore[attr-defined] # as above


def test_deleting_without_a_terminal_needs_yes(command: Command, memstore: FakeState) -> None:
    note = command("insert", "--title", "a secret", "--json").json()

    refused = command("delete", note["id"], "--reason", "r")
    looked = command("delete", note["id"], "--reason", "r", "--dry-run")
    kept = len(memstore.notes)
    done = command("delete", note["id"], "--reason", "r", "--yes", "--json")

    assert refused.code == 2
    assert "--yes" in refused.err
    assert looked.out == 'would delete 00000000 "a secret" in user\n'
    assert kept == 1
    assert done.json() == {
        "id": note["id"],
        "outcome": "erased",
        "event": 9,
        "given_to": {"count": 0, "sessions": []},
    }
    assert memstore.notes == {}


def test_a_listing_is_one_object_or_one_line_a_note(command: Command, memstore: FakeState) -> None:
    for number in range(3):
        title = f"note {number}"
        command("insert", "--title", title, "--scope", "user", "--applies-to", "os:linux")

    listed = command("list", "--json")
    lines = command("list", "--limit", "2").out.splitlines()

    assert [json.loads(line)["title"] for line in listed.out.splitlines()] == [
        *("note 2", "note 1", "note 0")
    ]
    assert [line.split("\t")[0] for line in lines] == ["00000002", "00000001"]
    assert lines[0].endswith("\tuser\tnote 2\tos:linux")
    assert len(memstore.requests("ListNotes")) == 3


def test_what_steers_a_terminal_is_written_out(command: Command, memstore: FakeState) -> None:
    note = command("insert", "--title", "red \x1b[31m and \u202e back\nline", "--json").json()

    shown = command("list").out

    assert "red \\x1b[31m and \\u202e back line" in shown
    assert command("get", note["id"], "--json").json()["title"].startswith("red \x1b[31m")
    assert len(memstore.notes) == 1


def test_status_prints_the_documented_object(command: Command, memstore: FakeState) -> None:
    memstore.status_reply = daemon_service_pb2.GetStatusResponse(
        pid=7,
        build="0.1.0+5",
        uptime_ms=61_000,
        pending=3,
        embedders=[
            daemon_service_pb2.EmbedderStatus(
                pid=8, socket="/s", model="starter", state="ready", uptime_ms=1_500, backend="cpu"
            )
        ],
    )

    reply = command("status", "--json").json()
    lines = command("status").out

    assert reply["memstore"]["pid"] == 7
    assert set(reply["memstore"]) >= {"pid", "socket", "version", "uptime_s", "pending"}
    assert reply["memstore"]["uptime_s"] == 61.0
    assert reply["embedder"] == {
        "pid": 8,
        "socket": "/s",
        "model": "starter",
        "state": "ready",
        "percent": 0,
        "problem": "",
        "uptime_s": 1.5,
        "backend": "cpu",
    }
    assert "memstore  process 7, up 1 min 1 s, 3 to embed or to join" in lines
    assert "embedder  process 8, up 1 s, starter on cpu: ready" in lines


def test_config_show_names_value_source_and_what_the_running_service_has(
    command: Command, memstore: FakeState, home: Path
) -> None:
    memstore.status_reply.settings["threads"] = "4"

    rows = [json.loads(line) for line in command("config", "show", "--json").out.splitlines()]

    found = {row["name"]: row for row in rows}
    assert found["target"]["source"] == str(home / "config.toml")
    assert found["threads"]["running"] == "4"
    assert found["profile"]["running"] is None


def test_the_version_is_printed(command: Command) -> None:
    assert command("--version").out.startswith("graft ")
