"""The gRPC face: unpack, call, pack."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import grpc
import numpy as np
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2 as pb
from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.build import build_id
from graft.wire.daemon import Control
from graft.wire.errors import (
    BadFieldError,
    DeadlinePassedError,
    StoppingError,
    WrongStateError,
)
from graft.wire.vectors import packed_floats
from graft_embedder.catalogue import CosineBackground, Pooling
from graft_embedder.errors import EngineClosedError, EngineError
from graft_embedder.hardware import Backend
from graft_embedder.identity import Identity
from graft_embedder.limits import REQUEST_BYTES_MAX, TEXT_BYTES_MAX, TEXTS_MAX
from graft_embedder.loader import ModelLoader, State, Status
from graft_embedder.preparation import Options, Purpose
from graft_embedder.result_cache import TextVectors
from graft_embedder.tally import Counted, Tally
from graft_embedder.work_queue import Call, CallEndedError

SERVICE = "graft.embedder.v1.EmbedderService"
NOT_USE = (f"/{SERVICE}/GetModel", f"/{SERVICE}/Stop")
"""Methods that do not keep an idle service alive."""

NO_DEADLINE_SECONDS = 1e9
"""gRPC reports some hundred years where the caller set no deadline."""

PURPOSES = {pb.PURPOSE_QUERY: Purpose.QUERY, pb.PURPOSE_PASSAGE: Purpose.PASSAGE}
POOLINGS = {
    Pooling.MEAN: pb.POOLING_MEAN,
    Pooling.CLS: pb.POOLING_CLS,
    Pooling.LAST: pb.POOLING_LAST,
}
STATES = {
    State.CONVERTING: pb.MODEL_STATE_CONVERTING,
    State.LOADING: pb.MODEL_STATE_LOADING,
    State.READY: pb.MODEL_STATE_READY,
    State.FAILED: pb.MODEL_STATE_FAILED,
}
BACKENDS = {
    Backend.CPU: pb.BACKEND_CPU,
    Backend.CUDA: pb.BACKEND_CUDA,
    Backend.ROCM: pb.BACKEND_ROCM,
    Backend.OTHER_GPU: pb.BACKEND_OTHER_GPU,
}


class EmbedderServicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """Answers for one model."""

    def __init__(self, loader: ModelLoader, control: Control) -> None:
        self._loader = loader
        self._control = control
        self._build = build_id()

    @override
    def Embed(self, request: pb.EmbedRequest, context: grpc.ServicerContext) -> pb.EmbedResponse:
        """Embed texts; see embedder.proto."""
        embedder = self._loader.embedder()
        options = _options(request)
        _check_texts(request.texts)
        with _refusals():
            results = embedder.embed(request.texts, options, _call(context))
        return pb.EmbedResponse(
            model=_model(self._loader.status().identity), embeddings=map(_embedding, results)
        )

    @override
    def CountTokens(
        self, request: pb.CountTokensRequest, context: grpc.ServicerContext
    ) -> pb.CountTokensResponse:
        """Count tokens; see embedder.proto."""
        embedder = self._loader.embedder()
        _check_texts(request.texts)
        with _refusals():
            counts = embedder.count(request.texts, _call(context))
        return pb.CountTokensResponse(model=_model(self._loader.status().identity), counts=counts)

    @override
    def GetModel(
        self, request: pb.GetModelRequest, context: grpc.ServicerContext
    ) -> pb.GetModelResponse:
        """Tell which model this is and how far; see embedder.proto."""
        self._loader.start()
        return self._describe(self._loader.status())

    @override
    def Stop(self, request: pb.StopRequest, context: grpc.ServicerContext) -> pb.StopResponse:
        """End the process; see embedder.proto."""
        if request.only_if_idle and not self._control.is_idle():
            raise WrongStateError(
                f"the embedder is busy ({self._loader.calls()} calls); wait for it or stop it"
                " without only_if_idle",
                metadata={"state": "BUSY"},
            )
        self._control.request_stop()
        return pb.StopResponse(pid=os.getpid())

    def _describe(self, status: Status) -> pb.GetModelResponse:
        return pb.GetModelResponse(
            model=_model(status.identity),
            state=STATES[status.state],
            percent=status.percent,
            problem=status.problem,
            window_tokens=status.window_tokens,
            backend=BACKENDS[status.backend] if status.backend else pb.BACKEND_UNSPECIFIED,
            gpu_layers=status.gpu_layers,
            threads=status.threads,
            batch_tokens=status.batch_tokens,
            background=_background(status.background),
            queued=self._loader.calls(),
            uptime_ms=self._control.uptime_ms(),
            pid=os.getpid(),
            build=self._build,
            work=_work(self._loader.tally()),
        )


def _work(tally: Tally | None) -> pb.Work | None:
    if tally is None:
        return None
    return pb.Work(
        wait_seconds=_histogram(tally.wait_seconds),
        batch_tokens=_histogram(tally.batch_tokens),
        batch_windows=_histogram(tally.batch_windows),
    )


def _histogram(counted: Counted) -> pb.Histogram:
    return pb.Histogram(bounds=counted.bounds, counts=counted.counts, sum=counted.sum)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what ends the work on texts into refusals."""
    try:
        yield
    except CallEndedError as error:
        # Our clock may run out a moment before the caller's: an empty reply would pass for a
        # good one.
        raise DeadlinePassedError(
            "the deadline passed before all was embedded; give more time"
        ) from error
    except EngineClosedError as error:
        raise StoppingError(
            "the embedder is stopping; call again, a new one will be started"
        ) from error
    except EngineError as error:
        # It fails for these texts every time: whoever retries must hear that.
        raise BadFieldError("texts", f"the model makes no vector of them ({error})") from error


