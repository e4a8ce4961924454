"""One embedder process as its user sees it: found or started, waited for, called, restarted."""

import logging
import threading
import time
from dataclasses import dataclass

import grpc

from graft.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from graft.wire.call_ids import call_pairs
from graft.wire.channel import open_channel
from graft.wire.errors import ModelNotReadyError, Refusal, read_refusal
from graft.wire.events import event
from graft.wire.launch import StartError
from graft.wire.paths import UnsafeDirectoryError
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import ASK_SECONDS, Place
from graft_memstore.embedding import ModelFacts, TextRefusedError
from graft_memstore.model import Background

ANSWER_MARGIN_SECONDS = 1.0
"""A caller that waits for the model is answered this long before it gives up."""

POLL_SECONDS = 0.1
BUSY_WAIT_SECONDS = 0.1

BACK_OFF_SECONDS = 2.0
"""After a failed start nobody tries again for this long, twice as long each time."""

LOST_MAX = 2
"""An embedder that ends this often while it works on one call is not given the call again."""

STATE_NAMES = {
    embedder_pb2.MODEL_STATE_CONVERTING: "converting",
    embedder_pb2.MODEL_STATE_LOADING: "loading",
    embedder_pb2.MODEL_STATE_READY: "ready",
    embedder_pb2.MODEL_STATE_FAILED: "failed",
}
BACKEND_NAMES = {
    embedder_pb2.BACKEND_CPU: "cpu",
    embedder_pb2.BACKEND_CUDA: "cuda",
    embedder_pb2.BACKEND_ROCM: "rocm",
    embedder_pb2.BACKEND_OTHER_GPU: "gpu",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderReport:
    """How an embedder is; the words of the proto's EmbedderStatus."""

    model: str
    state: str
    pid: int = 0
    socket: str = ""
    percent: int = 0
    problem: str = ""
    uptime_ms: int = 0
    backend: str = ""
    queued: int = 0
    work: embedder_pb2.Work | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why it could not be started, and until when nobody tries again."""

    problem: str
    until: float
    pause_seconds: float


class EmbedderProcess:
    """The embedder of one model. Any thread may use it."""

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self._place = place
        self._service = f"embedder-{name}"
        # Taken by whoever starts or asks; the others wait for what comes of it.
        self._starting = threading.Lock()
        self._lock = threading.Lock()
        self._channel: grpc.Channel | None = None
        self._facts: ModelFacts | None = None
        self._failure: Failure | None = None
        self._ended = threading.Event()

    def facts(self, deadline: Deadline) -> ModelFacts:
        """Return the model, started and loaded if need be.

        Raises:
            ModelNotReadyError: it is not ready in time, or cannot be; says why.
        """
        return self._ready(_give_up_at(deadline), deadline)[1]

    def embed(
        self, request: embedder_pb2.EmbedRequest, deadline: Deadline
    ) -> embedder_pb2.EmbedResponse:
        """Embed, waiting for a starting or busy embedder and restarting one that has ended.

        Raises:
            ModelNotReadyError: it is not ready in time, or cannot be; says why.
            TextRefusedError: a text has no vector.
        """
        end = _give_up_at(deadline)
        for _ in range(LOST_MAX):
            reply = self._embed_while_alive(request, end, deadline)
            if reply is not None:
                return reply
        raise self._fail(f"the embedder of {self.name} ended while it worked; see its log")

    def report(self) -> EmbedderReport:
        """Tell how it is, starting nothing."""
        failure = self._failure
        problem = "" if failure is None else failure.problem
        try:
            record = self._place.find()
        except StartError as error:
            return EmbedderReport(model=self.name, state="failed", problem=str(error))
        if record is None:
            state = "failed" if problem else "stopped"
            return EmbedderReport(model=self.name, state=state, problem=problem)
        with open_channel(record.socket) as channel:
            try:
                reply = embedder_pb2_grpc.EmbedderServiceStub(channel).GetModel(
                    embedder_pb2.GetModelRequest(), timeout=ASK_SECONDS
                )
            except grpc.RpcError:
                reply = embedder_pb2.GetModelResponse()
        misfit = self._place.misfit(reply)
        if misfit:
            return EmbedderReport(model=self.name, state="failed", problem=misfit)
        return EmbedderReport(
            model=self.name,
            state=STATE_NAMES.get(reply.state, "starting"),
            pid=record.pid,
            socket=str(record.socket),
            percent=reply.percent,
            problem=reply.problem or problem,
            uptime_ms=reply.uptime_ms,
            backend=BACKEND_NAMES.get(reply.backend, ""),
            queued=reply.queued,
            work=reply.work if reply.HasField("work") else None,
        )

    def end(self) -> None:
        """End the process, and start it for nobody any more."""
        self._ended.set()
        self.stop()

    def stop(self) -> bool:
        """End the process once its calls have finished; tell whether none runs now."""
        with self._lock:
            channel = self._channel
        self._disconnect(channel)
        return self._place.end()

    def _embed_while_alive(
        self, request: embedder_pb2.EmbedRequest, end: float, deadline: Deadline
    ) -> embedder_pb2.EmbedResponse | None:
        """Return the reply, None when the process has ended meanwhile."""
        while True:
            channel, _ = self._ready(end, deadline)
            try:
                return _call_embed(channel, request, end, deadline)
            except grpc.FutureCancelledError as error:
                raise self._not_ready("the caller has gone") from error
            except grpc.RpcError as error:
                refusal = read_refusal(error)
                if refusal.code is grpc.StatusCode.INVALID_ARGUMENT:
                    raise TextRefusedError(refusal.message) from error
                if not refusal.reason and refusal.code is not grpc.StatusCode.DEADLINE_EXCEEDED:
                    self._disconnect(channel)
                    return None
                if refusal.reason in ("MODEL_NOT_READY", "STOPPING"):
                    self._disconnect(channel)
                self._wait_for_turn(refusal, end, deadline)

    def _wait_for_turn(self, refusal: Refusal, end: float, deadline: Deadline) -> None:
        """Wait as a refusal that passes asks for.

        Raises:
            ModelNotReadyError: it will not pass, or not in time.
        """
        if refusal.reason not in ("MODEL_NOT_READY", "STOPPING", "BUSY"):
            raise self._not_ready(refusal.message or "it is busy; try again")
        pause = BUSY_WAIT_SECONDS
        if refusal.retry_after_ms is not None:
            pause = max(pause, refusal.retry_after_ms / 1000)
        if _left(end) <= pause or not deadline.patient:
            raise self._not_ready(refusal.message)
        deadline.wait(pause)

    def _ready(self, end: float, deadline: Deadline) -> tuple[grpc.Channel, ModelFacts]:
        """Return a channel to the process with its model loaded.

        Raises:
            ModelNotReadyError: not before *end*, or not at all.
        """
        waits_for = "it is starting"
        while True:
            with self._lock:
                channel, facts = self._channel, self._facts
            if channel is not None and facts is not None:
                return channel, facts
            if not deadline.patient:
                raise self._not_ready(waits_for)
            if not self._starting.acquire(timeout=_left(end)):
                raise self._not_ready(waits_for)
            try:
                waits_for = self._look(end)
            finally:
                self._starting.release()
            if not waits_for:
                continue
            if _left(end) <= 0 or deadline.left() <= 0:
                raise self._not_ready(waits_for)
            deadline.wait(POLL_SECONDS)

    def _look(self, end: float) -> str:
        """Start it if need be and ask how far it is; return what is waited for, "" when ready."""
        if self._facts is not None:
            return ""
        channel = self._connect(end)
        stub = embedder_pb2_grpc.EmbedderServiceStub(channel)
        try:
            reply = stub.GetModel(
                embedder_pb2.GetModelRequest(), timeout=max(min(ASK_SECONDS, _left(end)), 0.05)
            )
        except grpc.RpcError:
            self._disconnect(channel)
            return "it does not answer yet"
        if reply.state == embedder_pb2.MODEL_STATE_FAILED:
            self.stop()
            raise self._fail(reply.problem)
        misfit = self._place.misfit(reply)
        if misfit:
            self._disconnect(channel)
            raise self._fail(misfit)
        if reply.state != embedder_pb2.MODEL_STATE_READY:
            return f"it is {STATE_NAMES.get(reply.state, 'starting')} ({reply.percent} %)"
        with self._lock:
            self._facts = facts_from(reply)
            self._failure = None
        return ""

    def _connect(self, end: float) -> grpc.Channel:
        """Return a channel to the running process, which is started if there is none.

        Raises:
            ModelNotReadyError: it cannot be started now.
        """
        with self._lock:
            if self._channel is not None:
                return self._channel
        if self._ended.is_set():
            raise self._not_ready("the service is stopping")
        failure = self._failure
        if failure is not None and time.monotonic() < failure.until:
            raise self._not_ready(failure.problem, state="failed")
        try:
            record = self._place.reach(end)
        except (StartError, UnsafeDirectoryError) as error:
            if _left(end) <= 0:
                # It was not given the time; that says nothing about the next caller's.
                raise self._not_ready("it is starting") from error
            raise self._fail(str(error)) from error
        if self._ended.is_set():
            # The end came while it was started.
            self.stop()
            raise self._not_ready("the service is stopping")
        channel = open_channel(record.socket)
        with self._lock:
            self._channel = channel
        return channel

    def _disconnect(self, broken: grpc.Channel | None) -> None:
        """Use *broken* no more, unless another thread has opened the next one already."""
        with self._lock:
            if broken is None or self._channel is not broken:
                return
            self._channel = self._facts = None
        broken.close()

    def _fail(self, problem: str) -> ModelNotReadyError:
        """Remember *problem* so that nobody tries again at once, and return the refusal."""
        before = self._failure
        pause = BACK_OFF_SECONDS if before is None else before.pause_seconds * 2
        pause = min(pause, self._place.pause_seconds_max)
        self._failure = Failure(
            problem=problem, until=time.monotonic() + pause, pause_seconds=pause
        )
        log.warning(event("failed", service=self._service, problem=problem))
        return self._not_ready(problem, state="failed")

    def _not_ready(self, problem: str, state: str = "waiting") -> ModelNotReadyError:
        return not_ready(self.name, problem, state)


def not_ready(name: str, problem: str, state: str = "waiting") -> ModelNotReadyError:
    """Build the refusal that says why model *name* gives no vector now."""
    return ModelNotReadyError(
        f"model {name} cannot embed now: {problem}", metadata={"state": state}
    )


def facts_from(reply: embedder_pb2.GetModelResponse) -> ModelFacts:
    """Read which model a ready embedder holds."""
    background = None
    if reply.HasField("background"):
        background = Background(
            mean=reply.background.mean,
            deviation=reply.background.deviation,
            count=reply.background.count,
        )
    return ModelFacts(
        identity=reply.model.identity,
        name=reply.model.name,
        dimensions=reply.model.dimensions,
        background=background,
    )


def _call_embed(
    channel: grpc.Channel, request: embedder_pb2.EmbedRequest, end: float, deadline: Deadline
) -> embedder_pb2.EmbedResponse:
    """Make one call, which ends when the caller goes if it may take long."""
    stub = embedder_pb2_grpc.EmbedderServiceStub(channel)
    if request.purpose == embedder_pb2.PURPOSE_QUERY:
        # What makes a call cancellable, a thread of its own, takes half a millisecond, a quarter
        # of a query's two hops. One that nobody waits for any more costs one short decode.
        return stub.Embed(request, timeout=_left(end), metadata=call_pairs())
    call = stub.Embed.future(request, timeout=_left(end), metadata=call_pairs())
    deadline.on_cancel(call.cancel)
    return call.result()


def _give_up_at(deadline: Deadline) -> float:
    return time.monotonic() + deadline.sooner(ANSWER_MARGIN_SECONDS)


def _left(end: float) -> float:
    return max(end - time.monotonic(), 0.0)
