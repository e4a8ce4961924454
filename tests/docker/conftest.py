"""The containers of a checkout, in an engine that answers, under a name of their own.

They run where GRAFT_TEST_DOCKER=1 says that an engine may be used; `make test-docker` does.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import GRAFT, Finished

ROOT = Path(__file__).parents[2]
SECONDS = 1_200
HEALTHY_SECONDS = 120
LONG_RUNNING = ("embedder", "memstore")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests, and say why, where nobody asked for them."""
    asked = outside().get("GRAFT_TEST_DOCKER") == "1"
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))
            if not asked:
                why = "takes a Docker engine; make test-docker, or GRAFT_TEST_DOCKER=1"
                item.add_marker(pytest.mark.skip(reason=why))


def outside() -> dict[str, str]:
    """Return the environment of the test run, which says how an engine is reached."""
    return dict(os.environ)  # noqa: TID251 - docker reads it as well


def kept() -> dict[str, str]:
    """Return of it what commands get: nothing of the test run's own settings."""
    return {name: value for name, value in outside().items() if not name.startswith("GRAFT_")}


def services_user() -> int:
    """Return who the services are: whoever tests, but never root."""
    return os.getuid() or 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One project of compose.yaml.

    Attributes:
        folder: of what the host shares with the containers.
        files: the compose files, in their order.
        environ: what the caller of docker sets besides.
    """

    folder: Path
    files: tuple[str, ...] = ("compose.yaml",)
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def sockets(self) -> Path:
        return self.folder / "sockets"

    def environment(self) -> dict[str, str]:
        """Return the environment of docker."""
        authority = outside().get("SSL_CERT_FILE", "")
        return {
            **kept(),
            "COMPOSE_PROJECT_NAME": "graft-test",
            "GRAFT_MODEL": "starter",
            "GRAFT_UID": str(services_user()),
            "GRAFT_GID": str(services_user()),
            "GRAFT_SOCKETS": str(self.sockets),
            **({"GRAFT_CA_FILE": authority} if authority else {}),
            **self.environ,
        }

    def docker(self, *arguments: str, text: str = "") -> Finished:
        """Run docker with *arguments* to its end."""
        return self.run(["docker", *arguments], self.environment(), text)

    def compose(self, *arguments: str, text: str = "") -> str:
        """Run docker compose and return what it prints; it must succeed."""
        files = [part for each in self.files for part in ("--file", each)]
        done = self.docker("compose", *files, *arguments, text=text)
        assert done.status == 0, (arguments, done.out[-2_000:], done.err[-4_000:])
        return done.out

    def up(self) -> None:
        """Have everything run, and healthy."""
        self.compose("up", "--detach", "--wait")

    def cli(self, *arguments: str, text: str = "") -> Any:
        """Run a command in the container of the command line and return its object."""
        return json.loads(
            self.compose("run", "--rm", "--no-TTY", "cli", *arguments, "--json", text=text)
        )

    def on_host(self, *arguments: str, **environ: str) -> Finished:
        """Run the host's own graft, whose user is that of the services, or root."""
        return self.run([str(GRAFT), *arguments], {**self.host_environment(), **environ})

    def run(self, command: list[str], environ: Mapping[str, str], text: str = "") -> Finished:
        """Run a program of the host to its end."""
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=dict(environ),
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Finished(status=done.returncode, out=done.stdout, err=done.stderr)

    def host_environment(self) -> dict[str, str]:
        """Return the environment of the host's programs."""
        target = f"unix:{self.sockets / 'memstore.sock'}"
        return {**kept(), "HOME": str(self.folder), "GRAFT_TARGET": target}

    def inspect(self, service: str) -> dict[str, Any]:
        """Return what the engine knows of the container of *service*."""
        name = self.compose("ps", "--all", "--quiet", service).split()[0]
        (found,) = json.loads(self.docker("inspect", name).out)
        assert isinstance(found, dict)
        return found

    def wait_healthy(self, service: str) -> None:
        """Wait until *service* is healthy again."""
        end = time.monotonic() + HEALTHY_SECONDS
        while (state := self.inspect(service)["State"])["Health"]["Status"] != "healthy":
            assert time.monotonic() < end, state
            time.sleep(0.5)  # noqa: TID251 - nothing to wait on: the engine tells when it is asked


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack, built and running, on volumes of its own."""
    found = Stack(folder=tmp_path_factory.mktemp("docker"))
    found.sockets.mkdir(mode=0o700)
    os.chown(found.sockets, services_user(), services_user())
    found.compose("down", "--volumes", "--remove-orphans")
    try:
        found.compose("build")
        found.up()
        yield found
    finally:
        found.compose("down", "--volumes", "--remove-orphans")


@pytest.fixture
def running(stack: Stack) -> Stack:
    """The stack with everything healthy, whatever a test before has done to it."""
    stack.up()
    return stack


def over_tcp(stack: Stack, folder: Path, address: str) -> Stack:
    """Return the stack with a memstore that listens on TCP, with the certificate in *folder*."""
    return replace(
        stack,
        files=("compose.yaml", "compose.tcp.yaml"),
        environ={"GRAFT_TLS": str(folder), "GRAFT_LISTEN_ON": address},
    )