def _options(request: pb.EmbedRequest) -> Options:
    purpose = PURPOSES.get(request.purpose)
    if purpose is None:
        raise BadFieldError("purpose", "it must be PURPOSE_QUERY or PURPOSE_PASSAGE")
    return Options(
        purpose=purpose,
        window_tokens=request.window_tokens,
        overlap_tokens=request.overlap_tokens,
        windows_max=request.windows_max,
        query_tokens_max=request.query_tokens_max,
    )


def _check_texts(texts: Sequence[str]) -> None:
    if not 0 < len(texts) <= TEXTS_MAX:
        raise BadFieldError("texts", f"{len(texts)} texts; 1 to {TEXTS_MAX} are taken")
    total = 0
    for index, text in enumerate(texts):
        size = len(text.encode())
        total += size
        if size > TEXT_BYTES_MAX:
            raise BadFieldError(
                f"texts[{index}]", f"{size} bytes; at most {TEXT_BYTES_MAX} are taken"
            )
    if total > REQUEST_BYTES_MAX:
        raise BadFieldError(
            "texts", f"{total} bytes together; at most {REQUEST_BYTES_MAX} are taken"
        )


def _call(context: grpc.ServicerContext) -> Call:
    left = context.time_remaining()
    call = Call(None if left > NO_DEADLINE_SECONDS else left)
    if not context.add_callback(call.end):
        call.end()
    return call


def _model(identity: Identity | None) -> pb.ModelIdentity | None:
    if identity is None:
        return None
    return pb.ModelIdentity(
        identity=identity.key,
        name=identity.name,
        file_digest=identity.file_digest,
        dimensions=identity.dimensions,
        pooling=POOLINGS[identity.pooling],
        query_prefix=identity.query_prefix,
        passage_prefix=identity.passage_prefix,
    )


def _background(background: CosineBackground | None) -> pb.CosineBackground | None:
    if background is None:
        return None
    return pb.CosineBackground(
        mean=background.mean, deviation=background.deviation, count=background.count
    )


def _embedding(result: TextVectors) -> pb.TextEmbedding:
    windows = []
    for (start, end), vector in zip(result.spans, result.vectors, strict=True):
        values = np.ascontiguousarray(vector, "<f4").tobytes()
        window = pb.Window.FromString(packed_floats(pb.Window.VALUES_FIELD_NUMBER, values))
        window.start_char, window.end_char = start, end
        windows.append(window)
    return pb.TextEmbedding(
        windows=windows,
        tokens=result.tokens,
        truncated=result.truncated,
        uncovered_from_char=result.uncovered,
    )
