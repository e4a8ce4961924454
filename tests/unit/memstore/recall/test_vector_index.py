"""The warm index and the bits against exact scores in numpy."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.memstore.recall.store_builder import (
    MODEL,
    NOW_MS,
    NoteStore,
    open_store,
    unit,
)

from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.recall.index import (
    DEAD_ROWS_MAX,
    REFRESHES_PER_COUNT,
    SEGMENT_ROWS,
    VectorIndex,
)
from graft_memstore.recall.int8 import coarse_error, fastest_dots, numpy_dots, quantise
from graft_memstore.recall.vector_arm import NEWER_ROWS_MAX, VectorSearch, find_near
from graft_memstore.store.search import Eligible
from graft_memstore.store.vectors import CENTRE_ROWS

SMALL = 32
TINY = 8
SCOPES = ("user", "project:a", "project:b")
KEYWORDS = ("rare", "common")


class Model:
    """Ten lines that obviously find the nearest notes."""

    def __init__(self) -> None:
        self.notes: dict[int, tuple[str, tuple[str, ...], NDArray[np.float32]]] = {}

    def nearest(
        self, vector: NDArray[np.float32], scopes: tuple[str, ...], keyword: str, count: int
    ) -> list[int]:
        allowed = {
            seq: float((vectors @ vector).max())
            for seq, (scope, keywords, vectors) in self.notes.items()
            if (not scopes or scope in scopes) and (not keyword or keyword in keywords)
        }
        return sorted(allowed, key=lambda seq: (-allowed[seq], -seq))[:count]


class Filled:
    """A store and its model, filled alike."""

    def __init__(self, store: NoteStore, dimensions: int) -> None:
        self.store = store
        self.model = Model()
        self.random = np.random.default_rng(7)
        # Vectors of one model point all roughly one way, as those of real models do.
        self.common = self.random.standard_normal(dimensions) * 1.2

    def add(self, parts: int = 2) -> NoteId:
        topic = self.random.standard_normal(len(self.common)) * 0.8
        rows = [
            unit(self.common + topic + self.random.standard_normal(len(topic)))
            for _ in range(parts)
        ]
        seq = 1 + max(self.model.notes, default=0)
        scope = SCOPES[seq % len(SCOPES)]
        keywords = KEYWORDS[1:] if seq % 7 else KEYWORDS
        note_id = self.store.add("t", scope=scope, keywords=keywords, vectors=rows)
        ((seq,),) = self.store.connection.execute("SELECT max(seq) FROM notes")
        assert isinstance(seq, int)
        self.model.notes[seq] = (scope, keywords, np.array(rows))
        return note_id

    def delete(self, seq: int) -> None:
        wanted = {"seq": seq}
        ((note_id,),) = self.store.connection.execute(
            "SELECT id FROM notes WHERE seq = :seq", wanted
        )
        self.store.delete(NoteId(str(note_id)))
        del self.model.notes[seq]

    def question(self) -> NDArray[np.float32]:
        return unit(self.common + self.random.standard_normal(len(self.common)))


def near(
    filled: Filled,
    index: VectorIndex,
    vector: NDArray[np.float32],
    *,
    scopes: tuple[str, ...] = (),
    keyword: str = "",
    count: int = 10,
) -> list[int]:
    eligible = Eligible(
        scope=ScopeFilter(scopes=scopes, all=not scopes),
        now_ms=NOW_MS,
        keywords=(keyword,) if keyword else (),
        keywords_min=1 if keyword else 0,
    )
    search = VectorSearch(
        connection=filled.store.connection,
        index=index,
        vector=vector,
        eligible=eligible,
        wanted=count,
    )
    return list(find_near(search).cosines)[:count]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Fifteen hundred notes of two vectors: more than are scored exactly."""
    with open_store(tmp_path_factory.mktemp("large") / "graft.db", 128) as store:
        filled = Filled(store, 128)
        for _ in range(1_500):
            filled.add()
        yield filled


@pytest.mark.parametrize(
    ("scopes", "keyword"),
    [((), ""), (("user",), ""), (("user", "project:a"), ""), (SCOPES, ""), ((), "common")],
)
def test_the_index_finds_what_exact_scores_find(
    large: Filled, scopes: tuple[str, ...], keyword: str
) -> None:
    index = VectorIndex(MODEL, 128)
    index.load(large.store.connection)
    questions = [large.question() for _ in range(50)]

    hits = sum(
        len(
            set(near(large, index, question, scopes=scopes, keyword=keyword))
            & set(large.model.nearest(question, scopes, keyword, 10))
        )
        for question in questions
    )

    assert hits / 500 >= 0.999


