import json
import struct
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import daemon_service_pb2
from graft.wire.locks import FileLock
from graft.wire.paths import Home
from graft_client.doctor.places import SCHEMA_NEWEST, check_places
from graft_client.doctor.processes import check_locks, check_status
from graft_client.doctor.programs import check_models
from graft_client.results import Check, EmbedderStatus, MemstoreStatus, Status
from graft_client.settings import configure


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def database(home: Path, name: str, content: bytes) -> Path:
    folder = home / "profiles" / name
    folder.mkdir(parents=True, mode=0o700)
    (home / "profiles").chmod(0o700)
    path = folder / "graft.db"
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def header(*, version: int, journal: int) -> bytes:
    content = bytearray(b"SQLite format 3\0".ljust(100, b"\0"))
    content[18] = content[19] = journal
    struct.pack_into(">I", content, 60, version)
    return bytes(content)


def test_a_home_that_is_not_there_is_nothing_wrong(place: Path) -> None:
    checks = list(check_places(Home(root=place / "new"), {}))

    assert all(check.ok for check in checks)
    assert not (place / "new").exists()


def test_a_good_home_passes_every_check(home: Path) -> None:
    database(home, "default", header(version=1, journal=2))

    checks = by_name(list(check_places(Home(root=home), {})))

    assert all(check.ok for check in checks.values())
    assert "schema 1, write-ahead log" in checks["file"].detail
    assert checks["file"].profile == "default"


def test_what_others_may_read_or_enter_is_wrong_and_the_command_is_named(home: Path) -> None:
    database(home, "default", header(version=1, journal=1)).chmod(0o644)
    home.chmod(0o755)

    checks = by_name(list(check_places(Home(root=home), {})))

    assert not checks["home"].ok
    assert f"chmod 700 {home}" in checks["home"].detail
    assert not checks["files"].ok
    assert "graft.db" in checks["files"].detail
    assert "rollback journal" in checks["file"].detail


