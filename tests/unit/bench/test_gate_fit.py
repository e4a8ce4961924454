"""The fit of the gate: what it finds, and what it is not allowed to find."""

import numpy as np
import pytest
from bench.gate.cases import Case
from bench.gate.corpora import CorpusQuestion
from bench.gate.fit import Decided, at_precision, at_threshold, curve
from bench.gate.logistic import fit

RIDGE = 3.0
FREE = np.zeros(2)


def rows(slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(4)
    columns = draw.standard_normal((600, 2))
    chances = 1.0 / (1.0 + np.exp(-(2.0 * columns[:, 0] + slope * columns[:, 1] - 0.5)))
    return columns, (draw.random(600) < chances).astype(float), np.ones(600)


def decided(
    chance: float, *, answerable: bool, right: bool = False, kind: str = "exact"
) -> Decided:
    question = CorpusQuestion(
        text=f"{chance}", expect="a" if answerable else None, kind=kind, lang="en", about=""
    )
    case = Case(corpus="c", question=question, hidden=False, small=0, candidates=())
    return Decided(case=case, chance=chance, right=right)


def test_at_the_solution_nothing_pulls_any_more() -> None:
    columns, right, counts = rows(-1.0)

    found = fit(columns, right, counts, FREE, RIDGE)

    pull = columns.T @ (found.probabilities(columns) - right) + RIDGE * found.weights
    assert pull == pytest.approx(np.zeros(2), abs=1e-3)
    assert found.weights[0] > 1.0
    assert found.weights[1] < -0.5


def test_a_weight_stays_on_the_side_that_its_column_can_have() -> None:
    columns, right, counts = rows(-1.0)

    found = fit(columns, right, counts, np.array([1.0, 1.0]), RIDGE)

    assert found.weights[0] > 1.0
    assert found.weights[1] == 0.0


def test_a_curve_counts_a_quarter_of_the_questions_as_unanswerable() -> None:
    answers = [
        decided(0.9, answerable=True, right=True),
        decided(0.8, answerable=False),
        decided(0.7, answerable=True, right=True),
        decided(0.6, answerable=True, right=False),
        decided(0.5, answerable=False),
    ]

    points = curve(answers)

    # Three answerable questions stand beside one unanswerable, whatever the corpus holds.
    assert [round(each.precision, 3) for each in points] == [1.0, 0.667, 0.8, 0.571, 0.5]
    assert [round(each.hit_rate, 3) for each in points] == [0.333, 0.333, 0.667, 0.667, 0.667]
    assert [each.false_strong for each in points] == [0.0, 0.5, 0.5, 0.5, 1.0]
    assert at_precision(points, 0.75) == points[2]
    assert at_threshold(points, 0.65) == points[2]
    assert at_threshold(points, 0.95) is None


def test_a_near_copy_counts_a_quarter() -> None:
    answers = [
        decided(0.9, answerable=False, kind="one_word_off"),
        decided(0.8, answerable=False),
        decided(0.7, answerable=True, right=True),
    ]

    assert [each.false_strong for each in curve(answers)] == [0.2, 1.0, 1.0]
