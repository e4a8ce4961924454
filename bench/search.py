"""The vector arm and a whole query against a row-by-row scan of the same vectors.

Stores are filled with seeded synthetic vectors through the store layer. Those are unit vectors
about common topics that all lean one way, as a model's do; the rival computes every cosine in C,
row by row, and sorts.
"""

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from bench.bare_llama import resident_bytes
from bench.corpus import SyntheticNote, notes
from bench.rows import Row
from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.ids import IdMaker
from graft_memstore.model import Background, Caller, NewNote, ScopeFilter
from graft_memstore.recall.answer import Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.vector_arm import VectorSearch, find_near
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles, StoreOptions
from graft_memstore.store.search import Eligible
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.prepare import TitleVector, prepare
from graft_memstore.write.store_note import store_note

SIZES = (10_000, 100_000)
DIMENSIONS = 1_024
NOTES_PER_TRANSACTION = 1_000
TOPIC_NOTES = 20
QUESTIONS = 60
SCANS = 5
NEAREST = 10
SCOPES = ("user", "project:here", "project:elsewhere")
SEARCHED = ScopeFilter(all=True)
FACTS = ModelFacts(identity="synthetic", name="synthetic", dimensions=DIMENSIONS)
PRIOR = Background(mean=0.4, deviation=0.08, count=64.0)

# What a search costs without an index: every vector is read and compared.
ROW_SCAN = """
SELECT chunk_id FROM chunks WHERE model_id = :model_id
ORDER BY vec_distance_cosine(vector, :vector) LIMIT :count_max
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A profile, its index in memory, its vectors row by row, and questions to them."""

    profile: Profile[VectorIndex]
    index: VectorIndex
    vectors: NDArray[np.float32]
    questions: NDArray[np.float32]


def measure() -> Iterator[Row]:
    """Yield the rows of this part."""
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
            profiles = _open(Path(folder))
            filled = _fill(profiles.open("default"), size)
            yield from _vector_arm(filled, size)
            yield _whole_query(filled, size)
            profiles.close()


def _vector_arm(filled: Filled, size: int) -> Iterator[Row]:
    cold = VectorIndex(filled.index.model_id, DIMENSIONS)
    before = resident_bytes(os.getpid())
    started = time.perf_counter()
    with filled.profile.snapshot() as connection:
        filled.index.load(connection)
        loading = time.perf_counter() - started
        grown = resident_bytes(os.getpid()) - before
        ours, found = _times(connection, filled, filled.index)
        bits, _ = _times(connection, filled, cold)
        scan = _scan_ms(connection, filled)
    read = _read_ms(filled.index)
    yield Row(
        part="search",
        what=f"vector arm at {size:,} vectors of {DIMENSIONS:,}",
        value=ours,
        unit="ms",
        target="≤ 1/20 of the rival",
        reached=ours <= scan / 20,
        rival="row-by-row cosine scan",
        rival_value=scan,
    )
    yield Row(
        part="search",
        what=f"vector arm at {size:,} vectors against reading the matrix once",
        value=ours,
        unit="ms",
        target="≤ 2 times the rival",
        reached=ours <= 2 * read,
        rival="reading the int8 matrix",
        rival_value=read,
    )
    recall = _recall(filled, found)
    yield Row(
        part="search",
        what=f"recall@{NEAREST} at {size:,} vectors against exact scores",
        value=recall,
        unit="share",
        target="≥ 0.999",
        reached=recall >= 0.999,
    )
    yield Row(
        part="search",
        what=f"vector arm at {size:,} vectors before the index is loaded",
        value=bits,
        unit="ms",
        rival="row-by-row cosine scan",
        rival_value=scan,
    )
    yield Row(part="search", what=f"loading {size:,} vectors", value=loading, unit="s")
    yield Row(
        part="search",
        what=f"memory for each of {size:,} vectors",
        value=grown / size,
        unit="bytes",
        target="≤ 1,300 bytes" if size == SIZES[-1] else "",
        reached=grown / size <= 1_300 if size == SIZES[-1] else None,
    )


def _whole_query(filled: Filled, size: int) -> Row:
    texts = [note.title for note in notes(QUESTIONS, seed=99)]
    spent = []
    with filled.profile.snapshot() as connection:
        now_ms = filled.profile.now_ms(connection)
        for text, vector in zip(texts, filled.questions, strict=True):
            question = Question(
                text=text, vector=vector, prior=PRIOR, scope=SEARCHED, now_ms=now_ms
            )
            started = time.perf_counter()
            answer_query(connection, filled.index, question)
            spent.append((time.perf_counter() - started) * 1_000)
    median = statistics.median(spent)
    return Row(
        part="search",
        what=f"whole query at {size:,} notes, embedding excluded",
        value=median,
        unit="ms",
        target="≤ 10 ms" if size == SIZES[0] else "",
        reached=median <= 10 if size == SIZES[0] else None,
    )


