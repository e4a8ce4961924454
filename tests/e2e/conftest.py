"""A home of its own for every test, and the command line as a user has it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

GRAFT = Path(sys.executable).with_name("graft")
SECONDS = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A command that has ended."""

    status: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Return the one object on stdout."""
        assert self.status in (0, 4), self.err
        content = json.loads(self.out)
        assert isinstance(content, dict)
        return content

    def lines(self) -> list[dict[str, Any]]:
        """Return the objects on stdout, one a line."""
        assert self.status == 0, self.err
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A person's shell: a home, a working directory, an environment."""

    home: Path
    directory: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the environment of a command: nothing of the test run's own settings."""
        mine = os.environ.items()  # noqa: TID251 - a command inherits the test run's PATH
        kept = {name: value for name, value in mine if not name.startswith("GRAFT_")}
        return {**kept, "GRAFT_HOME": str(self.home), **self.environ}

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start ``graft`` and return at once."""
        return subprocess.Popen(
            [GRAFT, *arguments],
            cwd=self.directory,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, text: str | bytes | None = None) -> Finished:
        """Run ``graft`` to its end, with *text* on its standard input."""
        raw = text.encode() if isinstance(text, str) else text
        done = subprocess.run(
            [GRAFT, *arguments],
            cwd=self.directory,
            env=self.environment(),
            input=raw if raw is not None else b"",
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return Finished(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def insert(self, title: str, body: str = "", *arguments: str) -> dict[str, Any]:
        """Store a note and return the reply."""
        return self.run(
            "insert", "--title", title, "--body-file", "-", "--json", *arguments, text=body
        ).json()

    def query(self, text: str, *arguments: str) -> dict[str, Any]:
        """Ask the gate and return the reply."""
        return self.run("query", "--json", *arguments, "-", text=text).json()

    def status(self) -> dict[str, Any]:
        """Return what `graft status` tells."""
        return self.run("status", "--json").json()

    def daemons(self, service: str) -> list[int]:
        """Return the processes of *service* that serve this home."""
        return [
            process.pid
            for process in psutil.process_iter(["cmdline"])
            if f"graft_{service}" in " ".join(process.info["cmdline"] or [])
            and str(self.home) in (process.info["cmdline"] or [])
        ]


def make_home(path: Path, models: Path) -> Path:
    """Make a home at *path* that borrows the models of *models*."""
    path.mkdir(mode=0o700, parents=True)
    (path / "models").symlink_to(models)
    return path


def stop(shell: Shell) -> None:
    """End the daemons of *shell*'s home, whatever state they are in."""
    shell.run("stop", "--force")
    for pid in (*shell.daemons("memstore"), *shell.daemons("embedder")):
        psutil.Process(pid).kill()


@pytest.fixture
def shell(tmp_path: Path, models_dir: Path) -> Iterator[Shell]:
    """A shell outside any repository, on a fresh home that has the starter model."""
    directory = tmp_path / "work"
    directory.mkdir()
    shell = Shell(home=make_home(tmp_path / "home", models_dir), directory=directory)
    yield shell
    stop(shell)
