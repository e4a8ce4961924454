"""What clients and machines do to `graft mcp`: die, cancel, start at once, leave it no room."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.conftest import GRAFT, Shell
from tests.unit.client.fake_memstore import FakeState, serving

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

SERVERS = 16
SHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "0"},
}


class Pipes:
    """A server, spoken to in raw lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.send("initialize", SHAKE, 0)
        assert self.answer(0)["result"]["protocolVersion"] == SHAKE["protocolVersion"]
        self.send("notifications/initialized")

    def send(
        self, method: str, params: dict[str, Any] | None = None, number: int | None = None
    ) -> None:
        """Send a request, or a notification where it has no id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            message["id"] = number
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        """Ask for a tool."""
        self.send("tools/call", {"name": tool, "arguments": arguments}, number)

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request."""
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if message.get("id") == number:
                return message


@contextmanager
def piped(shell: Shell, *arguments: str) -> Iterator[Pipes]:
    """Start a server in the shell's directory."""
    process = subprocess.Popen(
        [GRAFT, "mcp", *arguments],
        cwd=shell.directory,
        env=shell.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Pipes(process)
    finally:
        process.kill()
        process.wait(20)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


def test_a_call_that_is_cancelled_is_given_up_at_the_service_too(
    shell: Shell, tmp_path: Path
) -> None:
    state = FakeState(hold=True)
    target = tmp_path / "fake.sock"
    aimed = replace(shell, environ={"GRAFT_TARGET": f"unix:{target}"})

    with serving(target, state), piped(aimed) as pipes:
        pipes.call(1, "query", text="on which port")
        while not state.requests("Query"):
            assert not state.left.wait(0.05)
        assert not state.left.is_set()
        pipes.send("notifications/cancelled", {"requestId": 1})
        assert state.left.wait(20)
        state.hold = False
        state.held.set()
        pipes.call(2, "query", text="on which port")
        assert pipes.answer(2)["result"]["structuredContent"]["hit"] == "MISS"


def test_a_client_that_dies_in_the_middle_of_a_call_leaves_nothing_behind(shell: Shell) -> None:
    with piped(shell, "--workspace", "/") as pipes:
        pipes.call(1, "insert", title="a fact that is kept", scope="user")
        pipes.answer(1)
        for number in range(20):
            pipes.call(10 + number, "query", text=f"question {number}")
        server = psutil.Process(pipes.process.pid)
        assert pipes.process.stdin is not None
        pipes.process.stdin.close()
        server.wait(20)

    assert [each["title"] for each in shell.run("list", "--json").lines()] == [
        "a fact that is kept"
    ]


def test_sixteen_servers_at_once_on_an_empty_home_share_one_daemon(shell: Shell) -> None:
    answers: list[dict[str, Any]] = []

    def use(number: int) -> None:
        with piped(shell, "--workspace", "/") as pipes:
            pipes.call(1, "insert", title=f"fact of server {number}", scope="user")
            answers.append(pipes.answer(1))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(SERVERS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(240)

    assert [each["result"].get("isError", False) for each in answers] == [False] * SERVERS
    assert len(shell.daemons("memstore")) == 1
    assert len(shell.run("list", "--json").lines()) == SERVERS


def test_a_home_that_cannot_be_written_is_named(shell: Shell) -> None:
    # Nobody may write there, root neither.
    nowhere = replace(shell, home=Path("/proc/graft-home"))

    with piped(nowhere, "--workspace", "/") as pipes:
        pipes.call(1, "query", text="x")
        said = pipes.answer(1)["result"]
        pipes.send("tools/list", number=2)
        assert pipes.answer(2)["result"]["tools"]

    assert said["isError"]
    assert "/proc/graft-home" in said["content"][0]["text"]


def test_a_listener_that_never_answers_holds_nobody_longer_than_the_deadline(
    shell: Shell, tmp_path: Path
) -> None:
    target = tmp_path / "deaf.sock"
    aimed = replace(shell, environ={"GRAFT_TARGET": f"unix:{target}", "GRAFT_TIMEOUT": "2"})

    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(target))
        deaf.listen(8)
        with piped(aimed) as pipes:
            pipes.call(1, "query", text="x")
            pipes.send("tools/list", number=2)
            assert pipes.answer(2)["result"]["tools"]
            said = pipes.answer(1)["result"]

    assert said["isError"]
    assert said["content"][0]["text"].startswith("NOBODY_ANSWERED")


def test_a_memstore_that_stands_still_holds_no_server_for_good(shell: Shell) -> None:
    hasty = replace(shell, environ={"GRAFT_TIMEOUT": "3"})
    shell.run("start")
    (pid,) = shell.daemons("memstore")

    with piped(hasty, "--workspace", "/") as pipes:
        os.kill(pid, signal.SIGSTOP)
        try:
            pipes.call(1, "query", text="x")
            assert pipes.answer(1)["result"]["isError"]
        finally:
            os.kill(pid, signal.SIGCONT)
        pipes.call(2, "query", text="x")
        assert pipes.answer(2)["result"]["structuredContent"]["hit"] == "MISS"
