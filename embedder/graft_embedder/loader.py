"""Bring one model into memory in the background, and say how far it is."""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from graft.wire.errors import ModelNotReadyError, StoppingError
from graft.wire.events import event
from graft.wire.models import STARTER
from graft.wire.paths import Home
from graft_embedder.catalogue import CosineBackground, Entry
from graft_embedder.convert import STARTER_BLAKE3
from graft_embedder.errors import EngineError, ModelFileError
from graft_embedder.hardware import Backend, backend_of, gpu_layers, usable_cpus
from graft_embedder.identity import FileDigests, Identity, identify
from graft_embedder.limits import (
    BATCH_TOKENS_CPU,
    BATCH_TOKENS_GPU,
    CACHE_BYTES_MAX,
    CACHE_TEXT_BYTES_MAX,
    QUERY_TOKENS_CPU,
    QUERY_TOKENS_GPU,
    WINDOW_TOKENS_MIN,
)
from graft_embedder.llama import LlamaModel, LoadOptions, start_backend
from graft_embedder.model_files import ModelFacts, read_facts, require
from graft_embedder.preparation import Preparer, Purpose
from graft_embedder.registry import find
from graft_embedder.result_cache import ResultCache
from graft_embedder.tally import Tally
from graft_embedder.text_embedder import TextEmbedder
from graft_embedder.work_queue import QueueLimits, WorkQueue

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""After a failure a call tries again at most this often: a person may have put the file there."""

HASH_SHARE = 20
"""Per cent of loading that hashing the file counts for."""

STOP_SECONDS = 10.0


class State(Enum):
    """How far the model is."""

    CONVERTING = "CONVERTING"
    LOADING = "LOADING"
    READY = "READY"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The model and how far it is; facts not known yet are None or 0.

    Attributes:
        state: how far it is.
        percent: 0 to 100 within the state.
        problem: why it failed and what to do; empty unless it did.
        identity: which model it is.
        background: cosines between unrelated texts of it.
        window_tokens: tokens of one sequence, prefix and marks counted.
        backend: hardware that it runs on.
        gpu_layers: layers on the GPU.
        threads: threads that compute.
        batch_tokens: tokens that one decode holds at most.
    """

    state: State
    percent: int = 0
    problem: str = ""
    identity: Identity | None = None
    background: CosineBackground | None = None
    window_tokens: int = 0
    backend: Backend | None = None
    gpu_layers: int = 0
    threads: int = 0
    batch_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderOptions:
    """Which model to load, and how.

    Attributes:
        home: where models and their registry lie.
        name: name of the model.
        threads: threads that compute; 0 for what the process may use.
        gpu_layers: "auto" or a number.
        batch_tokens: tokens that one decode holds at most; 0 for what suits the backend.
    """

    home: Home
    name: str
    threads: int
    gpu_layers: str
    batch_tokens: int


