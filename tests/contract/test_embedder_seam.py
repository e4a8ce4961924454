"""What the memstore relies on: its fake embedder, and real processes with the starter model."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.unit.memstore.fake_embedder import FakeEmbedder

from graft.wire.build import build_id
from graft.wire.errors import ModelNotReadyError
from graft.wire.paths import Home
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import Launch
from graft_memstore.embedders import Embedders
from graft_memstore.embedding import Embedder, TextRefusedError, WantedModel

SECONDS = 100.0
LONG = " ".join(f"word{number}" for number in range(1_500))


@pytest.fixture(params=["fake", pytest.param("starter", marks=pytest.mark.model)])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    """Each kind of embedder."""
    if request.param == "fake":
        yield FakeEmbedder()
        return
    model: Path = request.getfixturevalue("starter_model")
    tmp_path.chmod(0o700)
    home = Home(root=tmp_path)
    home.models.symlink_to(model.parent)
    launch = Launch(
        home=home,
        command=(sys.executable, "-m", "graft_embedder", "serve", "--home", str(tmp_path)),
        environ=dict(os.environ),  # noqa: TID251 - a process inherits the test run's PATH
        build=build_id(),
        obstacle=lambda: "",
        default=lambda: "starter",
    )
    embedders = Embedders(launch)
    yield embedders
    embedders.stop()


def wanted(embedder: Embedder) -> WantedModel:
    return WantedModel(name=embedder.default_model())


def values(raw: bytes) -> "np.typing.NDArray[np.float32]":
    return np.frombuffer(raw, dtype="<f4")


def test_it_keeps_what_the_memstore_relies_on(embedder: Embedder) -> None:
    model = embedder.facts(wanted(embedder), Deadline(SECONDS))
    query = embedder.embed_query(wanted(embedder), "where are the words?", 0, Deadline(SECONDS))
    titles = embedder.embed_passages(wanted(embedder), ["one", "two"], 1, Deadline(SECONDS))
    long = embedder.embed_passages(wanted(embedder), [LONG], 3, Deadline(SECONDS)).texts[0]

    # One model answers, and says which it is.
    assert query.model == titles.model == model
    assert len(values(query.values)) == model.dimensions
    # Vectors have unit length.
    for window in (*titles.texts[0].windows, *titles.texts[1].windows, *long.windows):
        assert np.linalg.norm(values(window.values)) == pytest.approx(1.0, abs=1e-4)
    # A short text is one window that covers it.
    assert [len(text.windows) for text in titles.texts] == [1, 1]
    assert not titles.texts[0].truncated
    assert titles.texts[0].uncovered_from_char == len("one")
    # A long one gets as many as were asked for, without a gap, and says where they end.
    assert len(long.windows) == 3
    assert long.windows[0].start_char == 0
    assert long.windows[0].end_char >= long.windows[1].start_char > long.windows[0].start_char
    assert long.truncated
    assert long.uncovered_from_char == long.windows[-1].end_char < len(LONG)
    # A text without anything to embed is refused for good.
    with pytest.raises(TextRefusedError):
        embedder.embed_passages(wanted(embedder), [" \n "], 1, Deadline(SECONDS))
    # Another file under the same name is never used.
    other = WantedModel(name=model.name, identity="another file")
    with pytest.raises(ModelNotReadyError) as refusal:
        embedder.embed_query(other, "x", 0, Deadline(SECONDS))
    assert refusal.value.metadata == {"state": "other-model"}
