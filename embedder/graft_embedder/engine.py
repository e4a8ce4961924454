"""What the rest of the embedder needs of a model; llama.cpp's is `graft_embedder.llama`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Tokens = list[int]


class Engine(Protocol):
    """A model in memory. `tokenize` may be called from any thread, `encode` from one at a time."""

    dimensions: int
    sequence_tokens: int
    batch_tokens: int

    def tokenize(self, text: str, *, marks: bool) -> Tokens:
        """Return the tokens of *text*, with the model's start and end marks if asked."""

    def encode(self, sequences: Sequence[Tokens]) -> Vectors:
        """Return one unit vector for each of *sequences*, all computed in one decode."""
