"""A memstore as a unit of systemd or an agent of launchd: pure texts, for one home."""

import hashlib
import os
import plistlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graft.wire.paths import Home
from graft_client.errors import InputError
from graft_client.programs import MEMSTORE

NAME = "graft-memstore"
LABEL = "graft.memstore"
STARTED_ALREADY = 75
"""What the memstore ends with where another one has the home; see `graft.wire.daemon`."""

STOP_SECONDS = 30
RESTART_SECONDS = 5
UMASK = 0o077
ALLOWED = ("GRAFT_RUNTIME",)
"""Variables of the caller that belong to the home and not to one call."""

CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One memstore that the system keeps running.

    Attributes:
        home: whose.
        python: interpreter that has the program.
        environ: what it is to run with besides its own.
        is_default: whether the home is the one that nobody has to name.
    """

    home: Home
    python: str
    environ: Mapping[str, str]
    is_default: bool

    @property
    def suffix(self) -> str:
        """What tells units of several homes apart; empty for the default one."""
        if self.is_default:
            return ""
        return f"-{hashlib.sha256(os.fsencode(self.home.root)).hexdigest()[:8]}"

    def command(self) -> list[str]:
        """Return what runs in the foreground until it is told to stop."""
        return [self.python, "-m", "graft_memstore", "serve", "--home", str(self.home.root)]

    def variables(self) -> dict[str, str]:
        """Return the environment: it never ends by itself, whatever the settings say."""
        kept = {name: self.environ[name] for name in ALLOWED if self.environ.get(name)}
        return {"GRAFT_IDLE_MINUTES": "0", **kept}


def unit_path(unit: Unit, environ: Mapping[str, str]) -> Path:
    """Return where systemd looks for a person's unit."""
    config = environ.get("XDG_CONFIG_HOME") or f"{_person(environ)}/.config"
    return Path(config) / "systemd" / "user" / f"{NAME}{unit.suffix}.service"


def agent_path(unit: Unit, environ: Mapping[str, str]) -> Path:
    """Return where launchd looks for a person's agent."""
    return Path(_person(environ)) / "Library" / "LaunchAgents" / f"{LABEL}{unit.suffix}.plist"


def systemd_unit(unit: Unit) -> str:
    """Write the unit of systemd.

    Raises:
        InputError: a path has a character that no unit can hold.
    """
    stop = [unit.python, "-m", "graft_client.cli", "stop", "--quiet", "--home"]
    stop_line = " ".join(_quoted(each) for each in [*stop, str(unit.home.root)])
    variables = "\n".join(
        f"Environment={_quoted(f'{name}={value}', in_command=False)}"
        for name, value in unit.variables().items()
    )
    log = _specifiers(str(unit.home.log(MEMSTORE)))
    return f"""\
# Written by: graft service install. Taken away by: graft service remove
[Unit]
Description=Graft memstore, {_specifiers(str(unit.home.root))}

[Service]
Type=exec
# One that a command has started would keep this one out of the home.
ExecStartPre=-{stop_line}
ExecStart={" ".join(_quoted(each) for each in unit.command())}
# Has the log's settings read again.
ExecReload=/bin/kill -HUP $MAINPID
{variables}
# Where messages of graft send their reader.
StandardOutput=append:{log}
StandardError=append:{log}
UMask={UMASK:04o}
Restart=on-failure
RestartSec={RESTART_SECONDS}
# Another memstore has the home, and serves it.
RestartPreventExitStatus={STARTED_ALREADY}
# The memstore ends its embedders itself.
KillMode=mixed
TimeoutStopSec={STOP_SECONDS}
# Options that need no more rights than a person has. Not among them: PrivateTmp, for sockets of
# homes with long paths lie in /tmp; MemoryDenyWriteExecute, for drivers of GPUs compile.
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


def launchd_plist(unit: Unit) -> bytes:
    """Write the agent of launchd.

    Raises:
        InputError: a path has a character that no plist can hold.
    """
    log = str(unit.home.log(MEMSTORE))
    content = {
        "Label": f"{LABEL}{unit.suffix}",
        "ProgramArguments": [_clean(each) for each in unit.command()],
        "EnvironmentVariables": {name: _clean(each) for name, each in unit.variables().items()},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "ProcessType": "Background",
        "Umask": UMASK,
        "StandardOutPath": _clean(log),
        "StandardErrorPath": _clean(log),
    }
    return plistlib.dumps(content)


def _quoted(text: str, *, in_command: bool = True) -> str:
    """Put *text* as one word of a unit: systemd.service(5), systemd.syntax(7)."""
    word = _specifiers(text).replace("\\", "\\\\").replace('"', '\\"')
    # In a command alone a dollar begins a variable.
    return f'"{word.replace("$", "$$") if in_command else word}"'


def _specifiers(text: str) -> str:
    return _clean(text).replace("%", "%%")


def _clean(text: str) -> str:
    if CONTROL.search(text) or not text.isprintable():
        raise InputError(f"{text!r} holds a character that no unit can; use a home without it")
    return text


def _person(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or str(Path.home())
