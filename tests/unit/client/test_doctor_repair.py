"""What `graft doctor --repair` mends of a home, and what it leaves alone."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import daemon_service_pb2
from graft.wire.locks import FileLock
from graft.wire.paths import Home
from graft_client.doctor.repairs import repair_places
from graft_client.repairs import Repair

SERVICES = ["memstore", "embedder-starter"]


def repairs(home: Path, *, dry_run: bool = False) -> dict[str, Repair]:
    return {each.name: each for each in repair_places(Home(root=home), SERVICES, dry_run=dry_run)}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def ended_process() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def bare(place: Path) -> Path:
    """A home in which nothing is wrong and nothing runs."""
    home = place / "bare"
    for folder in (home, home / "profiles" / "default", home / "audit", home / "run"):
        folder.mkdir(mode=0o700, parents=True)
    (home / "profiles").chmod(0o700)
    for file in (home / "profiles" / "default" / "graft.db", home / "audit" / "key"):
        file.touch(mode=0o600)
    return home


def test_a_home_that_is_whole_is_left_as_it_is(bare: Path) -> None:
    before = sorted((str(path), mode(path)) for path in bare.rglob("*"))

    done = repairs(bare)

    assert {name: each.found for name, each in done.items()} == dict.fromkeys(done, 0)
    assert len(done) == 4
    after = sorted((str(path), mode(path)) for path in bare.rglob("*"))
    assert [each for each in after if not each[0].endswith(".start.lock")] == before


def test_a_home_that_is_not_there_is_not_made(place: Path) -> None:
    assert repairs(place / "none") == {}
    assert not (place / "none").exists()


def test_modes_are_closed_to_others_and_models_are_left(bare: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "m.gguf").touch(mode=0o644)
    (bare / "models").symlink_to(shared)
    database = bare / "profiles" / "default" / "graft.db"
    database.chmod(0o644)
    bare.chmod(0o755)

    shown = repairs(bare, dry_run=True)["modes"]
    kept = mode(database)
    done = repairs(bare)["modes"]

    assert (shown.found, shown.repaired, kept) == (2, False, 0o644)
    assert (done.found, done.repaired) == (2, True)
    assert (mode(bare), mode(database), mode(shared / "m.gguf")) == (0o700, 0o600, 0o644)


def test_what_is_left_of_services_that_have_ended_goes(bare: Path) -> None:
    home = Home(root=bare)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket("memstore")))
    record = {"pid": ended_process(), "socket": str(home.socket("memstore"))}
    home.record("memstore").write_text(json.dumps({**record, "build": "0", "started_ms": 0}))

    shown = repairs(bare, dry_run=True)["services' leftovers"]
    kept = home.record("memstore").exists()
    done = repairs(bare)["services' leftovers"]

    assert (shown.found, kept) == (2, True)
    assert (done.found, done.repaired) == (2, True)
    assert not home.record("memstore").exists()
    assert not home.socket("memstore").exists()


@pytest.mark.parametrize("held", ["life", "start"])
def test_what_a_service_that_runs_or_starts_holds_stays(bare: Path, held: str) -> None:
    home = Home(root=bare)
    home.record("memstore").write_text("{}")
    path = home.life_lock("memstore") if held == "life" else home.start_lock("memstore")
    lock = FileLock(path)
    assert lock.try_acquire()
    try:
        done = repairs(bare)["services' leftovers"]
    finally:
        lock.release()

    assert done.found == 0
    assert home.record("memstore").exists()


def test_halves_of_files_of_ended_processes_go_and_those_of_living_ones_stay(bare: Path) -> None:
    dead, alive = ended_process(), os.getpid()
    for pid in (dead, alive):
        (bare / f".models.json.{pid}").write_text("half")
        (bare / f"memstore.json.{pid}").write_text("half")
    (bare / "notes.2024").write_text("something of mine")

    done = repairs(bare)["drafts"]

    assert (done.found, done.repaired) == (2, True)
    assert sorted(path.name for path in bare.iterdir() if path.is_file()) == sorted(
        [
            f".models.json.{alive}",
            f"memstore.json.{alive}",
            "notes.2024",
            *(f"{name}.start.lock" for name in SERVICES),
        ]
    )


def test_halves_of_models_go_unless_one_is_being_fetched(bare: Path) -> None:
    models = bare / "models"
    models.mkdir(mode=0o700)
    half = models / ".bge-m3.gguf.part"
    half.write_bytes(b"half")
    (models / "starter.gguf").write_bytes(b"whole")
    lock = FileLock(models / ".lock")
    assert lock.try_acquire()

    busy = repairs(bare)["model leftovers"]
    kept = half.exists()
    lock.release()
    done = repairs(bare)["model leftovers"]

    assert (busy.found, busy.repaired, kept) == (1, False, True)
    assert "try again" in busy.detail
    assert (done.repaired, half.exists()) == (True, False)
    assert (models / "starter.gguf").exists()


def test_the_command_says_what_was_mended_and_what_was_not(
    command: Command, memstore: FakeState, home: Path
) -> None:
    folder = home / "profiles" / "default"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "graft.db").touch(mode=0o640)
    (folder / "graft.db").chmod(0o640)
    memstore.repairs = [
        daemon_service_pb2.Repair(name="words", found=3, repaired=True, detail="3 wrong"),
        daemon_service_pb2.Repair(name="bits", found=1, repaired=False, detail="do this"),
    ]

    told = command("doctor", "--repair")
    rows = [json.loads(line) for line in command("doctor", "--repair", "--json").out.splitlines()]

    assert "mended modes: " in told.out
    assert "mended words of default: 3; 3 wrong" in told.out
    assert "left   bits of default: 1; do this" in told.out
    words = next(row for row in rows if row.get("repair") == "words")
    assert words == {
        "repair": "words",
        "profile": "default",
        "found": 3,
        "repaired": True,
        "detail": "3 wrong",
    }
    requests = [request for method, request in memstore.received if method == "RepairProfile"]
    assert [getattr(each, "dry_run", None) for each in requests] == [False, False]


def test_a_dry_run_asks_for_nothing_to_be_changed(
    command: Command, memstore: FakeState, home: Path
) -> None:
    folder = home / "profiles" / "default"
    folder.mkdir(parents=True, mode=0o700)
    database = folder / "graft.db"
    database.touch()
    database.chmod(0o644)

    told = command("doctor", "--repair", "--dry-run")

    assert "found  modes" in told.out
    assert mode(database) == 0o644
    requests = [request for method, request in memstore.received if method == "RepairProfile"]
    assert [getattr(each, "dry_run", None) for each in requests] == [True]


@pytest.mark.parametrize(
    "options", [("--dry-run",), ("--repair", "--gate"), ("--apply",), ("--repair", "--reset")]
)
def test_options_that_do_not_go_together_are_wrong_usage(
    command: Command, options: tuple[str, ...]
) -> None:
    assert command("doctor", *options).code == 2
