"""A real embedder process for tests: started like any other, asked over its socket."""

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from graft.embedder.v1 import embedder_pb2 as pb
from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.channel import open_channel
from graft.wire.launch import ensure_running, kill_service, wait_until_gone
from graft.wire.paths import Home

SECONDS = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningEmbedder:
    """One embedder process and a stub of it."""

    home: Home
    service: str
    pid: int
    stub: embedder_pb2_grpc.EmbedderServiceStub

    def model(self) -> pb.GetModelResponse:
        """Return what it says of its model now."""
        return self.stub.GetModel(pb.GetModelRequest(), timeout=SECONDS)

    def wait_until(self, *states: "pb.ModelState.ValueType") -> pb.GetModelResponse:
        """Wait until the model is in one of *states*."""
        pause = threading.Event()
        ends = time.monotonic() + SECONDS
        while (told := self.model()).state not in states:
            assert time.monotonic() < ends, f"still {told.state}"
            pause.wait(0.02)
        return told

    def embed(self, *texts: str, **fields: int) -> pb.EmbedResponse:
        """Embed *texts* as passages unless *fields* say otherwise."""
        fields.setdefault("purpose", pb.PURPOSE_PASSAGE)
        request = pb.EmbedRequest(texts=texts, **fields)  # type: ignore[arg-type] # an enum is an int here
        return self.stub.Embed(request, timeout=SECONDS)


@contextmanager
def running_embedder(
    home: Home, model: str, environ: Mapping[str, str] | None = None
) -> Iterator[RunningEmbedder]:
    """Start the embedder of *model* in *home*, and kill it in the end if it still runs."""
    service = f"embedder-{model}"
    command = [sys.executable, "-m", "graft_embedder", "serve", "--home", str(home.root)]
    record = ensure_running(
        home,
        service,
        [*command, "--model", model],
        environ={**os.environ, **(environ or {})},  # noqa: TID251 - a daemon inherits PATH
        deadline=time.monotonic() + SECONDS,
    )
    try:
        with open_channel(record.socket) as channel:
            stub = embedder_pb2_grpc.EmbedderServiceStub(channel)
            yield RunningEmbedder(home=home, service=service, pid=record.pid, stub=stub)
    finally:
        kill_service(home, service)
        assert wait_until_gone(home, service, time.monotonic() + SECONDS)
