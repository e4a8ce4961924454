"""Installs a unit for a person with the system's own manager, and takes it away again."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graft.wire.logs import open_log
from graft_client.errors import GraftError
from graft_client.programs import MEMSTORE
from graft_client.service_units.unit import (
    LABEL,
    Unit,
    agent_path,
    launchd_plist,
    systemd_unit,
    unit_path,
)
from graft_client.whole_files import write_whole

MANAGER_SECONDS = 60.0
"""What one call of the manager may take; stopping a memstore is one."""


class ManagerError(GraftError):
    """The system's manager could not do it; what it said is in the message."""

    reason = "SERVICE_MANAGER"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitStatus:
    """How a unit is.

    Attributes:
        path: of its file.
        installed: whether that is there.
        current: whether it is what installing would write now.
        active: what the manager says of it; empty where it cannot be asked.
    """

    path: str
    installed: bool
    current: bool
    active: str


class Manager(Protocol):
    """Systemd or launchd, for one unit of a person."""

    path: Path
    content: bytes

    def begin(self) -> None:
        """Have the unit run now and whenever the person logs in."""

    def end(self) -> None:
        """End it, and have it run no more; one that is not known is no failure."""

    def active(self) -> str:
        """Return what the manager says of it in a word, empty where it cannot be asked."""


class Systemd:
    """A person's own instance of systemd."""

    def __init__(self, unit: Unit, environ: Mapping[str, str]) -> None:
        self.path = unit_path(unit, environ)
        self.content = systemd_unit(unit).encode()
        self._environ = environ

    def begin(self) -> None:
        """See `Manager`; a unit that runs is started anew, since its file may be another."""
        self._ask("daemon-reload")
        self._ask("enable", self.path.name)
        self._ask("restart", self.path.name)

    def end(self) -> None:
        """See `Manager`."""
        with suppress(ManagerError):
            self._ask("disable", "--now", self.path.name)
        # What enabling made, where systemd could not be asked.
        (self.path.parent / "default.target.wants" / self.path.name).unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)
        with suppress(ManagerError):
            self._ask("daemon-reload")

    def active(self) -> str:
        """See `Manager`."""
        done = _run(["systemctl", "--user", "is-active", self.path.name], self._environ)
        return "" if done is None else done.stdout.strip()

    def _ask(self, *arguments: str) -> None:
        _check(["systemctl", "--user", *arguments], self._environ)


class Launchd:
    """A person's own domain of launchd."""

    def __init__(self, unit: Unit, environ: Mapping[str, str]) -> None:
        self.path = agent_path(unit, environ)
        self.content = launchd_plist(unit)
        self._environ = environ
        self._domain = f"gui/{os.getuid()}"
        self._label = f"{LABEL}{unit.suffix}"

    def begin(self) -> None:
        """See `Manager`; an agent that is loaded is loaded anew."""
        with suppress(ManagerError):
            self._ask("bootout", f"{self._domain}/{self._label}")
        self._ask("bootstrap", self._domain, str(self.path))

    def end(self) -> None:
        """See `Manager`."""
        with suppress(ManagerError):
            self._ask("bootout", f"{self._domain}/{self._label}")
        self.path.unlink(missing_ok=True)

    def active(self) -> str:
        """See `Manager`."""
        done = _run(["launchctl", "print", f"{self._domain}/{self._label}"], self._environ)
        if done is None:
            return ""
        return "active" if done.returncode == 0 else "inactive"

    def _ask(self, *arguments: str) -> None:
        _check(["launchctl", *arguments], self._environ)


def manager_of(unit: Unit, environ: Mapping[str, str], platform: str) -> Manager:
    """Return the manager of a system: systemd, or launchd on macOS."""
    return Launchd(unit, environ) if platform == "darwin" else Systemd(unit, environ)


def install(manager: Manager, unit: Unit) -> bool:
    """Write the unit and have it run; tell whether its file was another before.

    Raises:
        ManagerError: the file is there, and the manager could not take it up.
        GraftError: the file cannot be written.
    """
    unit.home.create()
    # The manager would make it readable by others.
    os.close(open_log(unit.home.log(MEMSTORE)))
    before = status(manager)
    if not before.current:
        try:
            manager.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(manager.path, manager.content, mode=0o644)
        except OSError as error:
            raise GraftError(f"{manager.path} cannot be written: {error.strerror}") from error
    manager.begin()
    return not before.current


def remove(manager: Manager) -> bool:
    """End the unit and take its file away; tell whether there was one.

    Raises:
        GraftError: the file cannot be removed.
    """
    was_there = os.path.lexists(manager.path)
    try:
        manager.end()
    except OSError as error:
        raise GraftError(f"{manager.path} cannot be removed: {error.strerror}") from error
    return was_there


def status(manager: Manager) -> UnitStatus:
    """Tell how a unit is; changes nothing."""
    content = None
    with suppress(OSError):
        content = manager.path.read_bytes()
    return UnitStatus(
        path=str(manager.path),
        installed=content is not None,
        current=content == manager.content,
        active=manager.active() if content is not None else "",
    )


def _check(command: list[str], environ: Mapping[str, str]) -> None:
    done = _run(command, environ)
    line = " ".join(command)
    if done is None:
        raise ManagerError(
            f"{command[0]} is not there or does not answer; where this system has another manager,"
            " let that run what is shown by: graft service install --dry-run"
        )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        why = said[0] if said else f"it ended with {done.returncode}"
        raise ManagerError(f"{line}: {why}; mend that and run it again: graft service install")


def _run(
    command: list[str], environ: Mapping[str, str]
) -> "subprocess.CompletedProcess[str] | None":
    program = shutil.which(command[0], path=environ.get("PATH"))
    if program is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 - the system's manager, with names of ours
            [program, *command[1:]],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MANAGER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