@pytest.mark.parametrize("keyword", ["", "rare"])
def test_a_narrow_filter_loses_nothing(large: Filled, keyword: str) -> None:
    lone = large.store.add("t", scope="team:x", keywords=["rare"], vectors=[-large.question()])
    ((seq,),) = large.store.connection.execute("SELECT max(seq) FROM notes")
    cold, warm = VectorIndex(MODEL, 128), VectorIndex(MODEL, 128)
    warm.load(large.store.connection)

    # The farthest of all notes is the nearest where it is the only one.
    found = [
        near(large, index, large.question(), scopes=("team:x",), keyword=keyword)
        for index in (cold, warm)
    ]

    assert found == [[seq], [seq]]
    large.store.delete(lone)


def test_bits_find_the_note_that_the_question_is_about(large: Filled) -> None:
    index = VectorIndex(MODEL, 128)
    seqs = list(large.model.notes)[::50]

    found = [near(large, index, large.model.notes[seq][2][0], count=1) for seq in seqs]

    assert found == [[seq] for seq in seqs]


def test_bits_find_the_note_in_a_narrow_scope_with_a_common_keyword(large: Filled) -> None:
    index = VectorIndex(MODEL, 128)
    seqs = [seq for seq, note in large.model.notes.items() if note[0] == "user"][::100]

    found = [
        near(
            large,
            index,
            large.model.notes[seq][2][0],
            scopes=("user",),
            keyword="common",
            count=1,
        )
        for seq in seqs
    ]

    assert found == [[seq] for seq in seqs]


@settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_the_index_agrees_with_the_model_through_any_changes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path: Path = tmp_path_factory.mktemp("changes") / "graft.db"
    with open_store(path, SMALL) as store:
        filled, index = Filled(store, SMALL), VectorIndex(MODEL, SMALL)
        for _ in range(data.draw(st.integers(0, 40), "steps")):
            step = data.draw(st.sampled_from(["add", "add", "delete", "load", "refresh"]))
            if step == "add":
                filled.add(data.draw(st.integers(1, 4)))
            elif step == "delete" and filled.model.notes:
                filled.delete(data.draw(st.sampled_from(sorted(filled.model.notes))))
            elif step == "load":
                index.load(store.connection)
            elif step == "refresh":
                index.refresh(store.connection)
        question = filled.question()
        scopes = data.draw(st.sampled_from([(), ("user",), ("user", "project:b"), ("none",)]))
        keyword = data.draw(st.sampled_from(["", "rare"]))

        found = near(filled, index, question, scopes=scopes, keyword=keyword)

        assert found == filled.model.nearest(question, scopes, keyword, 10)


