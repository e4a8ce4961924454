"""What stands out among a profile's own titles, and when that is to be found out anew."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.memstore.recall.store_builder import MODEL, NoteStore, unit

from graft_memstore.recall.background import (
    PAIRS_MAX,
    PAIRS_MIN,
    ROUNDING,
    draw_pairs,
    is_outgrown,
    sample_pairs,
    thresholds_of,
)
from graft_memstore.store.background_samples import (
    SampledSize,
    read_sample,
    read_sampled_size,
    replace_sample,
)


def test_notes_are_joined_from_the_90th_and_the_97th_percentile_on() -> None:
    thresholds = thresholds_of([number / 100 for number in range(101)])

    assert thresholds.keyword == pytest.approx(0.90 - ROUNDING)
    assert thresholds.semantic == pytest.approx(0.97 - ROUNDING)


def test_in_a_store_too_small_to_tell_a_keyword_is_enough_and_nothing_else_is() -> None:
    thresholds = thresholds_of([0.9] * (PAIRS_MIN - 1))

    assert (thresholds.keyword, thresholds.semantic) == (-math.inf, math.inf)


def test_the_nearest_pair_of_any_sample_stands_out() -> None:
    for cosines in ([0.5] * PAIRS_MIN, [0.1] * 50 + [0.2], [-0.9 + n / 50 for n in range(60)]):
        assert max(cosines) >= thresholds_of(cosines).semantic


@pytest.mark.parametrize(
    ("drawn", "titles", "pairs", "outgrown"),
    [
        (SampledSize(titles=0, pairs=0), 0, 0, False),
        (SampledSize(titles=0, pairs=0), 1, 0, False),
        (SampledSize(titles=0, pairs=0), 2, 0, True),
        (SampledSize(titles=2, pairs=1), 2, 1, False),
        (SampledSize(titles=2, pairs=1), 3, 1, True),
        (SampledSize(titles=100, pairs=1_000), 124, 1_000, False),
        (SampledSize(titles=100, pairs=1_000), 125, 1_000, True),
        (SampledSize(titles=100, pairs=1_000), 90, 750, False),
        (SampledSize(titles=100, pairs=1_000), 90, 749, True),
    ],
)
def test_a_sample_is_drawn_anew_when_the_store_has_grown_or_the_sample_has_shrunk_by_a_quarter(
    drawn: SampledSize, titles: int, pairs: int, outgrown: bool
) -> None:
    assert is_outgrown(drawn, titles, pairs) is outgrown


@given(count=st.integers(0, 91))
def test_of_few_titles_every_pair_is_drawn(count: int) -> None:
    pairs = draw_pairs(count, seed=1)

    assert pairs.tolist() == [[a, b] for a in range(count) for b in range(a + 1, count)]


@given(count=st.integers(92, 100_000), seed=st.integers(0, 5))
def test_of_many_titles_different_pairs_are_drawn_and_the_same_each_time(
    count: int, seed: int
) -> None:
    pairs = draw_pairs(count, seed)

    assert 0.7 * PAIRS_MAX <= len(np.unique(pairs, axis=0)) == len(pairs) <= PAIRS_MAX
    assert pairs[:, 0].min() >= 0
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert pairs.max() < count
    assert np.array_equal(pairs, draw_pairs(count, seed))


def test_a_sample_holds_the_cosines_of_titles_alone_and_goes_with_its_notes(
    store: NoteStore,
) -> None:
    random = np.random.default_rng(3)
    rows = [unit(random.standard_normal(256)) for _ in range(8)]
    ids = [store.add("t", vectors=(rows[2 * n], rows[2 * n + 1])) for n in range(4)]
    seqs = np.arange(1, 5)

    pairs = sample_pairs(store.connection, MODEL, seqs)
    replace_sample(store.connection, MODEL, 4, pairs)
    whole = read_sample(store.connection, MODEL)
    store.delete(ids[0])

    titles = rows[::2]
    expected = [float(titles[a] @ titles[b]) for a in range(4) for b in range(a + 1, 4)]
    assert whole == pytest.approx(expected)
    assert read_sample(store.connection, MODEL) == pytest.approx(expected[3:])
    assert read_sampled_size(store.connection, MODEL) == SampledSize(titles=4, pairs=6)
    assert len(sample_pairs(store.connection, MODEL, seqs)) == 3


def test_a_new_sample_takes_the_place_of_the_old_one(store: NoteStore) -> None:
    for _ in range(3):
        store.add("t")
    pairs = sample_pairs(store.connection, MODEL, np.arange(1, 4))

    replace_sample(store.connection, MODEL, 3, pairs)
    replace_sample(store.connection, MODEL, 2, pairs[:1])

    assert len(read_sample(store.connection, MODEL)) == 1
    assert read_sampled_size(store.connection, MODEL) == SampledSize(titles=2, pairs=1)
