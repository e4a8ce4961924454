"""Loading a model: what fails leaves nothing in memory."""

import gc
import threading
from pathlib import Path

from tests.fixtures_models import make_random_model

from graft.wire.paths import Home
from graft_embedder.catalogue import CosineBackground, Entry, Pooling
from graft_embedder.llama import LlamaModel
from graft_embedder.loader import LoaderOptions, ModelLoader, State
from graft_embedder.registry import register

SECONDS = 60.0


def held() -> int:
    """Return how many models are in memory."""
    return sum(isinstance(each, LlamaModel) and not each._closed for each in gc.get_objects())


def test_a_model_that_loads_but_cannot_be_used_is_put_away(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    model = make_random_model(tmp_path / "short.gguf", context=24)
    entry = Entry(
        name="short",
        file=str(model),
        pooling=Pooling.CLS,
        query_prefix="a prefix that is far too long for such a window ",
        passage_prefix="",
        background=CosineBackground(mean=0.5, deviation=0.1, count=20.0),
        download=None,
        about="for a test",
    )
    register(home, entry)
    options = LoaderOptions(home=home, name="short", threads=1, gpu_layers="auto", batch_tokens=0)
    before = held()

    loader = ModelLoader(options, on_ready=lambda: None)
    loader.start()
    waiting = threading.Event()
    for _ in range(int(SECONDS / 0.02)):
        if loader.status().state is State.FAILED:
            break
        waiting.wait(0.02)

    assert "room for" in loader.status().problem
    assert held() == before
    loader.stop()
