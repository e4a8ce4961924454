"""An embedder process without a model, told by a file how to behave."""

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2 as pb
from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.daemon import Control, DaemonOptions, run_daemon
from graft.wire.errors import BadFieldError, BusyError
from graft.wire.paths import Home

STATES = {
    "loading": pb.MODEL_STATE_LOADING,
    "ready": pb.MODEL_STATE_READY,
    "failed": pb.MODEL_STATE_FAILED,
}


class StandIn(embedder_pb2_grpc.EmbedderServiceServicer):
    def __init__(self, home: Path, model: str, control: Control) -> None:
        self._home = home
        self._model = model
        self._control = control
        self._asked = 0
        self._refused = 0

    @override
    def GetModel(
        self, request: pb.GetModelRequest, context: grpc.ServicerContext
    ) -> pb.GetModelResponse:
        orders = read_orders(self._home, self._model)
        self._asked += 1
        state = orders.get("state", "ready")
        if self._asked <= orders.get("loading_polls", 0):
            state = "loading"
        return pb.GetModelResponse(
            model=self._identity(),
            state=STATES[state],
            percent=40 if state == "loading" else 100,
            problem=orders.get("problem", ""),
            pid=os.getpid(),
            background=pb.CosineBackground(mean=0.8, deviation=0.03, count=64),
        )

    @override
    def Embed(self, request: pb.EmbedRequest, context: grpc.ServicerContext) -> pb.EmbedResponse:
        orders = read_orders(self._home, self._model)
        if "die" in request.texts:
            os._exit(1)
        if "wait" in request.texts:
            self._wait_until_ended(context)
        if "refuse" in request.texts:
            raise BadFieldError("texts[0]", "cannot be embedded")
        if self._refused < orders.get("busy_times", 0):
            self._refused += 1
            raise BusyError("the queue is full", retry_after_ms=20)
        windows = [pb.Window(start_char=0, end_char=1, values=[0.6, 0.8])]
        return pb.EmbedResponse(
            model=self._identity(),
            embeddings=[
                pb.TextEmbedding(windows=windows, uncovered_from_char=len(text))
                for text in request.texts
            ],
        )

    @override
    def CountTokens(
        self, request: pb.CountTokensRequest, context: grpc.ServicerContext
    ) -> pb.CountTokensResponse:
        counts = [len(text.split()) for text in request.texts]
        return pb.CountTokensResponse(model=self._identity(), counts=counts)

    @override
    def Stop(self, request: pb.StopRequest, context: grpc.ServicerContext) -> pb.StopResponse:
        self._control.request_stop()
        return pb.StopResponse(pid=os.getpid())

    def _wait_until_ended(self, context: grpc.ServicerContext) -> None:
        ended = threading.Event()
        context.add_callback(ended.set)
        (self._home / "waiting").touch()
        ended.wait()
        (self._home / "ended").touch()

    def _identity(self) -> pb.ModelIdentity:
        orders = read_orders(self._home, self._model)
        return pb.ModelIdentity(
            identity=orders.get("identity", f"file of {self._model}"),
            name=self._model,
            dimensions=2,
        )


def read_orders(home: Path, model: str) -> dict[str, Any]:
    path = home / f"orders-{model}.json"
    content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    assert isinstance(content, dict)
    return content


def main() -> int:
    """Serve as the command line and the orders say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--socket-name", default="")
    parser.add_argument("--ready-fd", type=int, required=True)
    arguments = parser.parse_args()
    with (arguments.home / "starts").open("a") as starts:
        starts.write(f"{arguments.model}\n")
    if read_orders(arguments.home, arguments.model).get("ends"):
        sys.exit("the file is gone; run: graft model pull")

    def register(servers: Sequence[grpc.Server], control: Control) -> tuple[str, ...]:
        servicer = StandIn(arguments.home, arguments.model, control)
        for server in servers:
            embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)
        return ("graft.embedder.v1.EmbedderService",)

    options = DaemonOptions(
        home=Home(root=arguments.home),
        service=f"embedder-{arguments.model}",
        socket_name=arguments.socket_name,
        domain="graft.embedder",
        idle_minutes=0,
        ready_fd=arguments.ready_fd,
    )
    return run_daemon(options, register=register, busy=lambda: False, on_stop=lambda: None)


if __name__ == "__main__":
    sys.exit(main())
