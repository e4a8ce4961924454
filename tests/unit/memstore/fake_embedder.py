"""Stands in for the embedder: words are tokens, and a vector is the sum of its words' hashes."""

import re
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np
from typing_extensions import override

from graft.wire.errors import ModelNotReadyError
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import (
    OVERLAP_TOKENS,
    WINDOW_TOKENS,
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    QueryVector,
    TextRefusedError,
    TextVectors,
    WantedModel,
    WindowVector,
)

DIMENSIONS = 32
WORD = re.compile(r"\S+\s*")


class FakeEmbedder(Embedder):
    """Embeds at once, unless told that a model is away.

    Attributes:
        away: why a model, by name, cannot be had.
        refused: texts that no vector can be made of.
        files: identity of each model's file, by name.
        embedded: every text that was embedded, with its model.
        asked: every question that was embedded.
        before: called before each call is answered, with the model's name.
        waits: called before each question is embedded, with its deadline.
    """

    def __init__(self) -> None:
        self.away: dict[str, str] = {}
        self.refused: set[str] = set()
        self.files: dict[str, str] = {}
        self.default = "fake"
        self.before: Callable[[str], None] = lambda _: None
        self.waits: Callable[[Deadline], None] = lambda _: None
        self._lock = threading.Lock()
        self.embedded: list[tuple[str, str]] = []
        self.asked: list[str] = []

    @override
    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        model = self.facts(wanted, deadline)
        if text in self.refused:
            raise TextRefusedError("texts: cannot be embedded")
        self.waits(deadline)
        with self._lock:
            self.asked.append(text)
        return QueryVector(model=model, values=vector_of(text, model.identity))

    @override
    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        model = self.facts(wanted, deadline)
        for text in texts:
            if text in self.refused or not text.strip():
                raise TextRefusedError("texts: cannot be embedded")
        with self._lock:
            self.embedded += [(model.name, text) for text in texts]
        return EmbeddedTexts(
            model=model,
            texts=tuple(_windows(text, windows_max, model.identity) for text in texts),
        )

    @override
    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        self.before(wanted.name)
        if wanted.name in self.away:
            raise ModelNotReadyError(self.away[wanted.name], metadata={"state": "failed"})
        identity = self.files.get(wanted.name, f"file of {wanted.name}")
        if wanted.identity not in (None, identity):
            raise ModelNotReadyError(
                f"the file of {wanted.name} has changed", metadata={"state": "other-model"}
            )
        return ModelFacts(identity=identity, name=wanted.name, dimensions=DIMENSIONS)

    @override
    def default_model(self) -> str:
        return self.default


def vector_of(text: str, identity: str) -> bytes:
    """Return a unit vector that texts with the same words share."""
    total = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
    for word in text.lower().split() or [text]:
        seed = blake2b(f"{identity} {word}".encode(), digest_size=DIMENSIONS).digest()
        total += np.frombuffer(seed, dtype=np.uint8).astype(np.float32) - 127.5
    return (total / np.linalg.norm(total)).astype("<f4").tobytes()


def _windows(text: str, windows_max: int, identity: str) -> TextVectors:
    words = [(found.start(), found.end()) for found in WORD.finditer(text)]
    windows: list[WindowVector] = []
    first = last = 0
    while last < len(words) and len(windows) < windows_max:
        last = min(first + WINDOW_TOKENS, len(words))
        start, end = (words[first][0] if windows else 0), words[last - 1][1]
        windows.append(
            WindowVector(
                start_char=start, end_char=end, values=vector_of(text[start:end], identity)
            )
        )
        first = last - OVERLAP_TOKENS
    return TextVectors(
        windows=tuple(windows),
        truncated=last < len(words),
        uncovered_from_char=windows[-1].end_char,
    )
