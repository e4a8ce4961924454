"""Units for systemd and launchd: what they say, that systemd takes them, and that nothing stays."""

import os
import plistlib
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from graft.wire.daemon import EXIT_LOCK_TAKEN
from graft.wire.paths import Home
from graft_client.errors import InputError
from graft_client.service_units import unit as units
from graft_client.service_units.manager import (
    Launchd,
    ManagerError,
    Systemd,
    install,
    manager_of,
    remove,
    status,
)
from graft_client.service_units.unit import Unit, launchd_plist, systemd_unit, unit_path

FAKE = """#!/bin/sh
echo "$@" >> {record}
case "$*" in *is-active*) echo active;; esac
exit {code}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person's folder, whose managers write down what they are asked."""

    root: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.root), "PATH": f"{self.root / 'bin'}:/usr/bin:/bin"}

    def manager(self, name: str, *, code: int = 0) -> None:
        """Put a manager there that ends with *code*."""
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(FAKE.format(record=self.root / "asked", code=code))
        path.chmod(0o755)

    def asked(self) -> list[str]:
        record = self.root / "asked"
        return record.read_text().splitlines() if record.exists() else []

    def unit(self, home: str = "home", *, is_default: bool = True) -> Unit:
        return Unit(
            home=Home(root=self.root / home),
            python=sys.executable,
            environ=self.environ,
            is_default=is_default,
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    root = tmp_path / "person"
    root.mkdir()
    return Person(root=root)


def values(text: str, key: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith(f"{key}=")]
    return [line.partition("=")[2] for line in lines]


def test_a_unit_runs_the_memstore_in_the_foreground_and_never_ends_for_idleness(
    person: Person,
) -> None:
    text = systemd_unit(person.unit())

    assert values(text, "ExecStart") == [
        f'"{sys.executable}" "-m" "graft_memstore" "serve" "--home" "{person.root / "home"}"'
    ]
    assert values(text, "Environment") == ['"GRAFT_IDLE_MINUTES=0"']
    assert values(text, "Restart") == ["on-failure"]
    assert values(text, "RestartPreventExitStatus") == [str(EXIT_LOCK_TAKEN)]
    assert values(text, "UMask") == ["0077"]
    assert values(text, "StandardError") == [f"append:{person.root / 'home' / 'memstore.log'}"]


@pytest.mark.parametrize("home", ["home", 'a "b" %c $d\\e', "mit Leerzeichen", "früher"])
def test_systemd_takes_the_unit_whatever_the_home_is_called(person: Person, home: str) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    unit = person.unit(home)
    path = person.root / "graft-memstore.service"
    path.write_text(systemd_unit(unit), encoding="utf-8")

    done = subprocess.run(
        [analyze, "--user", "verify", path],
        env={**person.environ, "XDG_RUNTIME_DIR": str(person.root)},
        capture_output=True,
        text=True,
        check=False,
    )

    about_ours = [line for line in done.stderr.splitlines() if "graft-memstore" in line]
    assert about_ours == []


def test_systemd_notices_a_unit_that_is_wrong(person: Person) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    path = person.root / "graft-memstore.service"
    path.write_text(systemd_unit(person.unit()).replace("Restart=", "Restarted="))

    done = subprocess.run(
        [analyze, "--user", "verify", path],
        env={**person.environ, "XDG_RUNTIME_DIR": str(person.root)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "Restarted" in done.stderr


def test_an_agent_of_launchd_says_the_same(person: Person) -> None:
    content = plistlib.loads(launchd_plist(person.unit()))

    assert content["Label"] == "graft.memstore"
    assert content["ProgramArguments"] == person.unit().command()
    assert content["EnvironmentVariables"] == {"GRAFT_IDLE_MINUTES": "0"}
    assert content["KeepAlive"] == {"SuccessfulExit": False}
    assert content["Umask"] == 0o077


def test_units_of_two_homes_have_two_names(person: Person) -> None:
    paths = {
        unit_path(person.unit(), person.environ).name,
        unit_path(person.unit("one", is_default=False), person.environ).name,
        unit_path(person.unit("two", is_default=False), person.environ).name,
    }

    assert len(paths) == 3
    assert "graft-memstore.service" in paths


def test_a_runtime_directory_of_its_own_goes_along_and_nothing_of_one_call(
    person: Person,
) -> None:
    environ = {**person.environ, "GRAFT_RUNTIME": "/run/x", "GRAFT_SESSION": "s", "SECRET": "s"}
    unit = Unit(
        home=Home(root=person.root), python=sys.executable, environ=environ, is_default=True
    )

    assert unit.variables() == {"GRAFT_IDLE_MINUTES": "0", "GRAFT_RUNTIME": "/run/x"}


def test_a_home_that_no_unit_can_name_is_refused(person: Person) -> None:
    for write in (systemd_unit, launchd_plist):
        with pytest.raises(InputError, match="no unit can"):
            write(person.unit("a\nExecStart=/bin/evil"))


def test_installing_writes_the_unit_and_has_it_run_and_again_changes_nothing(
    person: Person,
) -> None:
    person.manager("systemctl")
    manager = manager_of(person.unit(), person.environ, "linux")

    first, second = install(manager, person.unit()), install(manager, person.unit())

    log = person.root / "home" / "memstore.log"
    told = status(manager)
    assert isinstance(manager, Systemd)
    assert (first, second) == (True, False)
    assert manager.path == person.root / ".config/systemd/user/graft-memstore.service"
    assert manager.path.read_bytes() == manager.content
    assert person.asked()[:3] == [
        "--user daemon-reload",
        "--user enable graft-memstore.service",
        "--user restart graft-memstore.service",
    ]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert (told.installed, told.current, told.active) == (True, True, "active")


def test_a_unit_of_another_installation_is_told_and_renewed(person: Person) -> None:
    person.manager("systemctl")
    manager = manager_of(person.unit(), person.environ, "linux")
    install(manager, person.unit())
    manager.path.write_text("[Service]\nExecStart=/another/python\n")

    before = status(manager)
    renewed = install(manager, person.unit())

    assert (before.installed, before.current, renewed) == (True, False, True)
    assert status(manager).current


@pytest.mark.parametrize("code", [0, 1])
def test_removing_leaves_nothing_also_where_the_manager_cannot(person: Person, code: int) -> None:
    person.manager("systemctl")
    manager = manager_of(person.unit(), person.environ, "linux")
    install(manager, person.unit())
    wants = manager.path.parent / "default.target.wants" / manager.path.name
    wants.parent.mkdir()
    wants.symlink_to(manager.path)
    person.manager("systemctl", code=code)

    first, second = remove(manager), remove(manager)

    assert (first, second) == (True, False)
    assert "--user disable --now graft-memstore.service" in person.asked()
    assert not os.path.lexists(manager.path)
    assert not os.path.lexists(wants)
    assert not status(manager).installed


def test_a_manager_that_fails_or_is_not_there_is_named_with_what_to_do(person: Person) -> None:
    manager = manager_of(person.unit(), {**person.environ, "PATH": "/nowhere"}, "linux")
    with pytest.raises(ManagerError, match=r"systemctl is not there.*--dry-run"):
        install(manager, person.unit())
    person.manager("systemctl", code=1)
    manager = manager_of(person.unit(), person.environ, "linux")
    with pytest.raises(ManagerError, match="daemon-reload: it ended with 1"):
        install(manager, person.unit())


def test_on_macos_it_is_an_agent_of_launchd(person: Person) -> None:
    person.manager("launchctl")
    manager = manager_of(person.unit(), person.environ, "darwin")

    install(manager, person.unit())
    installed = manager.path.read_bytes()
    remove(manager)

    assert isinstance(manager, Launchd)
    assert plistlib.loads(installed)["Label"] == "graft.memstore"
    assert f"bootstrap gui/{os.getuid()} {manager.path}" in person.asked()
    assert person.asked()[-1] == f"bootout gui/{os.getuid()}/graft.memstore"
    assert not manager.path.exists()


def test_the_two_facts_that_are_written_twice_agree() -> None:
    assert units.STARTED_ALREADY == EXIT_LOCK_TAKEN
