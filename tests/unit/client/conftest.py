"""A fake memstore on a socket, and the command line that talks to it."""

import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.client.fake_memstore import FakeState, serving

from graft_client import Graft
from graft_client.cli.__main__ import run
from graft_client.settings import configure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one object on stdout."""
        assert self.code in (0, 4), self.err
        return json.loads(self.out)

    def error(self) -> dict[str, Any]:
        """Return the one object on stderr."""
        content = json.loads(self.err)
        assert isinstance(content, dict)
        return content


Command = Callable[..., Ran]


@pytest.fixture
def place() -> Iterator[Path]:
    """A short directory: a socket's path may have 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="graft-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(place: Path) -> Path:
    """A home whose settings point at the fake memstore."""
    path = place / "home"
    path.mkdir(mode=0o700)
    (path / "config.toml").write_text(f'target = "unix:{place}/fake.sock"\n')
    (path / "config.toml").chmod(0o600)
    return path


@pytest.fixture
def memstore(place: Path) -> Iterator[FakeState]:
    """The fake memstore's state, served while the test runs."""
    with serving(place / "fake.sock", FakeState()) as state:
        yield state


@pytest.fixture
def graft(home: Path, memstore: FakeState, tmp_path: Path) -> Iterator[Graft]:
    """A client of the fake memstore whose directory is in no repository."""
    assert memstore is not None
    configuration = configure(
        home=home, flags={"timeout_seconds": "10"}, directory=tmp_path, environ={}
    )
    with Graft(configuration=configuration) as client:
        yield client


@pytest.fixture
def command(home: Path, place: Path) -> Command:
    """Run ``graft`` in this process, on the home of the test, outside any repository."""

    def ran(*arguments: str, stdin: bytes = b"") -> Ran:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        try:
            with chdir(place), redirect_stdout(out), redirect_stderr(err):
                code = run([*arguments, "--home", str(home)])
        finally:
            sys.stdin = before
        return Ran(code=code, out=_text(out), err=_text(err))

    return ran


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
