"""The embedder as its callers see it: a real process on a real socket with the real starter."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import grpc
import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from tests.ask_health import is_serving
from tests.fixtures_models import make_random_model
from tests.unit.embedder.running_embedder import SECONDS, RunningEmbedder, running_embedder

from graft.embedder.v1 import embedder_pb2 as pb
from graft.wire.channel import open_channel
from graft.wire.errors import read_refusal
from graft.wire.launch import StartError
from graft.wire.paths import Home
from graft_embedder.catalogue import BY_NAME, CosineBackground, Entry, Pooling
from graft_embedder.registry import register
from graft_embedder.service import SERVICE

pytestmark = pytest.mark.model

Vector = NDArray[np.float32]


@pytest.fixture(scope="module")
def embedder(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path
) -> Iterator[RunningEmbedder]:
    """An embedder that has loaded the starter."""
    home = Home(root=tmp_path_factory.mktemp("home"))
    home.models.symlink_to(models_dir)
    with running_embedder(home, "starter") as running:
        running.wait_until(pb.MODEL_STATE_READY)
        yield running


def vector(window: pb.Window) -> Vector:
    """Return the vector of *window*."""
    return np.array(window.values, np.float32)


def one(reply: pb.EmbedResponse) -> Vector:
    """Return the only vector of *reply*."""
    ((window,),) = [each.windows for each in reply.embeddings]
    return vector(window)


def test_the_model_is_told_whole(embedder: RunningEmbedder) -> None:
    told = embedder.model()

    assert told.state == pb.MODEL_STATE_READY
    assert told.percent == 100
    assert told.model.name == "starter"
    assert told.model.dimensions == 384
    assert told.model.pooling == pb.POOLING_MEAN
    assert (told.model.query_prefix, told.model.passage_prefix) == ("query: ", "passage: ")
    assert len(told.model.file_digest) == len(told.model.identity) == 64
    assert told.window_tokens == 512
    assert told.backend == pb.BACKEND_CPU
    assert told.gpu_layers == 0
    assert told.threads >= 1
    assert told.batch_tokens == 160
    assert told.background.mean == pytest.approx(0.801)
    assert told.pid == embedder.pid
    assert told.build


def test_every_reply_names_the_model(embedder: RunningEmbedder) -> None:
    told = embedder.model().model

    counted = embedder.stub.CountTokens(pb.CountTokensRequest(texts=["a"]), timeout=SECONDS)

    assert embedder.embed("a").model == told
    assert counted.model == told


def test_vectors_are_unit_float32_and_find_by_meaning(embedder: RunningEmbedder) -> None:
    question = one(embedder.embed("why is the database locked", purpose=pb.PURPOSE_QUERY))
    notes = embedder.embed(
        "SQLite answers 'database is locked' while another writer holds the lock",
        "Tulips are planted in autumn, before the ground freezes",
    )

    right, wrong = (vector(each.windows[0]) for each in notes.embeddings)
    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-6)
    assert float(question @ right) > float(question @ wrong) + 0.05


def test_a_batch_gives_the_vectors_of_single_calls(embedder: RunningEmbedder) -> None:
    texts = [f"note {number} tells how a writer waits for a lock" for number in range(40)]

    batch = embedder.embed(*texts)

    for text, embedding in zip(texts[::13], batch.embeddings[::13], strict=True):
        alone = one(embedder.embed(text, windows_max=1))
        assert float(vector(embedding.windows[0]) @ alone) > 0.999


def test_the_same_query_has_the_same_vector_alone_and_among_others(
    embedder: RunningEmbedder,
) -> None:
    alone = one(embedder.embed("where is the lock", purpose=pb.PURPOSE_QUERY))

    among = embedder.embed(
        "something else", "where is the lock", purpose=pb.PURPOSE_QUERY, query_tokens_max=200
    )

    assert np.array_equal(vector(among.embeddings[1].windows[0]), alone)


def test_a_long_text_is_split_into_overlapping_windows(embedder: RunningEmbedder) -> None:
    text = "The writer holds the lock until its transaction ends. " * 60

    (embedding,) = embedder.embed(text, window_tokens=240, overlap_tokens=32).embeddings

    spans = [(window.start_char, window.end_char) for window in embedding.windows]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (_, end), (start, _) in pairwise(spans):
        assert start < end
    assert not embedding.truncated
    assert embedding.uncovered_from_char == len(text)
    assert embedding.tokens > 600


def test_what_lies_beyond_the_windows_is_reported(embedder: RunningEmbedder) -> None:
    text = "The writer holds the lock until its transaction ends. " * 60

    (embedding,) = embedder.embed(text, window_tokens=32, windows_max=2).embeddings

    assert len(embedding.windows) == 2
    assert embedding.truncated
    assert embedding.uncovered_from_char == embedding.windows[-1].end_char < len(text)


def test_characters_are_counted_as_code_points(embedder: RunningEmbedder) -> None:
    text = "🔒 修复 " * 100

    (embedding,) = embedder.embed(text, window_tokens=64).embeddings

    assert embedding.windows[-1].end_char == embedding.uncovered_from_char == len(text)


def test_a_long_query_is_one_window_and_says_what_was_left_out(
    embedder: RunningEmbedder,
) -> None:
    text = "the writer holds the lock " * 200

    (embedding,) = embedder.embed(text, purpose=pb.PURPOSE_QUERY, query_tokens_max=48).embeddings

    (window,) = embedding.windows
    assert (window.start_char, window.end_char) == (0, len(text))
    assert embedding.truncated
    assert 0 < embedding.uncovered_from_char < 300


def test_a_mebibyte_is_taken_and_a_byte_more_refused(embedder: RunningEmbedder) -> None:
    text = "lock " * (1024 * 1024 // 5) + "x"
    assert len(text) == 1024 * 1024

    (embedding,) = embedder.embed(text, window_tokens=240, windows_max=2).embeddings

    assert embedding.truncated
    assert embedding.tokens > 200_000
    with pytest.raises(grpc.RpcError) as caught:
        embedder.embed(text + "y")
    assert "1048577 bytes; at most 1048576" in read_refusal(caught.value).message


@pytest.mark.parametrize(
    ("request_fields", "field"),
    [
        ({"texts": []}, "texts"),
        ({"texts": ["a"] * 257}, "texts"),
        ({"texts": ["a"], "purpose": pb.PURPOSE_UNSPECIFIED}, "purpose"),
        ({"texts": ["a", " "]}, "texts[1]"),
        ({"texts": ["\u200b"]}, "texts[0]"),
        ({"texts": ["a"], "window_tokens": 15}, "window_tokens"),
        ({"texts": ["a"], "window_tokens": 32, "overlap_tokens": 16}, "overlap_tokens"),
        ({"texts": ["a"], "windows_max": 65}, "windows_max"),
        ({"texts": ["a" * 1_000_000] * 17}, "texts"),
    ],
)
def test_what_can_never_work_is_refused_by_field(
    embedder: RunningEmbedder, request_fields: dict[str, object], field: str
) -> None:
    request = pb.EmbedRequest(**{"purpose": pb.PURPOSE_PASSAGE, **request_fields})  # type: ignore[arg-type] # fields vary by case

    with pytest.raises(grpc.RpcError) as caught:
        embedder.stub.Embed(request, timeout=SECONDS)

    refusal = read_refusal(caught.value)
    assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.reason == "BAD_FIELD"
    assert [violation.field for violation in refusal.violations] == [field]


def test_tokens_are_counted_bare(embedder: RunningEmbedder) -> None:
    request = pb.CountTokensRequest(texts=["query: how much protein", "", "a\nb", "<s>"])

    counts = embedder.stub.CountTokens(request, timeout=SECONDS).counts

    assert counts[:3] == [6, 0, 2]
    assert counts[3] > 1


def test_many_callers_at_once_are_all_answered_or_told_when_to_try_again(
    embedder: RunningEmbedder,
) -> None:
    def ask(number: int) -> str:
        try:
            embedder.embed(*[f"caller {number} text {each} about locks" for each in range(20)])
        except grpc.RpcError as error:
            refusal = read_refusal(error)
            assert refusal.reason == "BUSY"
            assert refusal.retry_after_ms
            return "busy"
        return "done"

    with ThreadPoolExecutor(48) as pool:
        answers = list(pool.map(ask, range(48)))

    assert answers.count("done") >= 24
    assert embedder.model().queued == 0


def test_a_deadline_ends_the_call_and_frees_its_place(embedder: RunningEmbedder) -> None:
    book = [f"page {number}: " + "the writer holds the lock " * 80 for number in range(200)]
    request = pb.EmbedRequest(texts=book, purpose=pb.PURPOSE_PASSAGE)

    with pytest.raises(grpc.RpcError) as caught:
        embedder.stub.Embed(request, timeout=0.5)

    assert read_refusal(caught.value).code is grpc.StatusCode.DEADLINE_EXCEEDED
    one(embedder.embed("the next caller", purpose=pb.PURPOSE_QUERY))
    # The decode that runs cannot be interrupted; the place is free when it has ended.
    end = time.monotonic() + SECONDS
    while embedder.model().queued:
        assert time.monotonic() < end


def test_a_query_passes_a_running_book(embedder: RunningEmbedder) -> None:
    book = [f"page {number}: " + "the writer holds the lock " * 40 for number in range(60)]
    request = pb.EmbedRequest(texts=book, purpose=pb.PURPOSE_PASSAGE)
    bulk = embedder.stub.Embed.future(request, timeout=SECONDS)

    one(embedder.embed("who passes the book", purpose=pb.PURPOSE_QUERY))

    assert not bulk.done()
    bulk.cancel()


def test_health_and_reflection_answer(embedder: RunningEmbedder) -> None:
    with open_channel(embedder.home.socket(embedder.service)) as channel:
        assert is_serving(channel, "", SECONDS)
        assert is_serving(channel, SERVICE, SECONDS)


def test_nothing_but_the_log_is_written_to(embedder: RunningEmbedder) -> None:
    outputs = [
        (file.fd, file.path)
        for file in psutil.Process(embedder.pid).open_files()
        if file.path.endswith(".log")
    ]

    assert {path for _, path in outputs} == {str(embedder.home.log(embedder.service))}


def test_an_empty_home_is_served_while_the_starter_is_written(tmp_path: Path) -> None:
    home = Home(root=tmp_path)

    with (
        running_embedder(home, "starter") as running,
        open_channel(home.socket(running.service)) as channel,
    ):
        early = running.model()
        if early.state != pb.MODEL_STATE_READY:
            assert early.state in (pb.MODEL_STATE_CONVERTING, pb.MODEL_STATE_LOADING)
            with pytest.raises(grpc.RpcError) as caught:
                running.embed("too early")
            refusal = read_refusal(caught.value)
            assert refusal.code is grpc.StatusCode.UNAVAILABLE
            assert refusal.reason == "MODEL_NOT_READY"
            assert refusal.metadata["state"] in ("CONVERTING", "LOADING")
            assert not is_serving(channel, SERVICE, SECONDS)
        running.wait_until(pb.MODEL_STATE_READY)
        assert is_serving(channel, SERVICE, SECONDS)

    assert (home.models / "starter.gguf").stat().st_size == 73_818_912


def test_a_missing_model_fails_with_the_next_step_and_recovers_when_it_comes(
    tmp_path: Path,
) -> None:
    home = Home(root=tmp_path)
    path = tmp_path / "mine.gguf"
    entry = Entry(
        name="mine",
        file=str(path),
        pooling=Pooling.CLS,
        query_prefix="",
        passage_prefix="",
        background=CosineBackground(mean=0.1, deviation=0.2, count=20),
        download=None,
        about="random",
    )
    register(home, entry)

    with running_embedder(home, "mine") as running:
        told = running.wait_until(pb.MODEL_STATE_FAILED)
        assert str(path) in told.problem
        assert "graft model use PATH" in told.problem
        with pytest.raises(grpc.RpcError) as caught:
            running.embed("a")
        assert read_refusal(caught.value).message == told.problem

        make_random_model(path, dimensions=1024)
        ready = running.wait_until(pb.MODEL_STATE_READY)

        assert ready.model.dimensions == 1024
        assert ready.model.pooling == pb.POOLING_CLS
        assert len(one(running.embed("a lock"))) == 1024


def test_an_unknown_model_fails_and_names_those_that_are_known(tmp_path: Path) -> None:
    with running_embedder(Home(root=tmp_path), "nosuch") as running:
        told = running.wait_until(pb.MODEL_STATE_FAILED)

    assert "nosuch" in told.problem
    assert "starter" in told.problem


def test_bge_m3_without_its_file_names_the_pull(tmp_path: Path) -> None:
    with running_embedder(Home(root=tmp_path), "bge-m3") as running:
        told = running.wait_until(pb.MODEL_STATE_FAILED)

    assert "graft model pull bge-m3" in told.problem


def test_a_damaged_starter_is_told(tmp_path: Path, starter_model: Path) -> None:
    home = Home(root=tmp_path)
    home.models.mkdir()
    content = bytearray(starter_model.read_bytes())
    content[-1] ^= 1
    (home.models / BY_NAME["starter"].file).write_bytes(content)

    with running_embedder(home, "starter") as running:
        told = running.wait_until(pb.MODEL_STATE_FAILED, pb.MODEL_STATE_READY)

    assert told.state == pb.MODEL_STATE_FAILED
    assert "remove it" in told.problem


def test_settings_reach_the_engine(tmp_path: Path, models_dir: Path) -> None:
    home = Home(root=tmp_path)
    home.models.symlink_to(models_dir)
    environ = {"GRAFT_THREADS": "1", "GRAFT_BATCH_TOKENS": "700", "GRAFT_GPU_LAYERS": "5"}

    with running_embedder(home, "starter", environ) as running:
        told = running.wait_until(pb.MODEL_STATE_READY, pb.MODEL_STATE_FAILED)
        reply = running.embed(*[f"text {number} about a lock" for number in range(64)])

    assert (told.threads, told.batch_tokens, told.gpu_layers) == (1, 700, 0)
    assert len(reply.embeddings) == 64


def test_layers_that_cannot_be_meant_are_told_at_the_start(tmp_path: Path) -> None:
    home = Home(root=tmp_path)

    with (
        pytest.raises(StartError, match="GRAFT_GPU_LAYERS"),
        running_embedder(home, "starter", {"GRAFT_GPU_LAYERS": "lots"}),
    ):
        pass


def test_stop_ends_the_process_and_an_idle_stop_spares_a_busy_one(
    tmp_path: Path, models_dir: Path
) -> None:
    home = Home(root=tmp_path)
    home.models.symlink_to(models_dir)
    with running_embedder(home, "starter") as running:
        running.wait_until(pb.MODEL_STATE_READY)
        book = [f"page {number}: " + "the writer holds the lock " * 40 for number in range(100)]
        request = pb.EmbedRequest(texts=book, purpose=pb.PURPOSE_PASSAGE)
        bulk = running.stub.Embed.future(request, timeout=SECONDS)
        one(running.embed("now it is busy", purpose=pb.PURPOSE_QUERY))

        with pytest.raises(grpc.RpcError) as caught:
            running.stub.Stop(pb.StopRequest(only_if_idle=True), timeout=SECONDS)
        assert read_refusal(caught.value).reason == "WRONG_STATE"
        bulk.cancel()
        reply = running.stub.Stop(pb.StopRequest(), timeout=SECONDS)

        assert reply.pid == running.pid
        psutil.Process(running.pid).wait(SECONDS)


def test_stopping_while_loading_ends_soon(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    with running_embedder(home, "starter") as running:
        running.stub.Stop(pb.StopRequest(), timeout=SECONDS)

        psutil.Process(running.pid).wait(SECONDS)


def test_two_models_in_one_home_are_two_processes_with_two_identities(
    tmp_path: Path, models_dir: Path
) -> None:
    home = Home(root=tmp_path)
    home.models.symlink_to(models_dir)
    path = make_random_model(tmp_path / "other.gguf")
    entry = Entry(
        name="other",
        file=str(path),
        pooling=Pooling.CLS,
        query_prefix="",
        passage_prefix="",
        background=CosineBackground(mean=0.1, deviation=0.2, count=20),
        download=None,
        about="random",
    )
    register(home, entry)

    with running_embedder(home, "starter") as one_, running_embedder(home, "other") as two:
        first = one_.wait_until(pb.MODEL_STATE_READY).model
        second = two.wait_until(pb.MODEL_STATE_READY).model

    assert one_.pid != two.pid
    assert first.identity != second.identity
    assert (first.dimensions, second.dimensions) == (384, 64)
