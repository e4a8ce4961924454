"""Several installed versions that share one home: one memstore at a time, and nothing is lost."""

import json
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.conftest import SECONDS, Finished, Shell, stop

import graft
import graft_client
import graft_embedder
import graft_memstore
from graft.memory.v1 import backups_service_pb2, backups_service_pb2_grpc
from graft.wire.channel import open_channel
from graft_memstore.store.migrate import migrations
from graft_memstore.store.migration_copies import copies_of

pytestmark = pytest.mark.timeout(300)

PACKAGES = (graft, graft_client, graft_embedder, graft_memstore)
METADATA = "Metadata-Version: 2.1\nName: graft-memory\nVersion: {}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An installation of the program: an interpreter of its own, with a copy of our packages."""

    python: Path
    packages: Path
    shell: Shell

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.python, "-m", "graft_client.cli", *arguments],
            cwd=self.shell.directory,
            env=self.shell.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> Finished:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=SECONDS)
        return Finished(status=process.returncode, out=out, err=err)

    def insert(self, title: str) -> str:
        done = self.run("insert", "--title", title, "--json")
        return str(done.json()["id"])

    def memstore(self) -> dict[str, object]:
        status: dict[str, object] = self.run("status", "--json").json()["memstore"]
        return status

    def ids(self) -> set[str]:
        return {note["id"] for note in self.run("list", "--json", "--limit", "0").lines()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Installs versions that all use one home."""

    root: Path
    shell: Shell

    def install(self, version: str) -> Version:
        """Make an environment with *version* of our packages, and everybody else's from here."""
        place = self.root / version
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", "--symlinks", place], check=True
        )
        packages = Path(
            sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)})
        )
        for package in PACKAGES:
            source = Path(package.__path__[0])
            shutil.copytree(
                source, packages / source.name, ignore=shutil.ignore_patterns("__pycache__")
            )
        metadata = packages / f"graft_memory-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(METADATA.format(version))
        (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        return Version(python=place / "bin" / "python", packages=packages, shell=self.shell)


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[Versions]:
    directory = tmp_path / "work"
    directory.mkdir()
    # What is embedded has no part in this, and the services start faster.
    shell = Shell(home=tmp_path / "home", directory=directory, environ={"GRAFT_MODEL": "absent"})
    yield Versions(root=tmp_path / "versions", shell=shell)
    stop(shell)


@contextmanager
def kept_busy(socket: str) -> Iterator[None]:
    """Keep the memstore at *socket* in a call that does not end before the block does."""
    begun, may_end = threading.Event(), threading.Event()

    def nothing_yet() -> Iterator[backups_service_pb2.VerifyBackupRequest]:
        yield backups_service_pb2.VerifyBackupRequest()
        begun.set()
        may_end.wait(SECONDS)

    with open_channel(Path(socket)) as channel:
        stub = backups_service_pb2_grpc.BackupsServiceStub(channel)
        call = stub.VerifyBackup.future(nothing_yet(), timeout=SECONDS)
        assert begun.wait(SECONDS)
        try:
            yield
        finally:
            may_end.set()
            call.exception(SECONDS)


def test_each_installation_is_what_it_says(versions: Versions) -> None:
    told = [versions.install(each).run("--version").out for each in ("0.7.0", "0.8.2")]

    assert told == ["graft 0.7.0\n", "graft 0.8.2\n"]


def test_another_version_replaces_an_idle_memstore_and_finds_its_notes(versions: Versions) -> None:
    old, new = versions.install("0.7.0"), versions.install("0.8.0")
    first = old.insert("saved by the old version")
    before = old.memstore()

    second = new.insert("saved by the new version")
    after = new.memstore()
    third = old.insert("saved by the old version once more")
    last = old.memstore()

    began = [str(each["version"]).partition("+")[0] for each in (before, after, last)]
    assert began == ["0.7.0", "0.8.0", "0.7.0"]
    assert len({before["pid"], after["pid"], last["pid"]}) == 3
    assert new.ids() == {first, second, third}
    assert len(versions.shell.daemons("memstore")) == 1


def test_a_busy_memstore_goes_on_being_used_one_minor_version_apart(versions: Versions) -> None:
    old, new = versions.install("0.7.0"), versions.install("0.8.0")
    first = old.insert("saved by the old version")
    before = old.memstore()

    with kept_busy(str(before["socket"])):
        second = new.insert("saved by the new version")
        during = new.memstore()
    new.run("list")
    after = new.memstore()

    assert (during["pid"], str(during["version"])[:5]) == (before["pid"], "0.7.0")
    assert str(after["version"])[:5] == "0.8.0"
    assert new.ids() == {first, second}
    assert len(versions.shell.daemons("memstore")) == 1


@pytest.mark.parametrize("other", ["0.9.0", "1.7.0"])
def test_further_apart_the_call_names_both_and_what_ends_it(versions: Versions, other: str) -> None:
    old, new = versions.install("0.7.0"), versions.install(other)
    first = old.insert("saved by the old version")
    before = old.memstore()

    with kept_busy(str(before["socket"])):
        refused = new.run("insert", "--title", "never saved", "--json")
        during = old.memstore()
    second = new.insert("saved once it was idle")

    told = json.loads(refused.err)
    assert (refused.status, told["reason"]) == (1, "WRONG_BUILD")
    assert "version 0.7.0+" in told["message"]
    assert f"program of {other}+" in told["message"]
    assert "graft stop" in told["message"]
    assert during["pid"] == before["pid"]
    assert new.ids() == {first, second}


def test_many_calls_of_three_versions_at_once_lose_nothing(versions: Versions) -> None:
    installed = [versions.install(each) for each in ("0.7.0", "0.7.1", "0.8.0")]
    running = [
        each.start("insert", "--title", f"note {number} of {index}", "--json", "--timeout", "100")
        for number in range(3)
        for index, each in enumerate(installed)
    ]

    done = [(each.communicate(timeout=SECONDS), each.returncode) for each in running]

    assert [err for (_, err), status in done if status] == []
    saved = {json.loads(out)["id"] for (out, _), _ in done}
    assert len(saved) == 9
    assert installed[0].ids() == saved
    assert installed[0].run("log", "--verify").status == 0
    assert len(versions.shell.daemons("memstore")) == 1


def test_a_file_of_a_newer_version_is_refused_by_an_older_and_kept_whole(
    versions: Versions,
) -> None:
    newest = max(migrations())
    old, new = versions.install("0.7.0"), versions.install("0.8.0")
    shipped = new.packages / "graft_memstore" / "store" / "migrations"
    (shipped / f"{newest + 1:04}_more.sql").write_text("CREATE TABLE more (a INTEGER) STRICT;")
    first = old.insert("saved by the old version")
    database = versions.shell.home / "profiles" / "default" / "graft.db"

    second = new.insert("saved by the new version")
    copies = [each.name for each in copies_of(database)]
    refused = old.run("insert", "--title", "never saved", "--json")
    kept = new.ids()

    told = json.loads(refused.err)
    assert copies == [f"graft.db.schema-{newest}"]
    assert (refused.status, told["reason"]) == (1, "SCHEMA_TOO_NEW")
    assert f"schema {newest + 1}, this one knows {newest}" in told["message"]
    assert kept == {first, second}
