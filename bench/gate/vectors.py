"""The real embedder, with its answers kept from run to run."""

import base64
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from typing_extensions import override

from bench.embedder import wait_until_ready
from bench.homes import temporary_home
from graft.embedder.v1 import embedder_pb2 as pb
from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.channel import open_channel
from graft.wire.launch import ensure_running, kill_service
from graft.wire.paths import Home
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import (
    OVERLAP_TOKENS,
    WINDOW_TOKENS,
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    QueryVector,
    TextVectors,
    WantedModel,
    WindowVector,
)
from graft_memstore.model import Background

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graft"
SECONDS = 600.0
SAVED_AFTER = 200
"""New texts after which the file is written."""


class KeptVectors(Embedder):
    """Embeds by a running embedder and remembers every text's vectors in a file."""

    def __init__(
        self, stub: embedder_pb2_grpc.EmbedderServiceStub, told: pb.GetModelResponse
    ) -> None:
        background = None
        if told.HasField("background"):
            background = Background(
                mean=told.background.mean,
                deviation=told.background.deviation,
                count=told.background.count,
            )
        self._facts = ModelFacts(
            identity=told.model.identity,
            name=told.model.name,
            dimensions=told.model.dimensions,
            background=background,
        )
        self._stub = stub
        self._file = CACHE / f"gate-vectors-{told.model.identity[:16]}.json"
        # Windows as first character, one past the last, and base64 of their float32 values.
        self._kept: dict[str, list[tuple[int, int, str]]] = {}
        if self._file.exists():
            self._kept = json.loads(self._file.read_bytes())
        self._fresh = 0

    @override
    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        request = pb.EmbedRequest(
            texts=[text], purpose=pb.PURPOSE_QUERY, query_tokens_max=tokens_max
        )
        (window,) = self._vectors(text, "query", request)
        return QueryVector(model=self._facts, values=window[2])

    @override
    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        return EmbeddedTexts(
            model=self._facts, texts=tuple(self._windows(text, windows_max) for text in texts)
        )

    @override
    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        return self._facts

    @override
    def default_model(self) -> str:
        return self._facts.name

    def save(self) -> None:
        """Write what is new to the file."""
        if self._fresh:
            CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.write_text(json.dumps(self._kept), "utf-8")
            self._fresh = 0

    def _windows(self, text: str, windows_max: int) -> TextVectors:
        request = pb.EmbedRequest(
            texts=[text],
            purpose=pb.PURPOSE_PASSAGE,
            window_tokens=WINDOW_TOKENS,
            overlap_tokens=OVERLAP_TOKENS,
            windows_max=windows_max,
        )
        windows = self._vectors(text, f"passage {windows_max}", request)
        return TextVectors(
            windows=tuple(
                WindowVector(start_char=start, end_char=end, values=values)
                for start, end, values in windows
            ),
            truncated=windows[-1][1] < len(text.rstrip()),
            uncovered_from_char=windows[-1][1]
            if windows[-1][1] < len(text.rstrip())
            else len(text),
        )

    def _vectors(
        self, text: str, how: str, request: pb.EmbedRequest
    ) -> tuple[tuple[int, int, bytes], ...]:
        key = hashlib.sha256(json.dumps([how, text]).encode()).hexdigest()
        if key not in self._kept:
            reply = self._stub.Embed(request, timeout=SECONDS)
            self._kept[key] = [
                (
                    window.start_char,
                    window.end_char,
                    base64.b64encode(np.array(window.values, "<f4").tobytes()).decode(),
                )
                for window in reply.embeddings[0].windows
            ]
            self._fresh += 1
            if self._fresh >= SAVED_AFTER:
                self.save()
        return tuple(
            (start, end, base64.b64decode(values)) for start, end, values in self._kept[key]
        )


@contextmanager
def kept_vectors(model: str = "starter") -> Iterator[KeptVectors]:
    """Run an embedder of *model* for the length of the block."""
    with temporary_home() as folder:
        home, service = Home(root=folder), f"embedder-{model}"
        command = [sys.executable, "-m", "graft_embedder", "serve", "--home", str(folder)]
        record = ensure_running(
            home,
            service,
            [*command, "--model", model],
            environ=os.environ,
            deadline=time.monotonic() + SECONDS,
        )
        with open_channel(record.socket) as channel:
            stub = embedder_pb2_grpc.EmbedderServiceStub(channel)
            kept = KeptVectors(stub, wait_until_ready(stub))
            try:
                yield kept
            finally:
                kept.save()
        kill_service(home, service)
