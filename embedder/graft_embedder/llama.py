"""Hold one GGUF model in llama.cpp: text to tokens, tokens to unit vectors.

llama.cpp aborts the process on several inputs (a sequence longer than the physical batch, a
position beyond the trained window, use after free, two threads in one context). Everything that
leads there is refused here, before the call.
"""

import ctypes
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import llama_cpp
import numpy as np
from llama_cpp._ggml import libggml, libggml_base_path

from graft.wire.events import event
from graft_embedder.catalogue import POOLING_NUMBERS, Pooling
from graft_embedder.engine import Tokens, Vectors
from graft_embedder.errors import EngineClosedError, EngineError, ModelFileError
from graft_embedder.hardware import Device
from graft_embedder.limits import SEQUENCES_MAX

logger = logging.getLogger(__name__)

LOG_WARNING, LOG_ERROR = 3, 4
NORM_MIN = 1e-6
"""A shorter vector has no direction worth keeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How to load a model.

    Attributes:
        pooling: how token vectors become one.
        sequence_tokens: tokens that one sequence may have; not above the trained window.
        batch_tokens: tokens that one decode may hold; not below sequence_tokens.
        threads: threads that compute.
        gpu_layers: layers on the GPU; -1 for all.
    """

    pooling: Pooling
    sequence_tokens: int
    batch_tokens: int
    threads: int
    gpu_layers: int


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator] # ctypes ships no types for it
def _log(level: int, text: bytes, _data: ctypes.c_void_p) -> None:
    if level in (LOG_WARNING, LOG_ERROR):
        logger.log(
            logging.ERROR if level == LOG_ERROR else logging.WARNING,
            event("llama.cpp says", text=text.decode("utf-8", "replace").rstrip()),
        )


def start_backend() -> list[Device]:
    """Prepare llama.cpp once in the life of the process and return the devices it found."""
    llama_cpp.llama_log_set(_log, ctypes.c_void_p(0))
    _load_backends()
    llama_cpp.llama_backend_init()
    for name, result, arguments in (
        ("ggml_backend_dev_count", ctypes.c_size_t, []),
        ("ggml_backend_dev_get", ctypes.c_void_p, [ctypes.c_size_t]),
        ("ggml_backend_dev_name", ctypes.c_char_p, [ctypes.c_void_p]),
        ("ggml_backend_dev_type", ctypes.c_int, [ctypes.c_void_p]),
    ):
        function = getattr(libggml, name)
        function.restype, function.argtypes = result, arguments
    devices = []
    for index in range(libggml.ggml_backend_dev_count()):
        device = libggml.ggml_backend_dev_get(index)
        name_bytes: bytes = libggml.ggml_backend_dev_name(device)
        devices.append(
            Device(
                name=name_bytes.decode("utf-8", "replace"),
                kind=libggml.ggml_backend_dev_type(device),
            )
        )
    return (
        devices
        if llama_cpp.llama_supports_gpu_offload()
        else [device for device in devices if device.kind == 0]
    )


def _load_backends() -> None:
    """Load what a build with GGML_BACKEND_DL keeps in libraries of their own; others have none.

    llama.cpp itself would look beside the program, which is Python, and in the working directory.
    """
    libggml.ggml_backend_reg_count.restype = ctypes.c_size_t
    if libggml.ggml_backend_reg_count() == 0:
        libggml.ggml_backend_load_all_from_path(str(libggml_base_path).encode())


