"""The order of the fused arms against ten lines that obviously do the same."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.fusion import (
    WEIGHTS,
    ArmScores,
    blend,
    fuse,
    standing,
)
from graft_memstore.model import Background

BACKGROUND = Background(mean=0.8, deviation=0.02, count=100.0)

cosine = st.one_of(st.none(), st.floats(-1, 1))
bm25 = st.one_of(st.none(), st.floats(0, 50))
found_lists = st.lists(
    st.builds(
        ArmScores,
        seq=st.integers(1, 50),
        cosine=cosine,
        words=bm25,
        pieces=bm25,
        signature=st.one_of(st.none(), st.floats(0, 1)),
    ),
    unique_by=lambda scores: scores.seq,
)


def model(found: list[ArmScores]) -> list[int]:
    most_words = max([each.words or 0 for each in found] or [0]) or 1
    most_pieces = max([each.pieces or 0 for each in found] or [0]) or 1
    totals = {}
    for each in found:
        totals[each.seq] = WEIGHTS.words * ((each.words or 0) / most_words)
        totals[each.seq] += WEIGHTS.pieces * ((each.pieces or 0) / most_pieces)
        totals[each.seq] += WEIGHTS.signature * (each.signature or 0)
        if each.cosine is not None:
            totals[each.seq] += (each.cosine - 0.8) / 0.02
    return sorted(totals, key=lambda seq: (-totals[seq], -seq))


@given(found=found_lists)
def test_fusion_agrees_with_the_model(found: list[ArmScores]) -> None:
    fused = fuse(found, BACKGROUND)

    # Sums in another order differ in their last digits, so near ties may stand either way.
    scores = {each.scores.seq: each.score for each in fused}
    assert [round(scores[seq], 6) for seq in model(found)] == [
        round(each.score, 6) for each in fused
    ]


@given(found=found_lists, seed=st.randoms(use_true_random=False))
def test_the_order_of_what_was_found_is_of_no_account(found: list[ArmScores], seed: Random) -> None:
    shuffled = list(found)
    seed.shuffle(shuffled)

    assert fuse(shuffled, BACKGROUND) == fuse(found, BACKGROUND)


def test_of_equal_notes_the_newer_comes_first() -> None:
    found = [ArmScores(seq=seq, cosine=0.9, words=2.0) for seq in (4, 9, 7)]

    assert [each.scores.seq for each in fuse(found, BACKGROUND)] == [9, 7, 4]


def test_words_alone_keep_their_order() -> None:
    found = [ArmScores(seq=seq, words=float(seq)) for seq in (4, 9, 7)]

    assert [each.scores.seq for each in fuse(found, BACKGROUND)] == [9, 7, 4]


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse([], BACKGROUND) == []


def test_a_store_of_one_note_leaves_almost_all_to_the_prior() -> None:
    blended = blend(BACKGROUND, Background(mean=0.95, deviation=0.0, count=1.0))

    assert blended.mean == pytest.approx(0.8, abs=0.002)
    assert blended.deviation == pytest.approx(0.02, rel=0.01)


def test_a_large_store_leaves_almost_nothing_to_the_prior() -> None:
    own = Background(mean=0.4, deviation=0.1, count=10_000.0)

    blended = blend(BACKGROUND, own)

    assert blended.mean == pytest.approx(0.4, abs=0.005)
    assert blended.deviation == pytest.approx(0.1, rel=0.01)


def test_without_any_background_the_prior_stands() -> None:
    nothing = Background(mean=0.0, deviation=0.0, count=0.0)

    assert blend(nothing, nothing) == nothing


def test_a_background_without_spread_divides_by_something() -> None:
    assert standing(1.0, Background(mean=0.5, deviation=0.0, count=1.0)) == pytest.approx(500.0)
    assert standing(None, BACKGROUND) == 0.0