class ModelLoader:
    """Loads the model on a thread of its own and hands out what embeds with it."""

    def __init__(self, options: LoaderOptions, on_ready: Callable[[], None]) -> None:
        self._options = options
        self._on_ready = on_ready
        self._lock = threading.Lock()
        self._status = Status(state=State.LOADING)
        self._failed_at = 0.0
        self._stopping = False
        self._engine: LlamaModel | None = None
        self._embedder: TextEmbedder | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to load; after a failure, begin again if that was long enough ago."""
        with self._lock:
            failed = self._status.state is State.FAILED
            first = self._thread is None
            if self._stopping or not (failed or first):
                return
            if failed and time.monotonic() - self._failed_at < RETRY_SECONDS:
                return
            self._status = Status(state=State.LOADING)
            self._thread = threading.Thread(target=self._run, name="loader", daemon=True)
            self._thread.start()

    def status(self) -> Status:
        """Return how far the model is."""
        return self._status

    def embedder(self) -> TextEmbedder:
        """Return what embeds with the model.

        Raises:
            ModelNotReadyError: it is not loaded; says how far it is or why it failed.
            StoppingError: the service is stopping.
        """
        self.start()
        status = self._status
        if self._stopping:
            raise StoppingError("the embedder is stopping; call again, a new one will be started")
        if self._embedder is None:
            told = status.problem or (
                f"the model {self._options.name} is being prepared"
                f" ({status.state.value.lower()}, {status.percent} %); try again shortly"
            )
            raise ModelNotReadyError(told, metadata={"state": status.state.value})
        return self._embedder

    def calls(self) -> int:
        """Return how many calls wait or run."""
        return self._embedder.queue.calls if self._embedder else 0

    def tally(self) -> Tally | None:
        """Return what has been computed; None until the model is loaded."""
        return self._embedder.queue.tally if self._embedder else None

    def stop(self) -> None:
        """Give up loading, finish what runs, and free the model."""
        with self._lock:
            self._stopping = True
            thread = self._thread
        if thread is not None:
            thread.join(STOP_SECONDS)
        ended = self._embedder is None or self._embedder.queue.stop(STOP_SECONDS)
        if ended and self._engine is not None:
            self._engine.close()

    def _tell(self, state: State, percent: int) -> None:
        self._status = dataclasses.replace(self._status, state=state, percent=percent)

    def _run(self) -> None:
        try:
            self._load()
        except (ModelFileError, EngineError) as error:
            self._fail(str(error))
        except Exception:  # a thread's root: whoever asks must not wait for ever
            logger.exception(event("bug while loading", model=self._options.name))
            log = self._options.home.log(f"embedder-{self._options.name}")
            self._fail(f"the model {self._options.name} could not be loaded; {log} tells why")

    def _fail(self, problem: str) -> None:
        logger.error(event("failed", model=self._options.name, problem=problem))
        with self._lock:
            self._failed_at = time.monotonic()
            self._status = Status(state=State.FAILED, problem=problem)

    def _load(self) -> None:
        options = self._options
        entry = find(options.home, options.name)
        path = require(options.home, entry, lambda percent: self._tell(State.CONVERTING, percent))
        self._tell(State.LOADING, 0)
        facts = read_facts(path)
        plan = plan_loading(options, facts, entry, backend_of(start_backend()))
        digest = FileDigests(options.home.root / "model-digests.json").digest(
            path, lambda share: self._tell(State.LOADING, int(HASH_SHARE * share))
        )
        if entry.name == STARTER and digest != STARTER_BLAKE3:
            raise ModelFileError(
                f"{path} is damaged (its BLAKE3 is {digest}); remove it and it is written anew"
            )
        engine = LlamaModel(path, plan.load, self._progress)
        try:
            self._embedder = build_embedder(engine, entry, plan)
        except BaseException:
            # A later try loads it again; nobody else would ever free this one.
            engine.close()
            raise
        self._engine = engine
        self._status = Status(
            state=State.READY,
            percent=100,
            identity=identify(entry, digest, engine.dimensions),
            background=entry.background,
            window_tokens=plan.load.sequence_tokens,
            backend=plan.backend,
            gpu_layers=_layers_on_gpu(plan.load.gpu_layers, engine.layers),
            threads=plan.load.threads,
            batch_tokens=plan.batch_tokens,
        )
        logger.info(event("ready", model=options.name, backend=plan.backend.value))
        self._on_ready()

    def _progress(self, share: float) -> bool:
        self._tell(State.LOADING, HASH_SHARE + int((100 - HASH_SHARE) * share))
        return not self._stopping


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """How a model is loaded and used on this machine."""

    load: LoadOptions
    backend: Backend
    batch_tokens: int
    query_tokens: int


def plan_loading(
    options: LoaderOptions, facts: ModelFacts, entry: Entry, backend: Backend
) -> LoadPlan:
    """Decide how to load the model of *entry* on *backend*."""
    layers = gpu_layers(options.gpu_layers, backend)
    # With no layer on the GPU everything is computed on the processor.
    used = backend if layers else Backend.CPU
    on_cpu = used is Backend.CPU
    batch = options.batch_tokens or (BATCH_TOKENS_CPU if on_cpu else BATCH_TOKENS_GPU)
    return LoadPlan(
        load=LoadOptions(
            pooling=entry.pooling,
            sequence_tokens=facts.sequence_tokens,
            batch_tokens=max(batch, facts.sequence_tokens),
            threads=options.threads or usable_cpus(),
            gpu_layers=layers,
        ),
        backend=used,
        batch_tokens=batch,
        query_tokens=QUERY_TOKENS_CPU if on_cpu else QUERY_TOKENS_GPU,
    )


def build_embedder(engine: LlamaModel, entry: Entry, plan: LoadPlan) -> TextEmbedder:
    """Try *engine* on one word and put queue, windows and cache before it.

    Raises:
        ModelFileError: its window is too short to be used.
        EngineError: it cannot embed.
    """
    preparer = Preparer(engine, entry, plan.query_tokens)
    room = min(preparer.room(purpose) for purpose in Purpose)
    if room < WINDOW_TOKENS_MIN:
        raise ModelFileError(
            f"the model {entry.name} leaves room for {room} tokens beside its prefix;"
            f" {WINDOW_TOKENS_MIN} are needed; choose another with `graft model use`"
        )
    # The first decode allocates; it must not be a caller's.
    engine.encode([engine.tokenize("warm", marks=True)])
    return TextEmbedder(
        preparer,
        WorkQueue(engine, QueueLimits()),
        ResultCache(CACHE_BYTES_MAX, CACHE_TEXT_BYTES_MAX),
        plan.batch_tokens,
    )


def _layers_on_gpu(asked: int, layers: int) -> int:
    # The output counts as one layer more.
    return layers + 1 if asked < 0 else min(asked, layers + 1)


def open_model(path: Path, entry: Entry, threads: int) -> tuple[LlamaModel, Preparer]:
    """Load *path* on the processor for a trial outside any service.

    Raises:
        ModelFileError: it cannot be loaded.
    """
    facts = read_facts(path)
    start_backend()
    engine = LlamaModel(
        path,
        LoadOptions(
            pooling=entry.pooling,
            sequence_tokens=facts.sequence_tokens,
            batch_tokens=max(facts.sequence_tokens, BATCH_TOKENS_CPU),
            threads=threads or usable_cpus(),
            gpu_layers=0,
        ),
        lambda _share: True,
    )
    return engine, Preparer(engine, entry, QUERY_TOKENS_CPU)
