"""Fit the gate: ``python -m bench.gate.fit FOLDER…`` prints what it reaches and writes its file.

Every question is asked of a real store through the product's own code; answerable ones a second
time with their note taken out. What is printed is cross-validated by note: no note that a question
is judged on was learned from. A quarter of the questions counts as unanswerable.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.gate.cases import Case, collect, collect_small
from bench.gate.corpora import digest_of, read_corpora
from bench.gate.logistic import Fitted, Floats, fit
from bench.gate.report import worth_of_one
from bench.gate.vectors import kept_vectors
from graft_memstore.embedding import Embedder

MODEL = Path(__file__).parents[2] / "memstore" / "graft_memstore" / "gate_model.json"
FOLDS = 10
CANDIDATES = 3
"""Of each case, the candidates that are learned from."""
LATER_COUNTS = 0.5
"""What a candidate that is not the first counts."""
HIDDEN_COUNTS = 0.5
"""What a question without its note counts: it is easier than most that nothing answers."""
SMALL_COUNTS = 0.5
"""What a question to a store that was cut small counts."""
SMALL_UNANSWERABLE_COUNTS = 0.6
"""The same where its note does not answer: more costs a lone note the answer to its paraphrase."""
RIDGE = 3.0
EXTREMES = (0.002, 0.998)
"""Quantiles at which a feature is cut: further out nothing was seen."""
PRECISION = 0.955
"""Share of STRONG answers that must be right: a little more than is promised, since questions that
nobody has seen do a little worse."""
NEAR_COPIES = frozenset({"one_word_off", "opposite", "wrong_version"})
NEAR_COPY_COUNTS = 0.25
"""What a near copy of a good question counts when the threshold is set: our questions hold many
more of them, on purpose, than people ask."""
WEAK = 0.3
"""Below three chances in ten a title is only a near one."""

SIGNS = {
    "title": 1,
    "passage": 1,
    "margin": 1,
    "coverage": 1,
    "stretch": 1,
    "shared": 1,
    "missing": -1,
    "missing_rarest": -1,
    "uncovered_rarest": -1,
    "title_coverage": 1,
    "title_trigrams": 1,
    "words": 1,
    "named": 1,
    "unnamed": -1,
    "differing": -1,
    "opposite": -1,
    "youth": 0,
    "signature": 1,
    "copied_but": -1,
    "swapped_in_youth": -1,
    "unnamed_in_youth": -1,
}
"""Every feature, and which way it can speak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Candidates as rows.

    Attributes:
        columns: features, cut at *low* and *high* and divided by *scale*.
        right: 1 for an answer.
        counts: what a row counts.
        allowed: no rule keeps it from being STRONG.
        case: place of its case among those that the table was made of.
    """

    columns: Floats
    right: Floats
    counts: Floats
    allowed: NDArray[np.bool_]
    case: NDArray[np.int64]
    scale: Floats
    low: Floats
    high: Floats


def table_of(cases: Sequence[Case], like: Table | None = None) -> Table:
    """Return the candidates of *cases* as rows, cut and scaled as in *like*, else by themselves."""
    seen = [
        (number, place, candidate)
        for number, case in enumerate(cases)
        for place, candidate in enumerate(case.candidates[:CANDIDATES])
    ]
    columns = np.array([[each.features[name] for name in SIGNS] for _, _, each in seen])
    low, high = (like.low, like.high) if like else np.quantile(columns, EXTREMES, axis=0)
    columns = np.clip(columns, low, high)
    scale = like.scale if like else columns.std(axis=0) + 1e-9
    return Table(
        columns=columns / scale,
        right=np.array([float(each.right) for _, _, each in seen]),
        counts=np.array([_count(cases[number], place) for number, place, _ in seen]),
        allowed=np.array([each.may_be_strong for _, _, each in seen]),
        case=np.array([number for number, _, _ in seen]),
        scale=scale,
        low=low,
        high=high,
    )


def _count(case: Case, place: int) -> float:
    """Return what a candidate of *case* at *place* counts."""
    return (LATER_COUNTS if place else 1.0) * (HIDDEN_COUNTS if case.hidden else 1.0) * _share(case)


def _share(case: Case) -> float:
    if not case.small or case.hidden:
        return 1.0
    return SMALL_COUNTS if case.answerable else SMALL_UNANSWERABLE_COUNTS


def fitted_on(table: Table, rows: NDArray[np.bool_]) -> Fitted:
    """Fit on some rows."""
    signs = np.array(list(SIGNS.values()), dtype=float)
    return fit(table.columns[rows], table.right[rows], table.counts[rows], signs, RIDGE)


def cross_validated(cases: Sequence[Case], table: Table, seed: int = 1) -> Floats:
    """Return each row's probability by a fit that knows nothing of its note."""
    draw = np.random.default_rng(seed)
    folds: dict[str, int] = {}
    for case in cases:
        folds.setdefault(case.group, int(draw.integers(FOLDS)))
    fold = np.array([folds[cases[number].group] for number in table.case])
    chances = np.zeros(len(table.right))
    for number in range(FOLDS):
        chances[fold == number] = fitted_on(table, fold != number).probabilities(
            table.columns[fold == number]
        )
    return chances


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A case's best candidate: its chance, and whether it is right."""

    case: Case
    chance: float
    right: bool