class LlamaModel:
    """One model and one context; `tokenize` from any thread, `encode` one call at a time."""

    def __init__(self, path: Path, options: LoadOptions, progress: Callable[[float], bool]) -> None:
        """Load *path*; *progress* is told a share from 0 to 1, and answers whether to go on.

        Raises:
            ModelFileError: llama.cpp cannot load it, or it does not fit the options.
        """
        self._options = options
        self._encoding = threading.Lock()
        self._users = 0
        self._quiet = threading.Condition()
        self._closed = False
        self._model = _load(path, options, progress)
        try:
            self._context = _open_context(self._model, path, options)
        except ModelFileError:
            llama_cpp.llama_model_free(self._model)
            raise
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = _Batch(options.batch_tokens)
        self.dimensions: int = llama_cpp.llama_model_n_embd_out(self._model)
        self.layers: int = llama_cpp.llama_model_n_layer(self._model)
        self.sequence_tokens = options.sequence_tokens
        self.batch_tokens = options.batch_tokens

    def tokenize(self, text: str, *, marks: bool) -> Tokens:
        """Return the tokens of *text*, with the model's start and end marks if asked.

        Names of special tokens in the text are read as text. NUL is read as a space, since it
        would end the text, and a lone surrogate as a question mark.

        Raises:
            EngineClosedError: the model was closed.
            EngineError: the text cannot be tokenised.
        """
        encoded = text.replace("\x00", " ").encode("utf-8", "replace")
        # Normalisation can make a text longer than it was; a second call then has the room.
        room = len(encoded) + 16
        with self._use():
            for _ in range(2):
                tokens = (llama_cpp.llama_token * room)()
                count: int = llama_cpp.llama_tokenize(
                    self._vocabulary, encoded, len(encoded), tokens, room, marks, False
                )
                if count >= 0:
                    return tokens[:count]
                room = -count
        raise EngineError(f"llama.cpp cannot tokenise a text of {len(encoded)} bytes")

    def encode(self, sequences: Sequence[Tokens]) -> Vectors:
        """Return one unit vector for each of *sequences*, all computed in one decode.

        Raises:
            EngineClosedError: the model was closed.
            EngineError: a sequence or the batch is empty or too long, or what came back is no
                vector.
        """
        self._check(sequences)
        with self._encoding, self._use():
            self._batch.fill(sequences)
            if self._memory:
                llama_cpp.llama_memory_clear(self._memory, False)
                status: int = llama_cpp.llama_decode(self._context, self._batch.struct)
            else:
                status = llama_cpp.llama_encode(self._context, self._batch.struct)
            if status != 0:
                raise EngineError(f"llama.cpp could not compute (status {status})")
            return _unit(self._read(len(sequences)))

    def close(self) -> None:
        """Free the model once nobody is inside it; later calls are refused."""
        with self._quiet:
            if self._closed:
                return
            self._closed = True
            self._quiet.wait_for(lambda: self._users == 0)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    @contextmanager
    def _use(self) -> Iterator[None]:
        # Memory that was freed must never be read: that is a segmentation fault.
        with self._quiet:
            if self._closed:
                raise EngineClosedError("the model was closed")
            self._users += 1
        try:
            yield
        finally:
            with self._quiet:
                self._users -= 1
                self._quiet.notify_all()

    def _check(self, sequences: Sequence[Tokens]) -> None:
        if not 0 < len(sequences) <= SEQUENCES_MAX:
            raise EngineError(f"{len(sequences)} sequences in one decode; 1 to {SEQUENCES_MAX}")
        longest = max(map(len, sequences))
        if not all(sequences) or longest > self._options.sequence_tokens:
            raise EngineError(
                f"a sequence has {longest} tokens; 1 to {self._options.sequence_tokens}"
            )
        total = sum(map(len, sequences))
        if total > self._options.batch_tokens:
            raise EngineError(f"{total} tokens in one decode; at most {self._options.batch_tokens}")

    def _read(self, count: int) -> Vectors:
        vectors = np.empty((count, self.dimensions), np.float32)
        for index in range(count):
            pointer = llama_cpp.llama_get_embeddings_seq(self._context, index)
            if not pointer:
                raise EngineError("llama.cpp returned no vector")
            vectors[index] = np.ctypeslib.as_array(pointer, shape=(self.dimensions,))
        return vectors


