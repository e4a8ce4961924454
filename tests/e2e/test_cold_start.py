"""Any number of first callers at once, some of them killed, give one daemon of each kind."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import SECONDS, Shell, make_home, stop

pytestmark = [pytest.mark.model, pytest.mark.timeout(180)]


def test_sixteen_first_calls_at_once_all_succeed_with_one_daemon_of_each(shell: Shell) -> None:
    calls = [shell.start("query", f"question {n}", "--json", "--timeout", "100") for n in range(16)]

    outputs = [call.communicate(timeout=SECONDS) for call in calls]

    assert [(call.returncode, err) for call, (_, err) in zip(calls, outputs, strict=True)] == [
        (0, err) for _, err in outputs
    ]
    assert {json.loads(out)["hit"] for out, _ in outputs} == {"MISS"}
    assert all(json.loads(out)["degraded"] == [] for out, _ in outputs)
    assert len(shell.daemons("memstore")) == 1
    assert len(shell.daemons("embedder")) == 1


def test_fifty_calls_of_which_a_fifth_is_killed_give_one_daemon_of_each(shell: Shell) -> None:
    calls = [
        shell.start("insert", "--title", f"note {n}", "--json", "--timeout", "100")
        for n in range(50)
    ]

    for call in calls[::5]:  # the first starter among them
        call.send_signal(signal.SIGKILL)
    outputs = [call.communicate(timeout=SECONDS) for call in calls]

    survivors = [
        (call.returncode, out)
        for n, (call, (out, _)) in enumerate(zip(calls, outputs, strict=True))
        if n % 5
    ]
    assert [status for status, _ in survivors] == [0] * 40
    stored = {json.loads(out)["id"] for _, out in survivors}
    listed = {note["id"] for note in shell.run("list", "--json").lines()}
    assert stored <= listed
    assert len(shell.daemons("memstore")) == 1
    assert len(shell.daemons("embedder")) == 1


def test_killed_daemons_leave_nothing_to_trip_over(shell: Shell) -> None:
    note = shell.insert("Postgres needs a lock before the migration")
    for pid in (*shell.daemons("memstore"), *shell.daemons("embedder")):
        os.kill(pid, signal.SIGKILL)

    found = shell.query("which lock does the Postgres migration need")

    assert found["note"]["id"] == note["id"]
    assert found["degraded"] == []


def test_a_home_with_a_path_of_two_hundred_characters_works(
    tmp_path: Path, models_dir: Path
) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    shell = Shell(home=make_home(deep, models_dir), directory=tmp_path)

    note = shell.insert("a note in a deep home")

    assert shell.run("get", note["id"], "--json").json()["title"] == "a note in a deep home"
    stop(shell)


def test_two_shells_with_different_environments_share_one_memstore(
    shell: Shell, tmp_path: Path
) -> None:
    with_runtime = replace(shell, environ={"XDG_RUNTIME_DIR": str(tmp_path)})
    without = replace(shell, environ={"XDG_RUNTIME_DIR": ""})

    note = with_runtime.insert("seen from both shells")

    assert without.run("get", note["id"], "--json").json()["title"] == "seen from both shells"
    assert len(shell.daemons("memstore")) == 1


def test_two_homes_have_two_memstores_and_share_nothing(
    shell: Shell, tmp_path: Path, models_dir: Path
) -> None:
    other = replace(shell, home=make_home(tmp_path / "other", models_dir))

    mine = shell.insert("a note of the first home")
    theirs = other.insert("a note of the second home")

    assert [note["id"] for note in shell.run("list", "--json").lines()] == [mine["id"]]
    assert [note["id"] for note in other.run("list", "--json").lines()] == [theirs["id"]]
    assert other.run("get", mine["id"]).status == 1
    stop(other)


def test_nothing_is_started_where_that_is_forbidden(shell: Shell) -> None:
    alone = replace(shell, environ={"GRAFT_AUTOSTART": "0"})

    refused = alone.run("query", "x", "--json")

    assert refused.status == 3
    assert "graft start" in refused.err
    assert shell.daemons("memstore") == []


def test_a_first_question_prepares_the_starter_and_is_not_degraded(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shell = Shell(home=home, directory=tmp_path)

    answer = shell.query("has anybody seen this before", "--timeout", "90")

    assert (answer["hit"], answer["degraded"]) == ("MISS", [])
    assert (home / "models").stat().st_mode & 0o777 == 0o700
    stop(shell)