def decided(cases: Sequence[Case], table: Table, chances: Floats) -> list[Decided]:
    """Return the best candidate that may be STRONG of every case; one without any has none."""
    best = [Decided(case=case, chance=0.0, right=False) for case in cases]
    for number, chance, right, allowed in zip(
        table.case, chances, table.right, table.allowed, strict=True
    ):
        if allowed and chance > best[number].chance:
            best[number] = Decided(case=cases[number], chance=float(chance), right=bool(right))
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a threshold gives."""

    threshold: float
    precision: float
    hit_rate: float
    false_strong: float


def curve(answers: Iterable[Decided]) -> list[Point]:
    """Return every threshold's point, from the strictest to the loosest."""
    ordered = sorted(answers, key=lambda each: -each.chance)
    answerable = sum(each.case.answerable for each in ordered)
    others = sum(_counted(each.case) for each in ordered if not each.case.answerable)
    worth = worth_of_one(answerable, others)
    points, right, wrong, false = [], 0, 0, 0.0
    for each in ordered:
        right += each.right
        wrong += each.case.answerable and not each.right
        false += 0.0 if each.case.answerable else _counted(each.case)
        strong = right + wrong + worth * false
        points.append(
            Point(
                threshold=each.chance,
                precision=right / strong if strong else 1.0,
                hit_rate=right / answerable if answerable else 0.0,
                false_strong=false / others if others else 0.0,
            )
        )
    return points


def _counted(case: Case) -> float:
    return NEAR_COPY_COUNTS if case.question.kind in NEAR_COPIES else 1.0


def at_precision(points: Sequence[Point], precision: float) -> Point | None:
    """Return the point of the best hit rate at this precision or better."""
    good = [point for point in points if point.precision >= precision]
    return max(good, key=lambda point: point.hit_rate, default=None)


def at_threshold(points: Sequence[Point], threshold: float) -> Point | None:
    """Return the last point that is still at or above a threshold."""
    return next((point for point in reversed(points) if point.threshold >= threshold), None)


def report(answers: Sequence[Decided], strong: float) -> None:
    """Print figures by corpus and by kind."""
    real = _plain(answers)
    small = [each for each in answers if each.case.small and not each.case.hidden]
    for name in sorted({each.case.corpus for each in real}):
        of_corpus = [each for each in real if each.case.corpus == name]
        points = curve(of_corpus)
        _line(f"{name}, {len(of_corpus)} questions", at_threshold(points, strong))
        for precision in (0.93, 0.95, 0.97):
            _line(f"    best at precision {precision}", at_precision(points, precision))
    for size in sorted({each.case.small for each in small}):
        points = curve(each for each in small if each.case.small == size)
        _line(f"stores of {size}", at_threshold(points, strong))
    for kind, count in sorted(Counter(each.case.question.kind for each in real).items()):
        of_kind = [each for each in real if each.case.question.kind == kind]
        given = [each for each in of_kind if each.chance >= strong]
        sys.stdout.write(
            f"  {kind}: {count}, STRONG and right {sum(each.right for each in given)}, "
            f"STRONG and wrong {sum(not each.right for each in given)}\n"
        )


def _line(what: str, point: Point | None) -> None:
    told = (
        "never"
        if point is None
        else (
            f"precision {point.precision:.3f}, hit rate {point.hit_rate:.3f}, "
            f"false STRONG {point.false_strong:.3f} at {point.threshold:.2f}"
        )
    )
    sys.stdout.write(f"{what}: {told}\n")


def written(table: Table, fitted: Fitted, strong: float, digest: str) -> str:
    """Return the model's file."""
    coefficients = {
        name: {
            "weight": round(float(weight / scale), 5),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
        }
        for name, weight, scale, low, high in zip(
            SIGNS, fitted.weights, table.scale, table.low, table.high, strict=True
        )
        if weight
    }
    told = {
        "data_sha256": digest,
        "bias": round(fitted.bias, 5),
        "coefficients": coefficients,
        "strong": round(strong, 3),
        "weak": WEAK,
    }
    return json.dumps(told, indent=2) + "\n"


def main(arguments: list[str]) -> int:
    """Fit on the folders named; with ``--dry-run`` only print."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate.fit")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument(
        "--judge", type=Path, default=[], nargs="+", help="not learned from; prints its figures"
    )
    chosen = parser.parse_args(arguments)
    with kept_vectors() as embedder:
        learned, judged = (_ask(folders, embedder) for folders in (chosen.folders, chosen.judge))
    table = table_of(learned)
    answers = decided(learned, table, cross_validated(learned, table))
    point = at_precision(curve(_plain(answers)), PRECISION)
    strong = point.threshold if point else 1.0
    _line("all, cross-validated", point)
    report(answers, strong)
    fitted = fitted_on(table, np.ones(len(table.right), dtype=bool))
    if judged:
        unseen = table_of(judged, like=table)
        report(decided(judged, unseen, fitted.probabilities(unseen.columns)), strong)
    if not chosen.dry_run:
        MODEL.write_text(written(table, fitted, strong, digest_of(chosen.folders)), "utf-8")
    return 0


def _ask(folders: Sequence[Path], embedder: Embedder) -> list[Case]:
    corpora = [corpus for folder in folders for corpus in read_corpora(folder)]
    return [
        case
        for corpus in corpora
        for case in (*collect(corpus, embedder), *collect_small(corpus, embedder))
    ]


def _plain(answers: Iterable[Decided]) -> list[Decided]:
    """Return the answers of whole corpora with every note there."""
    return [each for each in answers if not each.case.hidden and not each.case.small]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
