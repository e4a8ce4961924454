"""An engine without a model: a token for every word, a vector made of the tokens.

It passes the same contract suite as llama.cpp's. `gate` lets a test hold it inside `encode`.
"""

import threading
from collections.abc import Sequence

import numpy as np

from graft_embedder.engine import Tokens, Vectors
from graft_embedder.errors import EngineError

BOS, EOS = 0, 2
HELD_SECONDS_MAX = 30.0


class FakeEngine:
    """Words are tokens; longer words take one token for every four letters."""

    def __init__(self, *, sequence_tokens: int = 512, batch_tokens: int = 512) -> None:
        self.dimensions = 16
        self.sequence_tokens = sequence_tokens
        self.batch_tokens = batch_tokens
        self.encoded: list[list[Tokens]] = []
        self.entered = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.fail_with: Exception | None = None

    def tokenize(self, text: str, *, marks: bool) -> Tokens:
        """Return a token for every four letters of every word."""
        tokens = [
            10 + hash_of(word[at : at + 4])
            for word in text.replace("\x00", " ").split()
            for at in range(0, len(word), 4)
            if word[at : at + 4].strip("\u200b")
        ]
        return [BOS, *tokens, EOS] if marks else tokens

    def encode(self, sequences: Sequence[Tokens]) -> Vectors:
        """Return a unit vector for each sequence, the same for the same tokens."""
        if not sequences or not all(sequences):
            raise EngineError("empty")
        if max(map(len, sequences)) > self.sequence_tokens:
            raise EngineError("too long")
        if sum(map(len, sequences)) > self.batch_tokens:
            raise EngineError("too many")
        self.entered.set()
        assert self.gate.wait(HELD_SECONDS_MAX), "a test forgot to open the gate"
        if self.fail_with is not None:
            raise self.fail_with
        self.encoded.append([list(sequence) for sequence in sequences])
        return np.stack([_vector(sequence, self.dimensions) for sequence in sequences])


def hash_of(text: str) -> int:
    """Return a number under 10,000 that is the same in every process."""
    value = 7
    for character in text:
        value = (value * 31 + ord(character)) % 9_973
    return value


def _vector(tokens: Tokens, dimensions: int) -> Vectors:
    vector = np.ones(dimensions, np.float32)
    for token in tokens:
        vector[token % dimensions] += 1
    unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit
