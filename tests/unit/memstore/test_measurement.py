"""How often a gate is wrong, and which threshold is better."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.measurement import Curve, Outcome, Rate, calibration, rates_by_kind

PRESENT = 0.7
RANGE = (0.25, 0.9)
PROBABILITIES = st.floats(0.0, 1.0)
OUTCOMES = st.lists(
    st.builds(
        lambda kind, answerable, probability, right: Outcome(
            kind=kind,
            answerable=answerable,
            probability=probability,
            right=right and answerable,
            held_out=False,
        ),
        st.sampled_from(["title", "passage"]),
        st.booleans(),
        PROBABILITIES,
        st.booleans(),
    ),
    max_size=40,
)


def outcome(probability: float, *, answerable: bool, right: bool = True) -> Outcome:
    return Outcome(
        kind="title",
        answerable=answerable,
        probability=probability,
        right=right and answerable,
        held_out=False,
    )


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (1, 100, 0.0018, 0.0545),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilsons_interval_is_the_one_in_the_books(
    count: int, total: int, low: float, high: float
) -> None:
    assert Rate(count=count, total=total).interval == pytest.approx((low, high), abs=5e-5)


@given(total=st.integers(1, 10_000), data=st.data())
def test_an_interval_holds_what_was_seen_and_narrows_with_more_of_it(
    total: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, total))

    low, high = Rate(count=count, total=total).interval
    narrow_low, narrow_high = Rate(count=10 * count, total=10 * total).interval

    assert 0.0 <= low <= count / total <= high <= 1.0
    assert narrow_high - narrow_low < high - low


@given(outcomes=OUTCOMES, strong=PROBABILITIES)
def test_rates_agree_with_counting(outcomes: list[Outcome], strong: float) -> None:
    rates = Curve(outcomes).at(strong)

    given_out = [each for each in outcomes if each.probability >= strong]
    answerable = sum(each.answerable for each in outcomes)
    assert rates.false_strong.count == sum(not each.answerable for each in given_out)
    assert rates.missed_strong.count == answerable - sum(each.right for each in given_out)
    assert rates.false_strong.total + rates.missed_strong.total == len(outcomes)


@given(outcomes=OUTCOMES, strong=PROBABILITIES)
def test_the_kinds_together_are_all_questions(outcomes: list[Outcome], strong: float) -> None:
    kinds = rates_by_kind(outcomes, strong)

    rates = Curve(outcomes).at(strong)
    for answerable, whole in ((False, rates.false_strong), (True, rates.missed_strong)):
        wrong = [each.wrong for each in kinds if each.answerable is answerable]
        assert sum(each.count for each in wrong) == whole.count
        assert sum(each.total for each in wrong) == whole.total
    assert len({(each.kind, each.answerable) for each in kinds}) == len(kinds)


@given(outcomes=OUTCOMES)
def test_a_better_threshold_makes_neither_rate_worse(outcomes: list[Outcome]) -> None:
    curve = Curve(outcomes)

    best = curve.best_threshold(PRESENT, *RANGE)

    assert curve.at(best).worsened(curve.at(PRESENT)) == ()
    assert best == PRESENT or curve.at(best).wrong < curve.at(PRESENT).wrong
    assert best == PRESENT or RANGE[0] <= best <= RANGE[1]
    assert curve.best_threshold(best, *RANGE) == best


def test_a_threshold_moves_over_a_false_answer_and_stops_before_a_right_one() -> None:
    curve = Curve(
        [
            outcome(0.2, answerable=False),
            outcome(0.75, answerable=False),
            outcome(0.85, answerable=True),
            outcome(0.95, answerable=True),
        ]
    )

    assert curve.best_threshold(PRESENT, *RANGE) == pytest.approx(0.8)


def test_a_wide_gap_is_used_as_far_as_the_bounds_let_it() -> None:
    curve = Curve([outcome(0.0, answerable=False), outcome(0.3, answerable=True)])

    assert curve.best_threshold(1.0, *RANGE) == RANGE[0]


def test_a_trade_of_one_mistake_for_another_is_not_proposed() -> None:
    curve = Curve(
        [
            outcome(0.6, answerable=True),
            outcome(0.65, answerable=False),
            outcome(0.8, answerable=True),
            outcome(0.9, answerable=False),
        ]
    )

    assert curve.best_threshold(PRESENT, *RANGE) == PRESENT


@given(outcomes=OUTCOMES)
def test_every_answer_is_in_one_bin(outcomes: list[Outcome]) -> None:
    bins = calibration(outcomes)

    assert sum(each.right.total for each in bins) == len(outcomes)
    assert sum(each.right.count for each in bins) == sum(each.right for each in outcomes)
    assert all(each.low <= each.predicted <= each.high for each in bins)
