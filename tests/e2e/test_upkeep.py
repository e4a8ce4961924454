"""Upkeep as a user has it: the command line, the services, a kill in the middle."""

import os
import signal
import time
from pathlib import Path

import apsw
import pytest
from tests.e2e.conftest import Shell

from graft_client import Graft, NewNote

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

HALF_MERGED = """
SELECT count(*)
FROM edges
JOIN notes AS loser ON loser.seq = edges.dst
JOIN notes AS keeper ON keeper.seq = edges.src
JOIN note_states AS state ON state.note_id = loser.id AND state.known_to IS NULL
JOIN note_keywords AS carried ON carried.note_id = loser.id AND carried.known_to IS NULL
WHERE edges.kind = 'SUPERSEDES' AND edges.known_to IS NULL
  AND (state.lifecycle <> 'superseded' OR NOT EXISTS (
      SELECT 1 FROM note_keywords AS given
      WHERE given.note_id = keeper.id AND given.keyword_id = carried.keyword_id))
"""
SUPERSEDED = """
SELECT count(*) FROM note_states WHERE known_to IS NULL AND lifecycle = 'superseded'
"""
WITHOUT_EDGE = """
SELECT count(*) FROM note_states AS state JOIN notes ON notes.id = state.note_id
WHERE state.known_to IS NULL AND state.lifecycle = 'superseded' AND NOT EXISTS (
    SELECT 1 FROM edges WHERE edges.dst = notes.seq AND edges.kind = 'SUPERSEDES')
"""


def number(shell: Shell, statement: str) -> int:
    path = shell.home / "profiles" / "default" / "graft.db"
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        ((count,),) = connection.execute(statement).fetchall()
    finally:
        connection.close()
    assert isinstance(count, int)
    return count


def test_a_contradiction_is_found_decided_and_does_not_come_back(shell: Shell) -> None:
    older = shell.insert("Restart the pool during backups")["id"]
    newer = shell.insert("Do not restart the pool during backups")["id"]
    shell.insert("Grafana dashboards live in the infra repository")

    (item,) = shell.run("maintain", "scan", "--json").json()["items"]
    decided = shell.run(
        *("maintain", "resolve", str(item["id"]), "--decision", "supersede", "--json")
    ).json()
    again = shell.run("maintain", "scan", "--json").json()

    assert (item["kind"], item["note_id"], item["other_id"]) == ("contradiction", older, newer)
    assert decided["changed"] == [older]
    assert again["items"] == []
    assert shell.query("restart the pool during backups")["note"]["id"] == newer
    assert [each["action"] for each in shell.run("maintain", "log", "--json").lines()] == [
        "resolve"
    ]
    assert shell.run("undo", str(decided["change_event"])).status == 0
    assert shell.run("get", older, "--json").json()["state"] == "active"


def test_what_only_a_reviewer_may_decide_and_a_wrong_decision_are_refused(shell: Shell) -> None:
    shell.insert("Restart the pool during backups")
    shell.insert("Do not restart the pool during backups")
    (item,) = shell.run("maintain", "scan", "--json").json()["items"]

    refused = shell.run("maintain", "resolve", str(item["id"]), "--decision", "approve")
    unknown = shell.run("maintain", "resolve", "999", "--decision", "keep-both")
    misused = shell.run("maintain", "resolve", "1", "--decision", "keep-both", "--keep", "0" * 32)

    assert (refused.status, unknown.status, misused.status) == (1, 1, 2)
    assert "supersede or keep-both" in refused.err
    assert "999" in unknown.err


def test_status_and_consolidate_tell_what_there_is(shell: Shell) -> None:
    for n in range(6):
        shell.insert(f"a note about pool {n}", "", "--keyword", "pool")

    planned = shell.run("consolidate", "--dry-run", "--json").json()
    done = shell.run("consolidate", "--json").json()
    status = shell.run("maintain", "status", "--json").json()

    assert (planned["total"], done["total"], done["finished"]) == (6, 6, True)
    assert done["edges"] > 0
    assert status["edges_waiting"] == 0
    assert status["scanned_at"] is None
    assert status["next"] == ["graft maintain apply-safe", "graft maintain scan"]


def test_bulk_delete_counts_asks_and_stays_in_its_scope(shell: Shell) -> None:
    for scope in ("user", "team:web"):
        for n in range(3):
            shell.insert(f"note {n} of {scope}", "", "--keyword", "x", "--scope", scope)
    kept = shell.insert("kept", "", "--keyword", "y")["id"]
    why = ("--reason", "no longer wanted")

    empty = shell.run("delete", "--keyword", "", *why, "--yes")
    neither = shell.run("delete", *why, "--yes")
    both = shell.run("delete", kept, "--keyword", "x", *why, "--yes")
    everywhere = shell.run("delete", "--keyword", "x", "--all-scopes", *why, "--yes")
    unasked = shell.run("delete", "--keyword", "x", *why)
    dry = shell.run("delete", "--keyword", "x", *why, "--dry-run", "--json")
    done = shell.run("delete", "--keyword", "x", *why, "--yes", "--json")

    assert [each.status for each in (empty, neither, both, everywhere)] == [2, 2, 2, 2]
    assert unasked.status == 2
    assert "3 notes (3 in user)" in unasked.err
    assert len(dry.lines()) == 3
    assert [each["outcome"] for each in done.lines()] == ["erased"] * 3
    counts = shell.run("stats", "--all-scopes", "--json").json()["scopes"]
    assert counts == {"user": 1, "team:web": 3}


def test_bulk_delete_of_one_profile_leaves_another_alone(shell: Shell) -> None:
    shell.run("profile", "add", "other")
    for profile in ("default", "other"):
        shell.insert("a note", "", "--keyword", "x", "--profile", profile)

    shell.run("delete", "--keyword", "x", "--reason", "r", "--yes")

    assert shell.run("stats", "--json").json()["notes"] == 0
    assert shell.run("stats", "--profile", "other", "--json").json()["notes"] == 1


@pytest.mark.parametrize("after_ms", [5, 30, 80])
def test_a_kill_in_the_middle_of_merging_leaves_all_or_nothing_of_each(
    shell: Shell, after_ms: int
) -> None:
    with Graft(home=shell.home, scope="user") as graft:
        for spelled in (str.lower, str.upper):
            graft.insert_many(
                [
                    NewNote(title=spelled(f"pool number {n}"), keywords=(f"{spelled('k')}{n}",))
                    for n in range(60)
                ]
            )
    running = shell.start("maintain", "apply-safe")
    before = number(shell, SUPERSEDED)
    deadline = time.monotonic() + 20.0
    while number(shell, SUPERSEDED) == before and time.monotonic() < deadline:
        pass
    os.sched_yield()
    signal.sigtimedwait([], after_ms / 1_000)
    for pid in shell.daemons("memstore"):
        os.kill(pid, signal.SIGKILL)
    running.communicate(timeout=60)

    assert number(shell, SUPERSEDED) > 0
    assert number(shell, HALF_MERGED) == 0
    assert number(shell, WITHOUT_EDGE) == 0

    shell.run("maintain", "apply-safe")

    assert number(shell, SUPERSEDED) == 60
    assert number(shell, HALF_MERGED) == 0


def test_the_sweeper_is_switched_off_by_its_setting(shell: Shell, tmp_path: Path) -> None:
    off = Shell(home=shell.home, directory=tmp_path, environ={"GRAFT_UPKEEP": "0"})
    off.insert("a note")

    assert off.run("maintain", "status", "--json").json()["sweeping"] is False
    shell.run("stop")
    assert shell.run("maintain", "status", "--json").json()["sweeping"] is True
