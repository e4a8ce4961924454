"""The embedder against llama-cpp-python's own ways: throughput, one query, memory."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.bare_llama import BareLlama, resident_bytes
from bench.corpus import notes
from bench.homes import temporary_home
from bench.rows import Row
from graft.embedder.v1 import embedder_pb2 as pb
from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.channel import open_channel
from graft.wire.launch import ensure_running, kill_service
from graft.wire.paths import Home

ROUNDS = 3
QUERIES = 40
SECONDS = 120.0
SERVICE = "embedder-starter"
MEBIBYTE = 1024 * 1024


def measure() -> Iterator[Row]:
    """Yield the rows of this part."""
    with temporary_home() as folder:
        home = Home(root=folder)
        command = [sys.executable, "-m", "graft_embedder", "serve", "--home", str(folder)]
        record = ensure_running(
            home,
            SERVICE,
            [*command, "--model", "starter"],
            environ=os.environ,
            deadline=time.monotonic() + SECONDS,
        )
        with open_channel(record.socket) as channel:
            stub = embedder_pb2_grpc.EmbedderServiceStub(channel)
            wait_until_ready(stub)
            model = next((folder / "models").glob("*.gguf"))
            yield from _compare(stub, model)
            yield _memory(stub, record.pid, model)
        kill_service(home, SERVICE)


def wait_until_ready(stub: embedder_pb2_grpc.EmbedderServiceStub) -> pb.GetModelResponse:
    """Wait until the embedder has its model; return what it says of it."""
    end = time.monotonic() + SECONDS
    while True:
        told = stub.GetModel(pb.GetModelRequest(), timeout=SECONDS, wait_for_ready=True)
        if told.state == pb.MODEL_STATE_READY:
            return told
        if told.state == pb.MODEL_STATE_FAILED or time.monotonic() > end:
            raise RuntimeError(told.problem or "the model is not ready in time")
        time.sleep(0.05)


def _compare(stub: embedder_pb2_grpc.EmbedderServiceStub, model: Path) -> Iterator[Row]:
    spent: dict[str, list[float]] = {"ours": [], "one by one": [], "batched": []}
    bare = BareLlama(model)
    for number in range(ROUNDS):
        texts = [f"{note.title}\n{note.body}" for note in notes(64, seed=number)]
        passages = [f"passage: {text}" for text in texts]
        request = pb.EmbedRequest(texts=texts, purpose=pb.PURPOSE_PASSAGE)
        spent["ours"].append(_seconds(lambda: stub.Embed(request, timeout=SECONDS)))
        spent["one by one"].append(_seconds(lambda: bare.one_by_one(passages)))
        spent["batched"].append(_seconds(lambda: bare.batched(passages)))
    ours = 64 / min(spent["ours"])
    rival = max(64 / min(spent[name]) for name in ("one by one", "batched"))
    yield Row(
        part="embedder",
        what="64 mixed notes, starter model",
        value=ours,
        unit="notes/s",
        rival="best of bare llama-cpp-python",
        rival_value=rival,
        target="≥ 90 % of the rival",
        reached=ours >= 0.9 * rival,
    )
    mine, theirs = [], []
    for note in notes(QUERIES, seed=99):
        query = pb.EmbedRequest(texts=[note.title], purpose=pb.PURPOSE_QUERY)
        mine.append(_seconds(lambda: stub.Embed(query, timeout=SECONDS)) * 1000)
        text = f"query: {note.title}"
        theirs.append(_seconds(lambda: bare.one_by_one([text])) * 1000)
    bare.close()
    added = statistics.median(mine) - statistics.median(theirs)
    yield Row(
        part="embedder",
        what="what one query adds over the bare call",
        value=added,
        unit="ms",
        rival="bare call",
        rival_value=statistics.median(theirs),
        target="≤ 5 ms",
        reached=added <= 5,
    )


def _memory(stub: embedder_pb2_grpc.EmbedderServiceStub, pid: int, model: Path) -> Row:
    texts = [f"{note.title} {note.body}" for note in notes(16)]
    stub.Embed(pb.EmbedRequest(texts=texts, purpose=pb.PURPOSE_PASSAGE), timeout=SECONDS)
    ours = resident_bytes(pid) / MEBIBYTE
    bare = subprocess.run(
        [sys.executable, "-m", "bench.bare_llama", str(model)],
        capture_output=True,
        text=True,
        check=True,
    )
    rival = int(bare.stdout) / MEBIBYTE
    return Row(
        part="embedder",
        what="memory, starter model",
        value=ours,
        unit="MB",
        rival="bare llama-cpp-python",
        rival_value=rival,
        target="≤ rival + 80 MB",
        reached=ours <= rival + 80,
    )


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