def test_models_may_be_shared(home: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (home / "models").symlink_to(tmp_path)

    assert by_name(list(check_places(Home(root=home), {})))["files"].ok


def test_a_file_that_is_no_database_is_wrong(home: Path) -> None:
    database(home, "default", b"not a database at all")

    assert "no SQLite database" in by_name(list(check_places(Home(root=home), {})))["file"].detail


def test_a_file_of_a_newer_program_is_wrong_before_anything_is_started(home: Path) -> None:
    migrate = pytest.importorskip("graft_memstore.store.migrate")
    database(home, "default", header(version=SCHEMA_NEWEST + 1, journal=2))

    file = by_name(list(check_places(Home(root=home), {})))["file"]

    assert max(migrate.migrations()) == SCHEMA_NEWEST
    assert not file.ok
    assert "install the newer" in file.detail


def test_a_broken_settings_file_is_told_beside_everything_else(
    command: Command, memstore: FakeState, home: Path
) -> None:
    database(home, "default", header(version=1, journal=2))
    memstore.checks.append(daemon_service_pb2.Check(name="integrity", ok=True, detail="ok"))
    with (home / "config.toml").open("a", encoding="utf-8") as file:
        file.write("timeout = 5\nthreads = 'two'\n")

    done = command("doctor", "--json")

    rows = [json.loads(line) for line in done.out.splitlines()]
    found = {row["name"]: row for row in rows}
    wrong = [row["detail"] for row in rows if not row["ok"]]
    assert done.code == 1
    assert [row["detail"] for row in rows if row["name"] == "settings"] == wrong
    assert "unknown settings: timeout; there are profile, scope" in wrong[0]
    assert "threads (GRAFT_THREADS" in wrong[1]
    assert found["home"]["ok"]
    assert found["lock of memstore"]["ok"]
    assert found["integrity"]["ok"]


def test_a_settings_file_that_cannot_be_read_is_a_finding(command: Command, home: Path) -> None:
    (home / "config.toml").write_bytes(b"\xff[[[")

    done = command("doctor", "--json")

    found = {row["name"]: row for row in map(json.loads, done.out.splitlines())}
    assert done.code == 1
    assert "cannot be read" in found["settings"]["detail"]
    assert "move it away" in found["settings"]["detail"]
    assert found["memstore"]["ok"]


def test_a_damaged_profile_is_told_without_sending_its_reader_in_a_circle(
    command: Command, memstore: FakeState, home: Path
) -> None:
    database(home, "default", header(version=1, journal=2))
    memstore.damaged = "default"

    done = command("doctor", "--json")

    found = {row["name"]: row for row in map(json.loads, done.out.splitlines())}
    assert done.code == 1
    assert "backup" in found["profile"]["detail"]
    assert "graft doctor" not in found["profile"]["detail"]


def test_a_key_that_cannot_work_is_wrong(home: Path) -> None:
    check = by_name(list(check_places(Home(root=home), {"GRAFT_DB_KEY": "k"})))["encryption"]

    assert not check.ok
    assert "unset GRAFT_DB_KEY" in check.detail


def test_a_socket_directory_that_is_too_long_is_wrong(home: Path) -> None:
    long = Home(root=home, runtime=Path("/tmp") / ("x" * 120))  # noqa: S108 - never made

    assert "GRAFT_RUNTIME" in by_name(list(check_places(long, {})))["sockets"].detail


def test_a_held_lock_that_nobody_answers_for_is_wrong(home: Path) -> None:
    place = Home(root=home)
    free = by_name(list(check_locks(place, ["memstore"])))
    lock = FileLock(place.life_lock("memstore"))
    assert lock.try_acquire()

    held = by_name(list(check_locks(place, ["memstore"])))

    lock.release()
    assert free["lock of memstore"].ok
    assert not held["lock of memstore"].ok
    assert "graft stop --force" in held["lock of memstore"].detail


def test_a_failed_embedder_is_wrong_and_says_why() -> None:
    memstore = MemstoreStatus(
        pid=1, socket="", version="1", uptime_s=0, pending=0, erasing=0, calls=0, profiles=()
    )
    embedder = EmbedderStatus(
        pid=0,
        socket="",
        model="m",
        state="failed",
        percent=0,
        problem="no file; run: graft model pull m",
        uptime_s=0.0,
        backend="",
    )
    status = Status(memstore=memstore, embedder=embedder, embedders=(embedder,))

    checks = by_name(list(check_status(status, build="1")))

    assert checks["memstore"].ok
    assert checks["embedder m"] == Check(
        name="embedder m", ok=False, detail="no file; run: graft model pull m"
    )


def test_a_damaged_registry_of_models_is_wrong(home: Path) -> None:
    pytest.importorskip("graft_embedder.commands")
    (home / "models.json").write_text("{")

    checks = list(check_models(configure(home=home, environ={})))

    assert [check.ok for check in checks] == [False]
    assert "models.json" in checks[0].detail


def test_the_command_prints_one_object_a_check_and_ends_with_1_when_one_is_wrong(
    command: Command, memstore: FakeState, home: Path
) -> None:
    database(home, "default", header(version=1, journal=2))
    memstore.checks = [
        daemon_service_pb2.Check(name="integrity", ok=True, detail="ok"),
        daemon_service_pb2.Check(name="schema", ok=False, detail="newer; install the newer one"),
    ]

    done = command("doctor", "--json")

    rows = [json.loads(line) for line in done.out.splitlines()]
    found = {row["name"]: row for row in rows if row["profile"] in ("", "default")}
    assert done.code == 1
    assert found["integrity"]["ok"]
    assert found["schema"] == {
        "name": "schema",
        "ok": False,
        "detail": "newer; install the newer one",
        "profile": "default",
    }
    assert {name for name, _ in memstore.received} == {"GetStatus", "CheckProfile"}
