"""An embedder that others run: used at its socket, never started, ended or mistaken."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graft.wire.errors import ModelNotReadyError
from graft.wire.launch import is_alive
from graft.wire.paths import Home
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import Others
from graft_memstore.embedders import Embedders
from graft_memstore.embedding import WantedModel

SCRIPT = Path(__file__).with_name("standin_embedder.py")
LONG = 30.0


class Neighbours:
    """A home whose embedder is run by hand, and a memstore's view of its socket."""

    def __init__(self, root: Path) -> None:
        root.chmod(0o700)
        self.home = Home(root=root)
        self.socket = self.home.runtime_directory() / "embedder.sock"
        self.running: subprocess.Popen[bytes] | None = None

    def start(self, model: str = "one") -> None:
        receiver, sender = os.pipe()
        command = (sys.executable, str(SCRIPT), "--home", str(self.home.root), "--model", model)
        self.running = subprocess.Popen(
            [*command, "--socket-name", "embedder", "--ready-fd", str(sender)], pass_fds=(sender,)
        )
        os.close(sender)
        assert os.read(receiver, 6) == b"ready\n"
        os.close(receiver)

    def end(self, number: signal.Signals) -> None:
        if self.running is not None:
            self.running.send_signal(number)
            self.running.wait(LONG)
            self.running = None

    def embedders(self, configured: str = "") -> Embedders:
        return Embedders(Others(self.socket, configured))


@pytest.fixture
def neighbours(tmp_path: Path) -> Iterator[Neighbours]:
    """Leave no process behind."""
    opened = Neighbours(tmp_path)
    yield opened
    opened.end(signal.SIGTERM)


def ask(embedders: Embedders, model: str = "one") -> str:
    found = embedders.embed_query(WantedModel(name=model), "a question", 0, Deadline(LONG))
    return found.model.identity


def ask_until_answered(embedders: Embedders) -> str:
    end = Deadline(LONG)
    while True:
        try:
            return ask(embedders)
        except ModelNotReadyError:
            end.wait(0.05)
            assert end.left() > 0


def test_it_is_used_and_its_model_is_the_default(neighbours: Neighbours) -> None:
    neighbours.start()
    embedders = neighbours.embedders()

    assert embedders.default_model() == "one"
    assert ask(embedders) == "file of one"
    (report,) = embedders.reports([])
    assert (report.model, report.state, report.pid) == (
        "one",
        "ready",
        neighbours.running.pid if neighbours.running else 0,
    )
    assert report.socket == str(neighbours.socket)


def test_a_memstore_that_ends_leaves_it_running(neighbours: Neighbours) -> None:
    neighbours.start()
    embedders = neighbours.embedders()
    ask(embedders)

    embedders.stop()

    assert is_alive(neighbours.home, "embedder-one")
    assert ask(neighbours.embedders()) == "file of one"


def test_nobody_there_is_told_at_once_and_nobody_is_started(neighbours: Neighbours) -> None:
    embedders = neighbours.embedders("one")
    deadline = Deadline(600)  # longer than a test may take

    with pytest.raises(ModelNotReadyError, match=r"no embedder answers at .*GRAFT_EMBEDDER"):
        embedders.embed_query(WantedModel(name="one"), "a question", 0, deadline)

    assert list(neighbours.home.root.glob("*.lock")) == []


def test_one_that_comes_later_is_found(neighbours: Neighbours) -> None:
    embedders = neighbours.embedders("one")
    with pytest.raises(ModelNotReadyError):
        ask(embedders)

    neighbours.start()

    assert ask_until_answered(embedders) == "file of one"


def test_one_that_was_killed_is_found_again(neighbours: Neighbours) -> None:
    neighbours.start()
    embedders = neighbours.embedders()
    ask(embedders, embedders.default_model())

    neighbours.end(signal.SIGKILL)
    with pytest.raises(ModelNotReadyError, match="no embedder answers at"):
        ask(embedders)
    default_meanwhile = embedders.default_model()
    neighbours.start()

    assert default_meanwhile == "one"
    assert ask_until_answered(embedders) == "file of one"


def test_one_with_another_model_is_not_asked(neighbours: Neighbours) -> None:
    neighbours.start()
    embedders = neighbours.embedders()

    with pytest.raises(ModelNotReadyError, match="holds one; give that one the model two again"):
        ask(embedders, "two")
    reports = {report.model: report.state for report in embedders.reports(["two"])}

    assert reports == {"two": "failed", "one": "ready"}


def test_nobody_can_tell_the_default_before_it_was_there(neighbours: Neighbours) -> None:
    with pytest.raises(ModelNotReadyError, match="no embedder answers at"):
        neighbours.embedders().default_model()