class _Batch:
    """llama.cpp's batch over arrays of ours, so that filling it is a copy of arrays."""

    def __init__(self, tokens_max: int) -> None:
        self._tokens = np.zeros(tokens_max, np.int32)
        self._positions = np.zeros(tokens_max, np.int32)
        self._sequences = np.zeros(tokens_max, np.int32)
        self._counts = np.ones(tokens_max, np.int32)
        self._outputs = np.ones(tokens_max, np.int8)
        # Each token has a pointer to its sequence numbers: one number, in an array of ours.
        step = self._sequences.itemsize
        self._pointers = self._sequences.ctypes.data + step * np.arange(tokens_max, dtype=np.uintp)
        self._range = np.arange(tokens_max, dtype=np.int32)
        numbers = ctypes.POINTER(ctypes.c_int32)
        self.struct = llama_cpp.llama_batch(
            n_tokens=0,
            token=self._tokens.ctypes.data_as(numbers),
            embd=None,
            pos=self._positions.ctypes.data_as(numbers),
            n_seq_id=self._counts.ctypes.data_as(numbers),
            seq_id=self._pointers.ctypes.data_as(ctypes.POINTER(numbers)),
            logits=self._outputs.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def fill(self, sequences: Sequence[Tokens]) -> None:
        """Put *sequences* in, numbered from 0."""
        at = 0
        for number, tokens in enumerate(sequences):
            end = at + len(tokens)
            self._tokens[at:end] = tokens
            self._positions[at:end] = self._range[: len(tokens)]
            self._sequences[at:end] = number
            at = end
        self.struct.n_tokens = at


def _load(
    path: Path, options: LoadOptions, progress: Callable[[float], bool]
) -> llama_cpp.llama_model_p:
    @llama_cpp.llama_progress_callback  # type: ignore[untyped-decorator] # as above
    def report(share: float, _data: ctypes.c_void_p) -> bool:
        return progress(share)

    parameters = llama_cpp.llama_model_default_params()
    parameters.n_gpu_layers = options.gpu_layers
    parameters.progress_callback = report
    model: llama_cpp.llama_model_p | None = llama_cpp.llama_model_load_from_file(
        str(path).encode(), parameters
    )
    if not model:
        raise ModelFileError(
            f"llama.cpp cannot load {path}: the file is damaged, cut short, or of a kind that"
            " this build does not know; get it again"
        )
    return model


def _open_context(
    model: llama_cpp.llama_model_p, path: Path, options: LoadOptions
) -> llama_cpp.llama_context_p:
    trained: int = llama_cpp.llama_model_n_ctx_train(model)
    if options.sequence_tokens > trained:
        raise ModelFileError(
            f"{path} was trained for {trained} tokens; {options.sequence_tokens} were asked for"
        )
    parameters = llama_cpp.llama_context_default_params()
    # A sequence above the physical batch aborts the process, so all three are one; and so does
    # a physical batch that is no multiple of the sequences.
    room = options.batch_tokens + -options.batch_tokens % SEQUENCES_MAX
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = room
    parameters.n_seq_max = SEQUENCES_MAX
    parameters.kv_unified = True
    parameters.n_threads = parameters.n_threads_batch = options.threads
    parameters.pooling_type = POOLING_NUMBERS[options.pooling]
    parameters.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    parameters.embeddings = True
    parameters.no_perf = True
    context: llama_cpp.llama_context_p | None = llama_cpp.llama_init_from_model(model, parameters)
    if not context:
        raise ModelFileError(
            f"llama.cpp cannot open a context for {path}; it may need more memory than is free"
        )
    return context


def _unit(vectors: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    # A comparison with NaN is false, so this refuses NaN and infinity too.
    if not bool(np.all((norms > NORM_MIN) & np.isfinite(norms))):
        raise EngineError("the model returned a vector without length or with NaN")
    unit: Vectors = (vectors / norms[:, None]).astype(np.float32)
    return unit
