"""Stores of any size: seeded synthetic vectors, written through the store layer."""

import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.corpus import SyntheticNote, notes
from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.ids import IdMaker
from graft_memstore.model import Caller, NewNote
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles, StoreOptions
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.prepare import TitleVector, prepare
from graft_memstore.write.store_note import Storing, store_note

NOTES_PER_TRANSACTION = 1_000
TOPIC_NOTES = 20
QUESTIONS = 60
SCOPES = ("user", "project:here", "project:elsewhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A profile, its index in memory, its vectors row by row, and questions to them."""

    profile: Profile[VectorIndex]
    index: VectorIndex
    vectors: NDArray[np.float32]
    questions: NDArray[np.float32]


def open_profiles(home: Path) -> Profiles[VectorIndex]:
    """Open the profiles of *home* in this process, without any service."""
    return Profiles(
        StoreOptions(
            profiles=home / "profiles",
            audit=home / "audit",
            make_index=VectorIndex,
            now_ms=lambda: time.time_ns() // 1_000_000,
            random=os.urandom,
            opened=lambda _profile: None,
            closing=lambda _profile: None,
        )
    )


def fill(
    profile: Profile[VectorIndex], size: int, facts: ModelFacts, *, bodies: bool = True
) -> Filled:
    """Store *size* notes with synthetic title vectors of the model *facts*.

    Without *bodies* nothing is left for the pending worker.
    """
    vectors, questions = _vectors(size, facts.dimensions)
    storing = Storing(new_id=IdMaker(os.urandom))
    texts = notes(size)
    for start in range(0, size, NOTES_PER_TRANSACTION):
        stop = min(start + NOTES_PER_TRANSACTION, size)
        batch = list(zip(itertools.count(start), texts[start:stop], vectors[start:stop]))

        def store(transaction: Transaction) -> None:
            for number, text, vector in batch:
                store_note(
                    transaction,
                    prepare(_new_note(number, text, bodies=bodies)),
                    caller=Caller(),
                    storing=storing,
                    vector=_title_vector(text.title, vector, facts),
                )

        profile.write(store, 600.0)
    index = profile.index
    assert index is not None
    return Filled(profile=profile, index=index, vectors=vectors, questions=questions)


def _new_note(number: int, text: SyntheticNote, *, bodies: bool) -> NewNote:
    body = text.body if bodies else ""
    return NewNote(title=text.title, body=body, scope=SCOPES[number % len(SCOPES)])


def _title_vector(title: str, vector: NDArray[np.float32], facts: ModelFacts) -> TitleVector:
    window = WindowVector(start_char=0, end_char=len(title), values=vector.tobytes())
    return TitleVector(model=facts, window=window, similar=())


def _vectors(size: int, dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return seeded unit vectors about topics, and questions near some of them."""
    draw = np.random.default_rng(11)
    common = draw.standard_normal(dimensions, dtype=np.float32)
    topics = draw.standard_normal((-(-size // TOPIC_NOTES), dimensions), dtype=np.float32)
    vectors = np.repeat(topics, TOPIC_NOTES, axis=0)[:size] + common
    for start in range(0, size, NOTES_PER_TRANSACTION):
        block = vectors[start : start + NOTES_PER_TRANSACTION]
        block += draw.standard_normal(block.shape, dtype=np.float32)
    near = vectors[draw.integers(0, size, QUESTIONS)]
    questions = near + draw.standard_normal((QUESTIONS, dimensions), dtype=np.float32)
    return _unit(vectors), _unit(questions)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)
