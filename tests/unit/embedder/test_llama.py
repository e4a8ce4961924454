"""llama.cpp with the real starter: everything that kills it or lies is caught before the call."""

import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.fixtures_models import make_random_decoder, make_random_model

from graft_embedder.catalogue import BY_NAME, Entry, Pooling
from graft_embedder.engine import Vectors
from graft_embedder.errors import EngineError, ModelFileError
from graft_embedder.llama import LlamaModel, LoadOptions, start_backend
from graft_embedder.model_files import read_facts
from graft_embedder.preparation import Options, Preparer, Purpose

pytestmark = pytest.mark.model

SECONDS = 60
STARTER = BY_NAME["starter"]


def load(
    path: Path, *, pooling: Pooling = Pooling.MEAN, window: int = 512, batch: int = 512
) -> LlamaModel:
    """Load *path* on two threads."""
    start_backend()
    options = LoadOptions(
        pooling=pooling, sequence_tokens=window, batch_tokens=batch, threads=2, gpu_layers=0
    )
    return LlamaModel(path, options, lambda _share: True)


@pytest.fixture(scope="module")
def model(starter_model: Path) -> Iterator[LlamaModel]:
    """The starter."""
    model = load(starter_model)
    yield model
    model.close()


def embed(model: LlamaModel, text: str) -> Vectors:
    """Return the vector of *text* alone."""
    vector: Vectors = model.encode([model.tokenize(text, marks=True)])[0]
    return vector


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("query: how much protein", [0, 41, 1294, 12, 3642, 5045, 21308, 2]),
        ("a\nb", [0, 10, 876, 2]),
        ("Ｕｓｅ ﬁ", [0, 36836, 809, 2]),  # noqa: RUF001 - full-width letters are the point
        ("don't", [0, 2301, 25, 18, 2]),
        ("修复用户身份", [0, 6, 153955, 10501, 59564, 2]),
    ],
)
def test_the_tokenizer_is_xlm_rs(model: LlamaModel, text: str, expected: list[int]) -> None:
    assert model.tokenize(text, marks=True) == expected


@pytest.mark.parametrize("text", ["<s></s>", "a<s>b", "<mask>", "<pad>", "</s>"])
def test_names_of_special_tokens_are_text(model: LlamaModel, text: str) -> None:
    assert not {0, 1, 2, 250_001} & set(model.tokenize(text, marks=False))


def test_a_lone_surrogate_is_a_question_mark(model: LlamaModel) -> None:
    assert model.tokenize("a\ud800b", marks=True) == model.tokenize("a?b", marks=True)


def test_a_text_that_normalisation_makes_longer_is_tokenised_whole(model: LlamaModel) -> None:
    assert len(model.tokenize("ﷺ" * 100, marks=False)) >= 400


@pytest.mark.parametrize("length", [513, 1_000, 8_193])
def test_a_sequence_above_the_window_is_refused(model: LlamaModel, length: int) -> None:
    with pytest.raises(EngineError, match=f"{length} tokens"):
        model.encode([[5] * length])


def test_a_window_above_the_trained_one_is_refused_at_load(starter_model: Path) -> None:
    with pytest.raises(ModelFileError, match="trained for 512 tokens; 513"):
        load(starter_model, window=513, batch=513)


