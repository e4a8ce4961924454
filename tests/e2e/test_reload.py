"""SIGHUP has services read what can be read again, and never ends one."""

import os
import signal
import threading
import time

import psutil
import pytest
from tests.e2e.conftest import Shell

SECONDS = 60.0
STATUS = "answered method=/graft.memory.v1.DaemonService/GetStatus"


def wait_for(shell: Shell, log: str, words: str, times: int = 1) -> str:
    """Wait until a service has logged *words* so often; return the last line with them."""
    path, tick, end = shell.home / f"{log}.log", threading.Event(), time.monotonic() + SECONDS
    while True:
        lines = [line for line in path.read_text("utf-8").splitlines() if words in line]
        if len(lines) >= times:
            return lines[-1]
        assert time.monotonic() < end, path.read_text("utf-8")[-2_000:]
        tick.wait(0.1)


def configure(shell: Shell, text: str) -> None:
    (shell.home / "config.toml").write_text(text, "utf-8")


@pytest.mark.model
def test_both_services_take_over_how_they_log_and_tell_what_waits(shell: Shell) -> None:
    shell.run("start", "--load")
    (memstore,), (embedder,) = shell.daemons("memstore"), shell.daemons("embedder")
    shell.run("status")  # so short a call has a line with debug alone
    assert STATUS not in (shell.home / "memstore.log").read_text("utf-8")

    configure(shell, 'log_level = "debug"\nidle_minutes = 7\n')
    for pid in (memstore, embedder):
        os.kill(pid, signal.SIGHUP)
    told = wait_for(shell, "memstore", "reloaded")
    wait_for(shell, "embedder-starter", "reloaded log_level=debug")
    shell.run("status")
    shell.query("what is asked after")

    assert "log_level=debug log_format=text wait_for_a_restart=idle_minutes" in told
    wait_for(shell, "memstore", STATUS)
    wait_for(shell, "embedder-starter", "answered method=/graft.embedder.v1.EmbedderService/Embed")
    assert shell.daemons("memstore") == [memstore]
    running = shell.run("config", "show", "--json").out
    assert '"debug"' in running


def test_a_file_that_cannot_be_meant_changes_nothing_and_ends_nobody(shell: Shell) -> None:
    shell.run("start")
    (memstore,) = shell.daemons("memstore")

    configure(shell, 'log_level = "loud"\n')
    os.kill(memstore, signal.SIGHUP)

    told = wait_for(shell, "memstore", "cannot reload")
    assert "log_level" in told
    assert psutil.pid_exists(memstore)
    configure(shell, 'log_format = "json"\n')
    os.kill(memstore, signal.SIGHUP)
    assert wait_for(shell, "memstore", '"event": "reloaded"').startswith("{")
    assert shell.daemons("memstore") == [memstore]