def test_newer_notes_do_not_make_up_for_deleted_ones(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled, index = Filled(store, SMALL), VectorIndex(MODEL, SMALL)
        for _ in range(60):
            filled.add()
        index.load(store.connection)
        question = filled.question()
        for seq in filled.model.nearest(question, (), "", 8):
            filled.delete(seq)
        for _ in range(12):
            filled.add()

        assert near(filled, index, question) == filled.model.nearest(question, (), "", 10)


def test_more_new_vectors_than_the_index_may_miss_are_found_by_bits(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", TINY) as store:
        filled, index = Filled(store, TINY), VectorIndex(MODEL, TINY)
        filled.add(1)
        index.load(store.connection)
        filled.add(NEWER_ROWS_MAX + 1)
        filled.add(1)

        found = near(filled, index, filled.model.notes[3][2][0], count=1)

        assert found == [3]


def test_rows_beyond_one_segment_are_found(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", TINY) as store:
        filled, index = Filled(store, TINY), VectorIndex(MODEL, TINY)
        for _ in range(12):
            filled.add(SEGMENT_ROWS // 11)
        index.load(store.connection)
        filled.add(SEGMENT_ROWS)
        index.refresh(store.connection)
        question = filled.question()

        found = near(filled, index, question, scopes=("user", "project:b"))

        assert found == filled.model.nearest(question, ("user", "project:b"), "", 10)
        assert index.view is not None
        assert len(index.view.segments) == 3


def test_the_index_drops_deleted_rows_once_they_are_many(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", TINY) as store:
        filled, index = Filled(store, TINY), VectorIndex(MODEL, TINY)
        filled.add(DEAD_ROWS_MAX + 1)
        filled.add(7)
        index.load(store.connection)
        filled.delete(1)

        for _ in range(REFRESHES_PER_COUNT):
            index.refresh(store.connection)

        assert index.view is not None
        assert index.view.count == 7


def test_a_refresh_before_loading_leaves_the_bits_to_answer(store: NoteStore) -> None:
    index = VectorIndex(MODEL, 256)

    index.refresh(store.connection)

    assert (index.state, index.view) == ("bits", None)


def test_searches_go_on_while_the_index_grows(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled, index = Filled(store, SMALL), VectorIndex(MODEL, SMALL)
        for _ in range(200):
            filled.add(1)
        index.load(store.connection)
        question = filled.question()
        view = index.view
        assert view is not None
        before = view.propose(question, 50)
        failures: list[list[int]] = []

        def search() -> None:
            for _ in range(200):
                again = view.propose(question, 50)
                if again.chunk_ids != before.chunk_ids:
                    failures.append(again.chunk_ids)

        thread = Thread(target=search)
        thread.start()
        for _ in range(50):
            filled.add(1)
            index.refresh(store.connection)
        thread.join(timeout=60)

        assert (failures, thread.is_alive()) == ([], False)
        assert index.view is not None
        assert index.view.count == 250


def test_only_what_may_be_near_enough_is_proposed(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", 256) as store:
        filled, index = Filled(store, 256), VectorIndex(MODEL, 256)
        for _ in range(300):
            filled.add(1)
        index.load(store.connection)
        assert index.view is not None

        few = index.view.propose(filled.question(), 5)
        all_ = index.view.propose(filled.question(), 300)

        assert 5 <= len(few.chunk_ids) < 20
        assert not few.complete
        assert (len(all_.chunk_ids), all_.complete) == (300, True)


def test_scores_in_bytes_err_as_little_as_they_promise() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((2_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    question = vectors[7] + 0.01 * vectors[8]
    question /= np.linalg.norm(question)

    rows, steps = quantise(vectors)
    coarse, question_steps = quantise(question[np.newaxis, :])
    scores = numpy_dots(coarse[0], rows) * steps * question_steps[0]
    off = np.abs(scores - vectors @ question)
    promised = [coarse_error(float(question_steps[0]), float(step)) for step in steps]

    assert bool((off < promised).all())
    assert off.max() > max(promised) / 10


def test_an_index_of_nothing_proposes_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled, index = Filled(store, SMALL), VectorIndex(MODEL, SMALL)
        index.load(store.connection)

        assert near(filled, index, filled.question()) == []


@pytest.mark.parametrize("rows", [1, 2, 1_500])
@pytest.mark.parametrize("dimensions", [7, 384, 1_024])
def test_both_ways_to_multiply_agree_with_integers(rows: int, dimensions: int) -> None:
    random = np.random.default_rng(3)
    matrix = random.integers(-127, 128, (rows, dimensions), dtype=np.int8)
    vector = random.integers(-127, 128, dimensions, dtype=np.int8)

    exact = matrix.astype(np.int64) @ vector.astype(np.int64)

    assert fastest_dots()(vector, matrix).tolist() == exact.tolist()
    assert numpy_dots(vector, matrix).tolist() == exact.tolist()


def test_bytes_stand_for_their_vector_within_half_a_step() -> None:
    vectors = np.random.default_rng(3).standard_normal((50, 64)).astype(np.float32)

    coarse, steps = quantise(vectors)

    assert np.abs(coarse * steps[:, np.newaxis] - vectors).max() <= 0.5001 * steps.max()
    assert np.abs(coarse).max() == 127


def test_a_zero_vector_can_be_quantised() -> None:
    coarse, steps = quantise(np.zeros((1, 8), dtype=np.float32))

    assert not coarse.any()
    assert np.isfinite(steps).all()


def count(store: NoteStore, statement: str) -> int:
    ((number,),) = store.connection.execute(statement)
    assert isinstance(number, int)
    return number


def test_bits_go_with_their_note(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled = Filled(store, SMALL)
        for _ in range(5):
            filled.add(3)

        filled.delete(2)

        assert count(store, "SELECT count(*) FROM chunks") == 12
        assert count(store, "SELECT count(*) FROM vec_bits_1") == 12


def test_the_centre_is_found_once_and_signs_are_made_anew(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled = Filled(store, SMALL)
        for _ in range(CENTRE_ROWS // 8 - 1):
            filled.add(8)
        before = store.connection.execute("SELECT centre FROM models").fetchall()
        filled.add(8)
        centre = store.connection.execute("SELECT centre FROM models").fetchall()
        filled.add(8)

        assert before == [(None,)]
        assert store.connection.execute("SELECT centre FROM models").fetchall() == centre
        assert count(store, "SELECT count(*) FROM vec_bits_1") == CENTRE_ROWS + 8
        assert len(near(filled, VectorIndex(MODEL, SMALL), filled.question())) == 10
