"""What every engine promises: the fake that tests use, and llama.cpp with a real model."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.fake_engine import FakeEngine

from graft_embedder.catalogue import Pooling
from graft_embedder.engine import Engine
from graft_embedder.errors import EngineError
from graft_embedder.llama import LlamaModel, LoadOptions, start_backend

WINDOW = 64
BATCH = 96


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.model)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each kind of engine, with a window of 64 tokens and decodes of 96."""
    if request.param == "fake":
        yield FakeEngine(sequence_tokens=WINDOW, batch_tokens=BATCH)
        return
    path: Path = request.getfixturevalue("starter_model")
    start_backend()
    options = LoadOptions(
        pooling=Pooling.MEAN, sequence_tokens=WINDOW, batch_tokens=BATCH, threads=1, gpu_layers=0
    )
    model = LlamaModel(path, options, lambda _share: True)
    yield model
    model.close()


def test_marks_stand_around_the_bare_tokens(engine: Engine) -> None:
    bare = engine.tokenize("a note about locks", marks=False)

    marked = engine.tokenize("a note about locks", marks=True)

    assert len(bare) >= 4
    assert marked[1:-1] == bare


def test_an_empty_text_has_no_bare_tokens(engine: Engine) -> None:
    assert engine.tokenize("", marks=False) == []
    assert engine.tokenize(" \n\t ", marks=False) == []


def test_invisible_characters_have_no_tokens(engine: Engine) -> None:
    assert engine.tokenize("\u200b\u200b", marks=False) == []


def test_nul_is_read_as_a_space(engine: Engine) -> None:
    assert engine.tokenize("lock\x00wait", marks=True) == engine.tokenize("lock wait", marks=True)


def test_each_sequence_has_one_unit_vector(engine: Engine) -> None:
    sequences = [engine.tokenize(text, marks=True) for text in ("lock", "wait for it", "x")]

    vectors = engine.encode(sequences)

    assert vectors.shape == (3, engine.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_the_same_sequence_has_the_same_vector(engine: Engine) -> None:
    tokens = engine.tokenize("a note about locks", marks=True)

    first, second = engine.encode([tokens]), engine.encode([tokens])

    assert np.array_equal(first, second)


def test_company_in_a_decode_changes_a_vector_hardly(engine: Engine) -> None:
    tokens = engine.tokenize("a note about locks", marks=True)
    other = engine.tokenize("tulips are planted in autumn before the frost", marks=True)

    alone, together = engine.encode([tokens])[0], engine.encode([other, tokens])[1]

    assert float(alone @ together) > 0.999


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([], id="no sequence"),
        pytest.param([3, 0], id="an empty sequence"),
        pytest.param([WINDOW + 1], id="a sequence above the window"),
        pytest.param([WINDOW, BATCH - WINDOW + 1], id="more than a decode holds"),
    ],
)
def test_what_would_abort_is_refused_and_the_engine_goes_on(
    engine: Engine, lengths: list[int]
) -> None:
    with pytest.raises(EngineError):
        engine.encode([[4] * length for length in lengths])

    assert engine.encode([[4] * WINDOW]).shape == (1, engine.dimensions)
