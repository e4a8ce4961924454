"""Clients of `graft mcp` for tests: the protocol's own SDK, its HTTP, another implementation."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import GRAFT, Shell

TYPESCRIPT = Path(__file__).parent.parent / "typescript"
"""A program on the TypeScript SDK, with the versions of what it needs."""
INSTALL_SECONDS = 120


def typescript_agent(place: Path) -> Path:
    """Install the program on the TypeScript SDK at *place*; skip where that cannot be done."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    shutil.copytree(TYPESCRIPT, place, dirs_exist_ok=True)
    flags = ["--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(
        [npm, "ci", *flags],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"npm cannot install the TypeScript SDK here: {done.stderr[-200:]}")
    return place / "agent.mjs"


def run_typescript(
    program: Path, shell: Shell, how: Sequence[str], calls: Sequence[dict[str, Any]], root: str = ""
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Make *calls* with the program; return what it was told first, and what each call gave."""
    done = subprocess.run(
        ["node", program, *how],
        cwd=shell.directory,
        env={**shell.environment(), "AGENT_ROOT": root},
        input="".join(json.dumps(each) + "\n" for each in calls),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, *given = (json.loads(line) for line in done.stdout.splitlines())
    assert len(given) == len(calls), done.stderr
    return first, given


@contextmanager
def http_server(shell: Shell, *arguments: str) -> Iterator[tuple[str, str]]:
    """Serve over HTTP; give where, and the token."""
    process = subprocess.Popen(
        [GRAFT, "mcp", "--http", "--port", "0", "--json", *arguments],
        cwd=shell.directory,
        env=shell.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        told = json.loads(process.stdout.readline())
        yield told["url"], Path(told["token_file"]).read_text("ascii").strip()
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
