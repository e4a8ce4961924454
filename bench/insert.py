"""One insert into a large store against one scan of its vectors for the note and each keyword."""

import os
import time
import uuid
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from bench.corpus import notes
from bench.fill import Filled
from bench.rows import Row, median_ms
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import (
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    QueryVector,
    TextVectors,
    WantedModel,
    WindowVector,
)
from graft_memstore.ids import IdMaker
from graft_memstore.model import Caller, NewNote
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.write.insert import Inserter, InsertOrder
from graft_memstore.write.receipts import RequestKey

KEYWORDS = ("migration", "timeout", "postgres", "release")
INSERTS = 60
SECONDS = 60.0


class Prepared(Embedder):
    """Has the vectors of a few questions ready, so that no model's time is measured."""

    def __init__(self, facts: ModelFacts, vectors: NDArray[np.float32]) -> None:
        self._facts = facts
        self._vectors: Iterator[NDArray[np.float32]] = iter(vectors)

    @override
    def embed_query(
        self, wanted: WantedModel, text: str, tokens_max: int, deadline: Deadline
    ) -> QueryVector:
        return QueryVector(model=self._facts, values=next(self._vectors).tobytes())

    @override
    def embed_passages(
        self, wanted: WantedModel, texts: Sequence[str], windows_max: int, deadline: Deadline
    ) -> EmbeddedTexts:
        return EmbeddedTexts(model=self._facts, texts=tuple(self._embedded(each) for each in texts))

    @override
    def facts(self, wanted: WantedModel, deadline: Deadline) -> ModelFacts:
        return self._facts

    @override
    def default_model(self) -> str:
        return self._facts.name

    def _embedded(self, text: str) -> TextVectors:
        values = next(self._vectors).tobytes()
        window = WindowVector(start_char=0, end_char=len(text), values=values)
        return TextVectors(windows=(window,), truncated=False, uncovered_from_char=len(text))


def measure(filled: Filled, facts: ModelFacts, scan_ms: float, size: int) -> Row:
    """Return the row for a store of *size* vectors that takes *scan_ms* to scan."""
    inserter = Inserter(
        Prepared(facts, filled.questions),
        SimilarNotes(lambda: time.time_ns() // 1_000_000),
        IdMaker(os.urandom),
    )
    fresh = iter(notes(INSERTS, seed=31))

    def insert() -> None:
        order = InsertOrder(
            notes=[NewNote(title=next(fresh).title, keywords=KEYWORDS, scope="user")],
            key=RequestKey(
                request_id=str(uuid.UUID(bytes=os.urandom(16))), method="", payload_hash=b""
            ),
            caller=Caller(),
            single=True,
        )
        inserter.insert(filled.profile, order, Deadline(SECONDS))

    value = median_ms(insert, INSERTS)
    scans = (1 + len(KEYWORDS)) * scan_ms
    return Row(
        part="search",
        what=f"one insert with {len(KEYWORDS)} keywords at {size:,} notes, embedding excluded",
        value=value,
        unit="ms",
        target="≤ 1/10 of the rival",
        reached=value <= scans / 10,
        rival="a row scan for the note and each keyword",
        rival_value=scans,
    )
