"""Find the file of a model, and write or fetch it where that can be done."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graft.wire.models import STARTER
from graft.wire.paths import Home
from graft_embedder import gguf_file
from graft_embedder.catalogue import POOLING_NUMBERS, Entry, Pooling
from graft_embedder.convert import STARTER_BYTES, write_starter
from graft_embedder.download import Progress, fetch
from graft_embedder.errors import ModelFileError
from graft_embedder.files import locked, make_models_folder
from graft_embedder.limits import CAUSAL_SEQUENCE_TOKENS_MAX, SEQUENCE_TOKENS_MAX

CONVERT_LOCK_SECONDS = 120.0
"""Writing the starter takes a second or two; whoever holds its lock for this long hangs."""

RANK_POOLING = 4
POOLINGS = {number: pooling for pooling, number in POOLING_NUMBERS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What the header of a model file says.

    Attributes:
        architecture: llama.cpp's name of the network's kind.
        pooling: how the file says that token vectors become one; None when it does not say.
        sequence_tokens: tokens of one sequence, by training and by our own limit.
        name: name that the file gives itself; may be empty.
    """

    architecture: str
    pooling: Pooling | None
    sequence_tokens: int
    name: str


def path_of(home: Home, entry: Entry) -> Path:
    """Return where the file of *entry* lies, or would."""
    return home.models / entry.file


def is_there(home: Home, entry: Entry) -> bool:
    """Tell whether the file of *entry* is there, whole as far as its size tells."""
    try:
        size = path_of(home, entry).stat().st_size
    except OSError:
        return False
    return size == STARTER_BYTES if entry.name == STARTER else size > 0


def require(home: Home, entry: Entry, progress: Callable[[int], None]) -> Path:
    """Return the file of *entry*; the starter is written first where it is missing.

    *progress* is told per cent of writing, from the moment that somebody writes.

    Raises:
        ModelFileError: it is not there and cannot be written; says what to do.
    """
    path = path_of(home, entry)
    if is_there(home, entry):
        return path
    if entry.name != STARTER:
        raise ModelFileError(_missing(path, entry))
    progress(0)
    make_models_folder(home.models)
    with locked(home.models / ".lock", CONVERT_LOCK_SECONDS, lambda: None):
        # Whoever held the lock may have written it.
        if not is_there(home, entry):
            write_starter(path, progress)
    return path


def pull(home: Home, entry: Entry, mirror: str, progress: Progress) -> Path:
    """Fetch the file of *entry* unless it is there, and return its path.

    Raises:
        ModelFileError: it cannot be had; says what to do.
    """
    path = path_of(home, entry)
    if is_there(home, entry):
        return path
    if entry.name == STARTER:
        return require(home, entry, lambda percent: progress(percent, 100))
    if entry.download is None:
        raise ModelFileError(_missing(path, entry))
    make_models_folder(home.models)
    # A lock of its own: the starter must not wait for a download of minutes.
    with locked(home.models / f".{entry.file}.lock", 0.0, lambda: None):
        if not is_there(home, entry):
            fetch(entry.download, path, mirror, progress)
    return path


def read_facts(path: Path) -> ModelFacts:
    """Return what the header of *path* says.

    Raises:
        ModelFileError: it is no GGUF file of an embedding model; says what to do.
    """
    facts = gguf_file.read_facts(path)
    architecture = str(facts.get("general.architecture", ""))
    context = facts.get(f"{architecture}.context_length")
    if not architecture or not isinstance(context, int) or context <= 0:
        raise ModelFileError(
            f"{path} names no architecture or no context length; it is not a language model"
        )
    number = facts.get(f"{architecture}.pooling_type")
    if number == RANK_POOLING:
        raise ModelFileError(
            f"{path} is a reranker, which scores pairs and makes no vectors; choose an embedding"
            " model"
        )
    causal = facts.get(f"{architecture}.attention.causal", True)
    most = CAUSAL_SEQUENCE_TOKENS_MAX if causal else SEQUENCE_TOKENS_MAX
    return ModelFacts(
        architecture=architecture,
        pooling=POOLINGS.get(number) if isinstance(number, int) else None,
        sequence_tokens=min(context, most),
        name=str(facts.get("general.name", "")),
    )


def _missing(path: Path, entry: Entry) -> str:
    if entry.download is not None:
        return (
            f"the model {entry.name} is not here: no file {path}; fetch it with"
            f" `graft model pull {entry.name}` ({entry.download.megabytes} MB)"
        )
    return (
        f"the model {entry.name} is not here: no file {path}; put it back, or register where it"
        " is now with `graft model use PATH`"
    )
