"""Read the facts of a GGUF file and write one, byte for byte the same wherever it runs.

The writer is our own because a model's identity is the hash of its file: a file written by a
library would change identity with that library's version.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graft_embedder.errors import ModelFileError

MAGIC = b"GGUF"
VERSION = 3
VERSIONS_READ = (2, 3)
ALIGNMENT = 32

# Limits on what a header may claim, so that a damaged file cannot exhaust memory.
ENTRIES_MAX = 65_536
STRING_BYTES_MAX = 16 * 1024 * 1024
ARRAY_ELEMENTS_MAX = 64 * 1024 * 1024

UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
UINT8, INT32 = 0, 5
FORMATS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip

TENSOR_F32 = 0
TENSOR_Q4_0 = 2

Scalar = int | float | bool | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One metadata value, already in the file's encoding after its key."""

    key: str
    encoded: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor: its name, its shape with the fastest dimension first, its type, its bytes."""

    name: str
    shape: tuple[int, ...]
    kind: int
    data: memoryview


def read_facts(path: Path) -> dict[str, Scalar]:
    """Return every scalar of the header of *path*; arrays are skipped.

    Raises:
        ModelFileError: it is not a whole GGUF header.
    """
    try:
        with path.open("rb") as file:
            return _read_header(file, path)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error


def _read_header(file: BinaryIO, path: Path) -> dict[str, Scalar]:
    damaged = ModelFileError(f"{path} is not a whole GGUF file; get it again")
    try:
        magic, version = struct.unpack("<4sI", _take(file, 8))
        if magic != MAGIC or version not in VERSIONS_READ:
            raise ModelFileError(
                f"{path} is not a GGUF file of version {VERSIONS_READ[0]} or {VERSIONS_READ[-1]};"
                " give the path of a llama.cpp embedding model"
            )
        _, entries = struct.unpack("<QQ", _take(file, 16))
        if entries > ENTRIES_MAX:
            raise damaged
        facts: dict[str, Scalar] = {}
        for _ in range(entries):
            key = _read_string(file)
            (kind,) = struct.unpack("<I", _take(file, 4))
            if kind == ARRAY:
                _skip_array(file)
            else:
                facts[key] = _read_scalar(file, kind)
    except (EOFError, KeyError, UnicodeDecodeError) as error:
        raise damaged from error
    return facts


def _take(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise EOFError
    return data


def _read_string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", _take(file, 8))
    if length > STRING_BYTES_MAX:
        raise EOFError
    return _take(file, length).decode()


def _read_scalar(file: BinaryIO, kind: int) -> Scalar:
    if kind == STRING:
        return _read_string(file)
    layout = FORMATS[kind]
    value: Scalar = struct.unpack(layout, _take(file, struct.calcsize(layout)))[0]
    return value


def _skip_array(file: BinaryIO) -> None:
    kind, count = struct.unpack("<IQ", _take(file, 12))
    if count > ARRAY_ELEMENTS_MAX:
        raise EOFError
    if kind == STRING:
        for _ in range(count):
            (length,) = struct.unpack("<Q", _take(file, 8))
            if length > STRING_BYTES_MAX:
                raise EOFError
            file.seek(length, 1)
    else:
        file.seek(struct.calcsize(FORMATS[kind]) * count, 1)


def text(key: str, value: str) -> Entry:
    """Return a metadata entry that holds a string."""
    return Entry(key=key, encoded=struct.pack("<I", STRING) + _string(value.encode()))


def integer(key: str, value: int) -> Entry:
    """Return a metadata entry that holds an unsigned 32-bit number."""
    return Entry(key=key, encoded=struct.pack("<II", UINT32, value))


def number(key: str, value: float) -> Entry:
    """Return a metadata entry that holds a 32-bit float."""
    return Entry(key=key, encoded=struct.pack("<If", FLOAT32, value))


def flag(key: str, *, value: bool) -> Entry:
    """Return a metadata entry that holds a truth value."""
    return Entry(key=key, encoded=struct.pack("<I?", BOOL, value))


def numbers(key: str, kind: int, data: bytes) -> Entry:
    """Return a metadata entry that holds an array of *kind* whose elements are *data*."""
    count = len(data) // struct.calcsize(FORMATS[kind])
    return Entry(key=key, encoded=struct.pack("<IIQ", ARRAY, kind, count) + data)


def texts(key: str, values: Sequence[bytes]) -> Entry:
    """Return a metadata entry that holds an array of strings, given as UTF-8."""
    head = struct.pack("<IIQ", ARRAY, STRING, len(values))
    return Entry(key=key, encoded=head + b"".join(map(_string, values)))


def write(
    file: BinaryIO,
    entries: Sequence[Entry],
    tensors: Sequence[Tensor],
    progress: Callable[[int, int], None],
) -> None:
    """Write a whole GGUF file; *progress* is told bytes written and bytes in all."""
    header = b"".join(_header(entries, tensors))
    header += bytes(-len(header) % ALIGNMENT)
    total = len(header) + sum(_padded(len(tensor.data)) for tensor in tensors)
    written = file.write(header)
    progress(written, total)
    for tensor in tensors:
        written += file.write(tensor.data)
        written += file.write(bytes(-len(tensor.data) % ALIGNMENT))
        progress(written, total)


def _header(entries: Sequence[Entry], tensors: Sequence[Tensor]) -> Iterable[bytes]:
    yield struct.pack("<4sIQQ", MAGIC, VERSION, len(tensors), len(entries))
    for entry in entries:
        yield _string(entry.key.encode()) + entry.encoded
    offset = 0
    for tensor in tensors:
        yield _string(tensor.name.encode()) + struct.pack("<I", len(tensor.shape))
        yield struct.pack(f"<{len(tensor.shape)}Q", *tensor.shape)
        yield struct.pack("<IQ", tensor.kind, offset)
        offset += _padded(len(tensor.data))


def _padded(size: int) -> int:
    return size + -size % ALIGNMENT


def _string(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value
