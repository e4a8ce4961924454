"""A disk that is full keeps nobody from reading what was stored before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell, make_home, stop
from tests.fixtures_disk import SmallDisk

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

TITLE = "pip cannot see the proxy behind the company firewall"


@pytest.fixture
def cramped(small_disk: SmallDisk, tmp_path: Path, models_dir: Path) -> Iterator[Shell]:
    """A shell whose home lies on a small disk of its own."""
    directory = tmp_path / "work"
    directory.mkdir()
    shell = Shell(home=make_home(small_disk.root / "home", models_dir), directory=directory)
    yield shell
    stop(shell)


def test_the_services_start_on_a_full_disk_read_and_refuse_to_write(
    cramped: Shell, small_disk: SmallDisk
) -> None:
    kept = cramped.insert(TITLE, "Set HTTPS_PROXY in the job's environment.")
    assert cramped.run("stop").status == 0
    small_disk.fill()

    answer = cramped.query(TITLE)
    got = cramped.run("get", kept["id"], "--json").json()
    listed = cramped.run("list", "--json").lines()
    refused = cramped.run("insert", "--title", "too late", "--json")
    doctor = cramped.run("doctor", "--json")
    small_disk.free()
    stored = cramped.insert("room was made, and nobody had to stop anything")

    assert (answer["hit"], answer["degraded"]) == ("STRONG", [])
    assert (got["title"], [note["id"] for note in listed]) == (TITLE, [kept["id"]])
    told = json.loads(refused.err)
    assert (refused.status, told["reason"]) == (1, "DISK_FULL")
    assert told["message"].endswith("free some and try again")
    wrong = {row["name"] for row in map(json.loads, doctor.out.splitlines()) if not row["ok"]}
    assert {"disk space", "disk", "write lock"} <= wrong
    assert "integrity" not in wrong
    assert cramped.query("nobody had to stop anything")["note"]["id"] == stored["id"]


def test_a_disk_that_fills_up_under_a_running_service_is_read_from(
    cramped: Shell, small_disk: SmallDisk
) -> None:
    cramped.insert(TITLE)
    small_disk.fill()

    refused = cramped.run("insert", "--title", "too late", "--body", "long " * 9_000, "--json")
    answer = cramped.query(TITLE)
    small_disk.free()
    cramped.insert("room was made")

    assert (refused.status, json.loads(refused.err)["reason"]) == (1, "DISK_FULL")
    assert (answer["hit"], answer["degraded"]) == ("STRONG", [])
    assert len(cramped.run("list", "--json").lines()) == 2
