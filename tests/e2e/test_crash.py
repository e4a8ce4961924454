"""What was acknowledged survives kill -9, a held lock and many writers."""

import contextlib
import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.e2e.conftest import Shell

from graft_client import Graft, GraftError

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

SECONDS = 60.0
WRITERS_SECONDS = 480.0
"""Hundreds of inserts on a machine that has other work to do."""
FOREIGN_WAIT_MS = 5_000
"""The note that was just saved may be being joined."""


def database(shell: Shell) -> Path:
    return shell.home / "profiles" / "default" / "graft.db"


def rows(shell: Shell, statement: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(database(shell)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(statement))
    finally:
        connection.close()


def test_every_acknowledged_note_survives_a_kill_in_the_middle_of_five_hundred(
    shell: Shell,
) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()
    with Graft(home=shell.home, scope="user") as graft:
        first = graft.insert("note 0", "the first one starts the services")
        acknowledged.append(first.id)

        def write() -> None:
            with contextlib.suppress(GraftError):
                for number in range(1, 500):
                    body = "" if number % 10 else f"body of note {number} " * 20
                    note = graft.insert(f"note {number}", body)
                    acknowledged.append(note.id)
                    if number == 40:
                        enough.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert enough.wait(SECONDS)
        for pid in shell.daemons("memstore"):
            os.kill(pid, signal.SIGKILL)
        writer.join(WRITERS_SECONDS)
    assert not writer.is_alive()

    listed = {note["id"] for note in shell.run("list", "--json", "--limit", "0").lines()}
    checks = {check["name"]: check for check in shell.run("doctor", "--json").lines()}

    assert set(acknowledged) <= listed
    assert {name: check["ok"] for name, check in checks.items() if not check["ok"]} == {}
    assert {"integrity", "foreign keys", "audit chain"} <= set(checks)
    # Each note has its title's vector and its body's, or they are pending.
    without = rows(
        shell,
        "SELECT title FROM notes WHERE"
        " id NOT IN (SELECT note_id FROM chunks WHERE part = 0)"
        " AND id NOT IN (SELECT note_id FROM pending WHERE what = 'title')"
        " OR body != ''"
        " AND id NOT IN (SELECT note_id FROM chunks WHERE part > 0)"
        " AND id NOT IN (SELECT note_id FROM pending WHERE what = 'passages')",
    )
    assert without == []


def test_a_retry_with_the_same_request_id_answers_the_same_also_after_a_kill(
    shell: Shell,
) -> None:
    request_id = "0193a7a0-0000-7000-8000-000000000001"
    with Graft(home=shell.home, scope="user") as graft:
        first = graft.insert("a note sent twice", "body", request_id=request_id)
        second = graft.insert("a note sent twice", "body", request_id=request_id)
        for pid in shell.daemons("memstore"):
            os.kill(pid, signal.SIGKILL)
        third = graft.insert("a note sent twice", "body", request_id=request_id)
        with pytest.raises(GraftError, match="request_id"):
            graft.insert("another note", "body", request_id=request_id)

    assert (second.id, second.event, second.duplicate) == (first.id, first.event, False)
    assert (third.id, third.event, third.duplicate) == (first.id, first.event, False)
    assert len(shell.run("list", "--json").lines()) == 1


def test_two_clients_with_two_hundred_notes_each_leave_four_hundred(shell: Shell) -> None:
    shell.run("start")
    problems: list[Exception] = []

    def write(name: str) -> None:
        try:
            with Graft(home=shell.home, scope="user") as graft:
                for number in range(200):
                    graft.insert(f"{name} {number}")
        except Exception as error:  # noqa: BLE001 - the thread's root; the test shows it
            problems.append(error)

    writers = [threading.Thread(target=write, args=(name,)) for name in ("left", "right")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(WRITERS_SECONDS)

    assert problems == []
    assert shell.run("stats", "--json").json()["notes"] == 400


def test_a_foreign_writer_is_waited_for_and_reads_go_on(shell: Shell) -> None:
    shell.insert("a note before the lock")
    foreign = apsw.Connection(str(database(shell)))
    foreign.set_busy_timeout(FOREIGN_WAIT_MS)
    foreign.execute("BEGIN IMMEDIATE")
    release = threading.Timer(3, lambda: foreign.execute("ROLLBACK"))
    release.start()

    during = shell.query("a note before the lock")
    waiting = shell.insert("a note after the lock")
    release.join()
    foreign.close()

    assert during["hit"] == "STRONG"
    assert shell.run("get", waiting["id"], "--json").json()["title"] == "a note after the lock"


def test_a_lock_that_is_held_for_long_is_named_and_reads_go_on(shell: Shell) -> None:
    shell.insert("a note before the lock")
    with contextlib.closing(apsw.Connection(str(database(shell)))) as foreign:
        foreign.set_busy_timeout(FOREIGN_WAIT_MS)
        foreign.execute("BEGIN IMMEDIATE")

        refused = [
            shell.run("insert", "--title", "never stored", "--json", "--timeout", seconds)
            for seconds in ("4", "20", "2")
        ]
        during = shell.query("a note before the lock")

    assert [each.status for each in refused] == [1, 1, 1]
    for each in refused:
        told = json.loads(each.err)
        assert told["reason"] == "DATABASE_LOCKED"
        assert f"fuser {database(shell)}" in told["message"]
    assert during["hit"] == "STRONG"
    assert len(shell.run("list", "--json").lines()) == 1
    assert shell.insert("a note after the lock")["state"] == "active"


def test_pending_vectors_survive_a_restart(shell: Shell) -> None:
    without = replace(shell, environ={"GRAFT_MODEL": "absent"})
    note = without.insert("stored while no model can be had", "the words are found at once")
    found = without.query("stored while no model can be had")
    shell.run("stop")

    strong = shell.query("stored while no model can be had")
    end = time.monotonic() + SECONDS
    while strong["hit"] != "STRONG" and time.monotonic() < end:
        strong = shell.query("stored while no model can be had")

    assert note["pending"] > 0
    assert "vector" in found["degraded"]
    assert found["hit"] != "STRONG"
    assert (strong["hit"], strong["degraded"]) == ("STRONG", [])
