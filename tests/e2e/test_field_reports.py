"""What users of other memories reported does not happen here."""

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from tests.e2e.conftest import Shell

from graft.wire.build import build_id

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]


def test_a_socket_that_never_answers_is_told_within_the_deadline(shell: Shell) -> None:
    run = shell.home / "run"
    run.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(run / "memstore.sock"))
        silent.listen()
        record = {"service": "memstore", "pid": 1, "socket": str(run / "memstore.sock")}
        (shell.home / "memstore.json").write_text(
            json.dumps({**record, "build": build_id(), "started_ms": 1}), "utf-8"
        )

        asked = shell.run("query", "x", "--json", "--timeout", "5")

    again = shell.query("x")

    assert asked.status == 3
    assert "graft stop --force" in json.loads(asked.err)["message"]
    assert again["degraded"] == []


def test_a_stopped_process_is_named_and_ended_by_force(shell: Shell) -> None:
    shell.insert("kept over the hang")
    (pid,) = shell.daemons("memstore")
    psutil.Process(pid).suspend()

    asked = shell.run("query", "x", "--json", "--timeout", "5")
    doctor = shell.run("doctor", "--timeout", "5")
    ended = shell.run("stop", "--force", "--json").json()

    assert asked.status == 3
    assert str(pid) in json.loads(asked.err)["message"]
    assert (doctor.status, "graft stop --force" in doctor.out) == (1, True)
    assert ended == {"stopped": pid}
    assert shell.query("kept over the hang")["hit"] == "STRONG"


def test_a_recalled_text_that_comes_back_with_a_word_changed_names_its_original(
    shell: Shell,
) -> None:
    title = "pip cannot see the proxy behind the company firewall"
    original = shell.insert(title, "Set HTTPS_PROXY in the job's environment.")
    recalled = shell.query(title)["note"]

    again = shell.insert(recalled["title"], recalled["body"])
    changed = shell.insert(recalled["title"], recalled["body"].replace("job", "step"))

    assert (again["id"], again["duplicate"]) == (original["id"], True)
    assert not changed["duplicate"]
    assert changed["similar"][0]["id"] == original["id"]


def test_what_is_deleted_in_one_profile_stays_in_the_other(shell: Shell) -> None:
    assert shell.run("profile", "add", "work").status == 0
    here, there = (shell.insert("the same text", "", "--profile", p) for p in ("default", "work"))

    shell.run("delete", here["id"], "--reason", "wrong", "--yes", "--json").json()

    left = shell.run("list", "--profile", "work", "--json").lines()
    assert shell.run("list", "--json").lines() == []
    assert [note["id"] for note in left] == [there["id"]]


def test_instants_are_the_same_whatever_the_reader_s_time_zone(
    shell: Shell, tmp_path: Path
) -> None:
    west = replace(shell, environ={"TZ": "America/Los_Angeles"}, directory=tmp_path)
    before = datetime.now(UTC)

    note = west.insert("saved in the evening there, in the morning here")

    day = f"{before:%Y-%m-%d}T00:00:00Z"
    found = west.run("list", "--since", day, "--json").lines()
    saved = datetime.fromisoformat(found[0]["recorded_at"])
    assert [each["id"] for each in found] == [note["id"]]
    assert found[0]["recorded_at"].endswith("Z")
    assert abs((saved - before).total_seconds()) < 120
    assert west.run("list", "--since", "2999-01-01T00:00:00+09:00", "--json").lines() == []
