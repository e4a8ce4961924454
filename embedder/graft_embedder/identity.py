"""Say which model made a vector: the hash of its file and how it is used."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from graft_embedder.catalogue import Entry, Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.files import replace_text

CHUNK_BYTES = 8 * 1024 * 1024
REMEMBERED_MAX = 64
"""Files whose hash is remembered; more is somebody's folder of experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which model made a vector; vectors compare only where `key` is equal.

    Attributes:
        key: equal exactly where everything below but the name is.
        name: for people.
        file_digest: BLAKE3 of the file, 64 lower-case hex digits.
        dimensions: length of every vector.
        pooling: how token vectors become one.
        query_prefix: put before every query.
        passage_prefix: put before every passage.
    """

    key: str
    name: str
    file_digest: str
    dimensions: int
    pooling: Pooling
    query_prefix: str
    passage_prefix: str


def identify(entry: Entry, file_digest: str, dimensions: int) -> Identity:
    """Build the identity of the model of *entry* whose file has *file_digest*."""
    parts = (
        file_digest,
        str(dimensions),
        entry.pooling.value,
        entry.query_prefix,
        entry.passage_prefix,
    )
    hasher = blake3()
    for part in parts:
        encoded = part.encode()
        # The length goes first, so that no two lists of parts run together alike.
        hasher.update(len(encoded).to_bytes(8, "little") + encoded)
    return Identity(
        key=hasher.hexdigest(),
        name=entry.name,
        file_digest=file_digest,
        dimensions=dimensions,
        pooling=entry.pooling,
        query_prefix=entry.query_prefix,
        passage_prefix=entry.passage_prefix,
    )


class FileDigests:
    """BLAKE3 of model files, remembered by size, change time and inode."""

    def __init__(self, memory: Path) -> None:
        """Remember in the file *memory*; one that cannot be read counts as empty."""
        self._memory = memory

    def digest(self, path: Path, progress: Callable[[float], None]) -> str:
        """Return the hash of *path*; *progress* is told a share from 0 to 1.

        Raises:
            ModelFileError: it cannot be read.
        """
        try:
            real = path.resolve(strict=True)
            found = real.stat()
            stamp = [found.st_size, found.st_mtime_ns, found.st_ino]
            known = self._read()
            kept = known.get(str(real))
            if isinstance(kept, list) and kept[:-1] == stamp and isinstance(kept[-1], str):
                return kept[-1]
            digest = _hash(real, found.st_size, progress)
        except OSError as error:
            raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error
        known.pop(str(real), None)
        known[str(real)] = [*stamp, digest]
        self._write(known)
        return digest

    def _read(self) -> dict[str, object]:
        try:
            content = json.loads(self._memory.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _write(self, known: dict[str, object]) -> None:
        newest = dict(list(known.items())[-REMEMBERED_MAX:])
        try:
            replace_text(self._memory, json.dumps(newest, indent=1))
        except OSError:
            # A memory that cannot be kept costs a second at the next start, nothing else.
            return


def _hash(path: Path, size: int, progress: Callable[[float], None]) -> str:
    hasher = blake3(max_threads=blake3.AUTO)
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            hasher.update(chunk)
            done += len(chunk)
            progress(min(done / max(size, 1), 1.0))
    return hasher.hexdigest()
