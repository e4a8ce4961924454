"""The real embedder, with its answers kept from run to run."""

import base64
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from typing_extensions import override

from bench.homes import MODELS, temporary_home
from graft.wire.build import build_id
from graft.wire.paths import Home
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_place import Launch
from graft_memstore.embedders import Embedders, extra_obstacle
from graft_memstore.embedding import (
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    QueryVector,
    TextVectors,
    WantedModel,
    WindowVector,
)

SECONDS = 600.0
SAVED_AFTER = 200
"""New texts after which the file is written."""


class KeptVectors(Embedder):
    """Embeds by another embedder and remembers every text's vectors in a file."""

    def __init__(self, embedder: Embedder, wanted: WantedModel) -> None:
        self._embedder = embedder
        self._facts = embedder.facts(wanted, Deadline(SECONDS))
        self._file = MODELS.parent / f"gate-vectors-{self._facts.identity[:16]}.json"
        # Windows as first character, one past the last, and base64 of their float32 values; then
        # the first character that no window holds.
        self._kept: dict[str, tuple[list[tuple[int, int, str]], int]] = {}
        if self._file.exists():
            self._kept = json.loads(self._file.read_bytes())
        self._fresh = 0

    @override
    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        key = _key_of("query", tokens_max, text)
        if key not in self._kept:
            vector = self._embedder.embed_query(wanted, text, tokens_max, deadline)
            self._keep(key, [WindowVector(start_char=0, end_char=0, values=vector.values)], 0)
        ((_, _, values),) = self._kept[key][0]
        return QueryVector(model=self._facts, values=base64.b64decode(values))

    @override
    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        keys = [_key_of("passage", windows_max, text) for text in texts]
        for key, text in zip(keys, texts, strict=True):
            if key not in self._kept:
                made = self._embedder.embed_passages(wanted, [text], windows_max, deadline).texts[0]
                self._keep(key, made.windows, made.uncovered_from_char)
        return EmbeddedTexts(
            model=self._facts,
            texts=tuple(self._text(key, text) for key, text in zip(keys, texts, strict=True)),
        )

    @override
    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        return self._facts

    @override
    def default_model(self) -> str:
        return self._facts.name

    def save(self) -> None:
        """Write what is new to the file."""
        if self._fresh:
            self._file.write_text(json.dumps(self._kept), "utf-8")
            self._fresh = 0

    def _text(self, key: str, text: str) -> TextVectors:
        windows, uncovered = self._kept[key]
        return TextVectors(
            windows=tuple(
                WindowVector(start_char=start, end_char=end, values=base64.b64decode(values))
                for start, end, values in windows
            ),
            truncated=uncovered < len(text),
            uncovered_from_char=uncovered,
        )

    def _keep(self, key: str, windows: Sequence[WindowVector], uncovered: int) -> None:
        self._kept[key] = (
            [
                (each.start_char, each.end_char, base64.b64encode(each.values).decode())
                for each in windows
            ],
            uncovered,
        )
        self._fresh += 1
        if self._fresh >= SAVED_AFTER:
            self.save()


def _key_of(purpose: str, most: int, text: str) -> str:
    return hashlib.sha256(json.dumps([purpose, most, text]).encode()).hexdigest()


@contextmanager
def kept_vectors(model: str = "starter") -> Iterator[KeptVectors]:
    """Run an embedder of *model* for the length of the block."""
    with temporary_home() as folder:
        launch = Launch(
            home=Home(root=folder),
            command=(
                *(sys.executable, "-m", "graft_embedder", "serve"),
                *("--home", str(folder)),
            ),
            environ=os.environ,
            build=build_id(),
            obstacle=extra_obstacle,
            default=lambda: model,
        )
        embedders = Embedders(launch)
        try:
            kept = KeptVectors(embedders, WantedModel(name=model))
            try:
                yield kept
            finally:
                kept.save()
        finally:
            embedders.stop()
