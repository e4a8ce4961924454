"""What an agent waits for: a server's first reply, a question through it; and a server's memory."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.bare_llama import resident_bytes
from bench.corpus import notes
from bench.homes import GRAFT, temporary_home
from bench.rows import Row
from graft_client import Graft
from graft_client.requests import NewNote

STARTS = 7
CALLS = 40
NOTES = 200
MEBIBYTE = 1024 * 1024
QUESTION = "the same question every time"
SHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}


class Server:
    """A server that is spoken to in raw lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._number += 1
        sent = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(sent) + "\n")
        self.process.stdin.flush()
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if message.get("id") == self._number:
                result: dict[str, Any] = message["result"]
                return result


@contextmanager
def started(command: Sequence[str], home: Path) -> Iterator[Server]:
    """Start a server and shake hands with it."""
    process = subprocess.Popen(
        command,
        env={**os.environ, "GRAFT_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        server = Server(process)
        server.ask("initialize", SHAKE)
        yield server
        process.kill()


def measure() -> Iterator[Row]:
    """Yield the rows of this part."""
    ours, bare = [str(GRAFT), "mcp"], [sys.executable, "-m", "bench.bare_mcp"]
    with temporary_home() as home, Graft(home=home, timeout_seconds=120) as client:
        first: dict[str, list[float]] = {"ours": [], "bare": []}
        size: dict[str, int] = {}
        for _ in range(STARTS):
            for name, command in (("ours", ours), ("bare", bare)):
                begun = time.perf_counter()
                with started(command, home) as server:
                    first[name].append(time.perf_counter() - begun)
                    server.ask("tools/list", {})
                    size[name] = resident_bytes(server.process.pid)
        yield _first_reply(statistics.median(first["ours"]), statistics.median(first["bare"]))
        yield _memory(size["ours"] / MEBIBYTE, size["bare"] / MEBIBYTE)
        batch = [NewNote(title=note.title, body=note.body) for note in notes(NOTES)]
        for _ in client.insert_many(batch, wait=True):
            pass
        yield _query(client, ours, home)


def _first_reply(ours: float, bare: float) -> Row:
    return Row(
        part="mcp",
        what="first reply of graft mcp",
        value=ours,
        unit="s",
        rival="the least server of the same SDK",
        rival_value=bare,
        target="≤ 0.2 s more",
        reached=ours - bare <= 0.2,
    )


def _memory(ours: float, bare: float) -> Row:
    return Row(
        part="mcp",
        what="memory of graft mcp",
        value=ours,
        unit="MiB",
        rival="the least server of the same SDK",
        rival_value=bare,
        target="≤ 25 MiB more",
        reached=ours - bare <= 25,
    )


def _query(client: Graft, command: Sequence[str], home: Path) -> Row:
    direct, through = [], []
    with started(command, home) as server:
        for _ in range(CALLS):
            begun = time.perf_counter()
            client.query(QUESTION)
            direct.append((time.perf_counter() - begun) * 1000)
            begun = time.perf_counter()
            server.ask("tools/call", {"name": "query", "arguments": {"text": QUESTION}})
            through.append((time.perf_counter() - begun) * 1000)
    ours, grpc = statistics.median(through), statistics.median(direct)
    return Row(
        part="mcp",
        what="a warm query through graft mcp",
        value=ours,
        unit="ms",
        rival="the same over gRPC",
        rival_value=grpc,
        target="≤ 25 ms more",
        reached=ours - grpc <= 25,
    )