@pytest.mark.parametrize("batch", [16, 100, 200, 700])
def test_any_batch_size_opens_and_computes(starter_model: Path, batch: int) -> None:
    model = load(starter_model, window=min(batch, 512), batch=batch)

    vectors = model.encode([[0, 5, 2]] * min(batch // 8, 64))

    assert vectors.shape == (min(batch // 8, 64), 384)
    model.close()


def test_use_after_close_is_refused(starter_model: Path) -> None:
    model = load(starter_model)

    model.close()
    model.close()

    with pytest.raises(EngineError, match="closed"):
        model.encode([[0, 5, 2]])
    with pytest.raises(EngineError, match="closed"):
        model.tokenize("a", marks=True)


def test_closing_waits_for_whoever_is_inside(starter_model: Path) -> None:
    model = load(starter_model)
    results: list[Vectors] = []
    thread = threading.Thread(target=lambda: results.append(model.encode([[5] * 500])))
    thread.start()
    while not model._users and not results:
        gc.collect(0)

    model.close()
    thread.join(SECONDS)

    assert results[0].shape == (1, 384)


def test_many_threads_at_once_all_get_their_own_vectors(model: LlamaModel) -> None:
    texts = [f"note number {number} about locks" for number in range(24)]
    expected = [embed(model, text) for text in texts]
    found: dict[int, Vectors] = {}

    def work(index: int) -> None:
        found[index] = embed(model, texts[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)

    assert all(np.array_equal(found[index], expected[index]) for index in range(len(texts)))


def test_vectors_are_of_unit_length_though_the_models_are_not(model: LlamaModel) -> None:
    vectors = np.stack([embed(model, text) for text in ("query: a", "passage: b " * 40, "x")])

    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_company_in_a_decode_moves_a_vector_by_less_than_a_thousandth(model: LlamaModel) -> None:
    texts = ["query: rebase", "passage: " + "git keeps a stash " * 8, "passage: tulips in autumn"]
    sequences = [model.tokenize(text, marks=True) for text in texts]

    together = model.encode(sequences)

    for text, vector in zip(texts, together, strict=True):
        assert float(vector @ embed(model, text)) > 0.999


def test_a_question_is_nearest_to_the_note_that_answers_it(model: LlamaModel) -> None:
    question = embed(model, "query: why does git refuse to rebase with local changes")
    right = embed(model, "passage: git rebase needs a clean tree unless rebase.autoStash is set")
    wrong = embed(model, "passage: tulips are planted in autumn, before the ground freezes")

    assert float(question @ right) > float(question @ wrong) + 0.05


def test_progress_comes_and_can_end_the_loading(starter_model: Path) -> None:
    start_backend()
    told: list[float] = []
    options = LoadOptions(
        pooling=Pooling.MEAN, sequence_tokens=512, batch_tokens=512, threads=1, gpu_layers=0
    )

    def give_up(share: float) -> bool:
        told.append(share)
        return share < 0.1

    with pytest.raises(ModelFileError):
        LlamaModel(starter_model, options, give_up)

    assert told
    assert told[-1] < 1.0


@pytest.mark.parametrize("keep", [0, 100, 1_000_000, 60_000_000])
def test_a_damaged_file_is_refused(tmp_path: Path, starter_model: Path, keep: int) -> None:
    damaged = tmp_path / "damaged.gguf"
    with starter_model.open("rb") as file:
        damaged.write_bytes(file.read(keep))

    with pytest.raises(ModelFileError, match=r"damaged\.gguf"):
        load(damaged)


def test_a_model_of_1024_dimensions_with_cls_pooling(random_model: Path) -> None:
    model = load(random_model, pooling=Pooling.CLS)

    vectors = model.encode([model.tokenize(text, marks=True) for text in ("a lock", "a tulip")])

    assert vectors.shape == (2, 1024)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert float(vectors[0] @ vectors[1]) < 0.9999
    model.close()


def test_pooling_decides_the_vector(random_model: Path) -> None:
    vectors = []
    for pooling in Pooling:
        model = load(random_model, pooling=pooling)
        vectors.append(embed(model, "a note about locks and waiting"))
        model.close()

    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert float(vectors[one] @ vectors[other]) < 0.999


def test_a_decoder_pooled_by_its_last_token_forgets_what_came_before(tmp_path: Path) -> None:
    path = make_random_decoder(tmp_path / "decoder.gguf")
    facts = read_facts(path)
    assert (facts.pooling, facts.sequence_tokens) == (Pooling.LAST, 2_048)
    model = load(path, pooling=Pooling.LAST, window=2_048, batch=2_048)
    sequences = [model.tokenize(text, marks=True) for text in ("a lock", "tulips are red")]

    together = model.encode(sequences)
    model.encode([[5] * 2_048])
    again = [model.encode([sequence])[0] for sequence in sequences]

    assert float(together[0] @ again[0]) == pytest.approx(1.0, abs=1e-3)
    assert float(together[1] @ again[1]) == pytest.approx(1.0, abs=1e-3)
    assert float(together[0] @ together[1]) < 0.99
    model.close()


def test_weights_of_nan_raise_instead_of_giving_a_vector(tmp_path: Path) -> None:
    path = make_random_model(tmp_path / "nan.gguf")
    content = bytearray(path.read_bytes())
    content[-4096:] = np.full(1024, np.nan, np.float32).tobytes()
    path.write_bytes(content)
    model = load(path)

    with pytest.raises(EngineError, match="NaN"):
        model.encode([[0, 5, 2]])

    model.close()


HARD_TEXTS = {
    "one character": "x",
    "600 emoji": "\U0001f600" * 600,
    "control characters": "".join(map(chr, range(1, 32))) + "a",
    "special names": "<s></s>" * 300,
    "NUL": "a\x00b" * 500,
    "surrogates": "\ud800a" * 500,
    "9,000 words": "the lock is held by a writer " * 1_500,
    "8,193 tokens": "lock " * 8_193,
    "1,024 characters": "W" * 1_024,
    "right to left": "שלום עולם " * 300,
    "no spaces": "修复用户身份" * 2_000,
    "marks": "e\u0301\u0323" * 2_000,
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 700,
    "long ligatures": "ﷺ" * 900,
    "unknown": "\U000f0000" * 900,
    "private and spaces": "\ue000 " * 900,
}


@pytest.mark.parametrize("purpose", list(Purpose))
@pytest.mark.parametrize("name", HARD_TEXTS)
def test_hard_texts_are_embedded_whole_or_reported(
    model: LlamaModel, name: str, purpose: Purpose
) -> None:
    text = HARD_TEXTS[name]
    options = Options(
        purpose=purpose,
        window_tokens=0 if purpose is Purpose.QUERY else 240,
        overlap_tokens=32,
        windows_max=3,
    )

    made = Preparer(model, STARTER, 256).prepare(text, "texts[0]", options, lambda: None)

    vectors = np.concatenate([model.encode([sequence]) for sequence in made.sequences])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert max(map(len, made.sequences)) <= 256 + 6
    assert made.spans[0][0] == 0
    for (_, end), (start, _) in zip(made.spans, made.spans[1:], strict=False):
        assert start <= end
    assert made.uncovered <= len(text)


def test_windows_of_the_real_tokenizer_fit_to_the_token(model: LlamaModel) -> None:
    text = "Git keeps uncommitted changes out of the way, 修复用户身份, when you rebase. " * 400
    entry: Entry = STARTER
    options = Options(purpose=Purpose.PASSAGE, window_tokens=240, overlap_tokens=32)

    made = Preparer(model, entry, 256).prepare(text, "texts[0]", options, lambda: None)

    lengths = [len(sequence) - 4 for sequence in made.sequences]
    assert max(lengths) <= 240
    assert min(lengths[:-1]) >= 180
    assert made.uncovered == len(text)


def test_native_prints_stay_off_stdout(starter_model: Path) -> None:
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from graft_embedder.native_output import captured_output, join_output_to_log
        from graft_embedder.llama import LlamaModel, LoadOptions, start_backend
        from graft_embedder.catalogue import Pooling
        import ctypes
        libc = ctypes.CDLL(None)
        options = LoadOptions(
            pooling=Pooling.MEAN, sequence_tokens=512, batch_tokens=512, threads=1, gpu_layers=0
        )
        with captured_output() as captured:
            start_backend()
            LlamaModel(Path({str(starter_model)!r}), options, lambda share: True).close()
            libc.puts(b"from C")
            libc.fflush(None)
            assert "from C" in captured.tail()
        print("data", flush=True)
        join_output_to_log()
        libc.puts(b"later, from C")
        libc.fflush(None)
        """
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS, check=True
    )

    assert done.stdout == "data\n"
    assert done.stderr.endswith("later, from C\n")
