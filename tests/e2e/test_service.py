"""The command line of a unit runs a memstore that commands use and that ends when it is told to."""

import re
import shlex
import signal
import subprocess
import time
from dataclasses import replace

import pytest
from tests.e2e.conftest import Shell

pytestmark = [pytest.mark.timeout(240)]

SECONDS = 60.0


def test_what_the_unit_runs_serves_and_is_used_and_ends_in_time(shell: Shell) -> None:
    shell = replace(shell, environ={"GRAFT_MODEL": "absent", "GRAFT_IDLE_MINUTES": "1"})
    unit = shell.run("service", "install", "--dry-run").out
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    (variable,) = re.findall(r'^Environment="(.*)"$', unit, re.MULTILINE)
    name, _, value = variable.partition("=")
    command = shlex.split(line)

    with subprocess.Popen(command, env={**shell.environment(), name: value}) as process:
        end = time.monotonic() + SECONDS
        while shell.status()["memstore"] is None:
            assert time.monotonic() < end
        shell.insert("saved through the unit's memstore")
        found = shell.status()["memstore"]
        shown = shell.run("config", "show", "--json").lines()
        process.send_signal(signal.SIGTERM)
        code = process.wait(SECONDS)

    idle = next(each for each in shown if each["name"] == "idle_minutes")
    assert found["pid"] == process.pid
    assert "0" in str(idle)
    assert code == 0
    assert shell.daemons("memstore") == []


def test_a_second_one_ends_at_once_with_what_keeps_it_from_being_started_anew(
    shell: Shell,
) -> None:
    shell = replace(shell, environ={"GRAFT_MODEL": "absent"})
    unit = shell.run("service", "install", "--dry-run").out
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    (prevented,) = re.findall(r"^RestartPreventExitStatus=(\d+)$", unit, re.MULTILINE)
    (before,) = re.findall(r"^ExecStartPre=-(.*)$", unit, re.MULTILINE)
    shell.run("start")

    second = subprocess.run(shlex.split(line), env=shell.environment(), check=False, timeout=60)
    ended = subprocess.run(shlex.split(before), env=shell.environment(), check=False, timeout=60)

    assert second.returncode == int(prevented)
    assert ended.returncode == 0
    assert shell.status()["memstore"] is None
