"""What is proposed from coarse scores holds what is nearest by exact ones."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.memstore.recall.store_builder import MODEL, NoteStore, open_store, unit
from tests.unit.memstore.recall.test_vector_index import SMALL, Filled

from graft_memstore.model import NoteId
from graft_memstore.recall.index import SEGMENT_ROWS, IndexView, VectorIndex
from graft_memstore.recall.title_scores import score_titles

COUNT = 120


def filled_view(store: NoteStore, *, parts: int = 3) -> tuple[Filled, IndexView]:
    filled = Filled(store, SMALL)
    for _ in range(COUNT):
        filled.add(parts)
    return filled, VectorIndex(MODEL, SMALL).catch_up(store.connection)


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Filled, IndexView]:
    """A view of a hundred and twenty notes; the file behind it is closed."""
    with open_store(tmp_path_factory.mktemp("titles") / "graft.db", SMALL) as store:
        return filled_view(store)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1_000),
    wanted=st.integers(1, 30),
    least=st.sampled_from([-np.inf, 0.4, 0.6, 2.0]),
    scope=st.sampled_from([None, "user", "project:a", "absent"]),
    every=st.sampled_from([0, 1, 3, 200]),
)
def test_the_nearest_titles_are_among_those_proposed(
    viewed: tuple[Filled, IndexView],
    seed: int,
    wanted: int,
    least: float,
    scope: str | None,
    every: int,
) -> None:
    filled, view = viewed
    vector = unit(filled.common + np.random.default_rng(seed).standard_normal(SMALL))
    rows = view.titles()
    chunk_of = dict(zip(rows.seqs.tolist(), rows.chunk_ids.tolist(), strict=True))
    among = rows.chunk_ids[::-1][::every] if every else None

    scores = score_titles(view, rows, vector, None if scope is None else (scope,))
    proposed = scores.propose(wanted, least, among)

    near = {
        chunk_of[seq]: float(vectors[0] @ vector)
        for seq, (held, _, vectors) in filled.model.notes.items()
        if scope in (None, held) and (among is None or chunk_of[seq] in among)
    }
    allowed = {chunk_id: cosine for chunk_id, cosine in near.items() if cosine >= least}
    nearest = sorted(allowed, key=lambda chunk_id: -allowed[chunk_id])[:wanted]
    assert set(nearest) <= set(proposed.chunk_ids) <= set(near)
    if proposed.complete:
        assert set(allowed) <= set(proposed.chunk_ids)
    else:
        assert len(proposed.chunk_ids) >= wanted


def test_a_view_knows_its_titles_in_every_segment(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled = Filled(store, SMALL)
        for _ in range(2):
            filled.add(SEGMENT_ROWS // 2 + 100)
        filled.add(1)

        rows = VectorIndex(MODEL, SMALL).catch_up(store.connection).titles()

    second = SEGMENT_ROWS // 2 + 100
    assert rows.places.tolist() == [0, second, 2 * second]
    assert rows.seqs.tolist() == [1, 2, 3]
    assert rows.chunk_ids.tolist() == [1, second + 1, 2 * second + 1]


def test_a_view_of_nothing_has_no_titles_and_proposes_none(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        view = VectorIndex(MODEL, SMALL).catch_up(store.connection)
        vector = unit(np.ones(SMALL))

        proposed = score_titles(view, view.titles(), vector, ("user",)).propose(5, 0.0)

    assert (proposed.chunk_ids, proposed.complete) == ([], True)


def test_catching_up_takes_in_what_was_written_since(tmp_path: Path) -> None:
    with open_store(tmp_path / "graft.db", SMALL) as store:
        filled, index = Filled(store, SMALL), VectorIndex(MODEL, SMALL)
        filled.add()
        first = index.catch_up(store.connection)
        added = filled.add()

        second = index.catch_up(store.connection)
        index.load(store.connection)

    assert (len(first.titles().seqs), len(second.titles().seqs)) == (1, 2)
    assert added == NoteId(f"{2:032x}")
    assert index.view is second