def _times(
    connection: apsw.Connection, filled: Filled, index: VectorIndex
) -> tuple[float, list[list[int]]]:
    """Return the median time of a search in milliseconds, and what each found."""
    eligible = Eligible(scope=SEARCHED, now_ms=filled.profile.now_ms(connection))
    spent, found = [], []
    for vector in filled.questions:
        search = VectorSearch(
            connection=connection, index=index, vector=vector, eligible=eligible, wanted=NEAREST
        )
        started = time.perf_counter()
        near = find_near(search)
        spent.append((time.perf_counter() - started) * 1_000)
        found.append(list(near.cosines)[:NEAREST])
    return statistics.median(spent), found


def _scan_ms(connection: apsw.Connection, filled: Filled) -> float:
    spent = []
    for vector in filled.questions[:SCANS]:
        wanted = {
            "model_id": int(filled.index.model_id),
            "vector": vector.tobytes(),
            "count_max": NEAREST,
        }
        started = time.perf_counter()
        connection.execute(ROW_SCAN, wanted).fetchall()
        spent.append((time.perf_counter() - started) * 1_000)
    return statistics.median(spent)


def _read_ms(index: VectorIndex) -> float:
    """Return the median time of touching every byte of the index once."""
    view = index.view
    assert view is not None
    blocks = [segment.rows.view(np.int64) for segment in view.segments]
    spent = []
    for _ in range(QUESTIONS):
        started = time.perf_counter()
        for block in blocks:
            np.bitwise_xor.reduce(block, axis=None)
        spent.append((time.perf_counter() - started) * 1_000)
    return statistics.median(spent)


def _recall(filled: Filled, found: list[list[int]]) -> float:
    hits = 0
    for vector, seqs in zip(filled.questions, found, strict=True):
        scores = filled.vectors @ vector
        exact = np.argpartition(-scores, NEAREST)[:NEAREST] + 1
        hits += len(set(exact.tolist()) & set(seqs))
    return hits / (len(found) * NEAREST)


def _open(folder: Path) -> Profiles[VectorIndex]:
    return Profiles(
        StoreOptions(
            profiles=folder / "profiles",
            audit=folder / "audit",
            make_index=VectorIndex,
            now_ms=lambda: time.time_ns() // 1_000_000,
            random=os.urandom,
            opened=lambda _profile: None,
        )
    )


def _fill(profile: Profile[VectorIndex], size: int) -> Filled:
    vectors, questions = _vectors(size)
    new_id = IdMaker(os.urandom)
    texts = notes(size)
    for start in range(0, size, NOTES_PER_TRANSACTION):
        stop = min(start + NOTES_PER_TRANSACTION, size)
        batch = list(zip(itertools.count(start), texts[start:stop], vectors[start:stop]))

        def store(transaction: Transaction) -> None:
            for number, text, vector in batch:
                store_note(
                    transaction,
                    prepare(_new_note(number, text)),
                    caller=Caller(),
                    new_id=new_id,
                    vector=_title_vector(text.title, vector),
                )

        profile.write(store, 600.0)
    index = profile.index
    assert index is not None
    return Filled(profile=profile, index=index, vectors=vectors, questions=questions)


def _new_note(number: int, text: SyntheticNote) -> NewNote:
    return NewNote(title=text.title, body=text.body, scope=SCOPES[number % len(SCOPES)])


def _title_vector(title: str, vector: NDArray[np.float32]) -> TitleVector:
    window = WindowVector(start_char=0, end_char=len(title), values=vector.tobytes())
    return TitleVector(model=FACTS, window=window, similar=())


def _vectors(size: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return seeded unit vectors about topics, and questions near some of them."""
    draw = np.random.default_rng(11)
    common = draw.standard_normal(DIMENSIONS, dtype=np.float32)
    topics = draw.standard_normal((-(-size // TOPIC_NOTES), DIMENSIONS), dtype=np.float32)
    vectors = np.repeat(topics, TOPIC_NOTES, axis=0)[:size] + common
    for start in range(0, size, NOTES_PER_TRANSACTION):
        block = vectors[start : start + NOTES_PER_TRANSACTION]
        block += draw.standard_normal(block.shape, dtype=np.float32)
    near = vectors[draw.integers(0, size, QUESTIONS)]
    questions = near + draw.standard_normal((QUESTIONS, DIMENSIONS), dtype=np.float32)
    return _unit(vectors), _unit(questions)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)
