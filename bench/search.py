"""The vector arm and a whole query against a row-by-row scan of the same vectors.

Stores are filled with seeded synthetic vectors through the store layer. Those are unit vectors
about common topics that all lean one way, as a model's do; the rival computes every cosine in C,
row by row, and sorts.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np

from bench import insert
from bench.bare_llama import resident_bytes
from bench.corpus import notes
from bench.fill import QUESTIONS, Filled, fill, open_profiles
from bench.rows import Row, median_ms
from graft_memstore.embedding import ModelFacts
from graft_memstore.model import Background, ScopeFilter
from graft_memstore.recall.answer import Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.vector_arm import VectorSearch, find_near
from graft_memstore.signature import understand
from graft_memstore.store.search import Eligible

SIZES = (10_000, 100_000)
DIMENSIONS = 1_024
SCANS = 5
NEAREST = 10
SEARCHED = ScopeFilter(all=True)
FACTS = ModelFacts(identity="synthetic", name="synthetic", dimensions=DIMENSIONS)
PRIOR = Background(mean=0.4, deviation=0.08, count=64.0)

# What a search costs without an index: every vector is read and compared.
ROW_SCAN = """
SELECT chunk_id FROM chunks WHERE model_id = :model_id
ORDER BY vec_distance_cosine(vector, :vector) LIMIT :count_max
"""


def measure() -> Iterator[Row]:
    """Yield the rows of this part."""
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
            profiles = open_profiles(Path(folder))
            filled = fill(profiles.open("default"), size, FACTS)
            scan = _scan_ms(filled)
            yield from _vector_arm(filled, size, scan)
            yield _whole_query(filled, size)
            yield insert.measure(filled, FACTS, scan, size)
            profiles.close()


def _vector_arm(filled: Filled, size: int, scan: float) -> Iterator[Row]:
    cold = VectorIndex(filled.index.model_id, DIMENSIONS)
    before = resident_bytes(os.getpid())
    started = time.perf_counter()
    with filled.profile.snapshot() as connection:
        filled.index.load(connection)
        loading = time.perf_counter() - started
        grown = resident_bytes(os.getpid()) - before
        ours, found = _times(connection, filled, filled.index)
        bits, _ = _times(connection, filled, cold)
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
        # Fewer vectors fit into the processor's cache, whose speed is not the memory's.
        target="≤ 2 times the rival" if size == SIZES[-1] else "",
        reached=ours <= 2 * read if size == SIZES[-1] else None,
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
    median = statistics.median(query_times_ms(filled))
    return Row(
        part="search",
        what=f"whole query at {size:,} notes, embedding excluded",
        value=median,
        unit="ms",
        target="≤ 10 ms" if size == SIZES[0] else "",
        reached=median <= 10 if size == SIZES[0] else None,
    )


def query_times_ms(filled: Filled) -> list[float]:
    """Return what each of the questions takes, in milliseconds."""
    texts = [note.title for note in notes(QUESTIONS, seed=99)]
    spent = []
    with filled.profile.snapshot() as connection:
        now_ms = filled.profile.now_ms(connection)
        for text, vector in zip(texts, filled.questions, strict=True):
            started = time.perf_counter()
            question = Question(
                said=understand(text), vector=vector, prior=PRIOR, scope=SEARCHED, now_ms=now_ms
            )
            answer_query(connection, filled.index, question)
            spent.append((time.perf_counter() - started) * 1_000)
    return spent


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


def _scan_ms(filled: Filled) -> float:
    vectors = iter(filled.questions)
    with filled.profile.snapshot() as connection:

        def scan() -> None:
            wanted = {
                "model_id": int(filled.index.model_id),
                "vector": next(vectors).tobytes(),
                "count_max": NEAREST,
            }
            connection.execute(ROW_SCAN, wanted).fetchall()

        return median_ms(scan, SCANS)


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
