"""The walk against ten lines of Python that obviously do the same, and what each term does."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from graft_memstore.beam import (
    LEAST,
    REDUNDANCY_WEIGHT,
    RIVALS_MAX,
    SIMILARITY_SHARE,
    STEP_DECAY,
    Graph,
    Link,
    Seed,
    Visit,
    leaves,
    walk,
)
from graft_memstore.diversity import choose_diverse

NOTES = range(1, 9)
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeGraph(Graph):
    """A graph written down: weights, how near each note is to the question, who is like whom."""

    weights: dict[Pair, float]
    similarities: dict[int, float] = field(default_factory=dict)
    alike: dict[Pair, float] = field(default_factory=dict)

    @override
    def links(self, notes: Sequence[int]) -> Iterable[Link]:
        for source in notes:
            for (one, other), weight in self.weights.items():
                if source in (one, other):
                    target = other if source == one else one
                    yield Link(
                        source=source,
                        target=target,
                        weight=weight,
                        similarity=self.similarities.get(target, 1.0),
                    )

    @override
    def likeness(self, note: int, others: Sequence[int]) -> list[float]:
        return [
            1.0 if note == other else self.alike.get((min(note, other), max(note, other)), 0.0)
            for other in others
        ]


def rank(visit: Visit) -> tuple[float, list[int]]:
    return -visit.score, [-note for note in visit.path[::-1]]


def log(share: float) -> float:
    return math.log(max(share, LEAST))


def kept_of(graph: FakeGraph, found: Iterable[Visit], beam: int) -> list[Visit]:
    left, kept = sorted(found, key=rank)[: RIVALS_MAX * beam], list[Visit]()
    while left and len(kept) < beam:
        chosen = [each.note for each in kept]
        worth = [
            each.score - REDUNDANCY_WEIGHT * max([0.0, *graph.likeness(each.note, chosen)])
            for each in left
        ]
        kept.append(left.pop(worth.index(max(worth))))
    return kept


def modelled(graph: FakeGraph, seeds: Sequence[Seed], depth: int, beam: int) -> list[Visit]:
    """Return the visits of a walk, written for reading and not for speed."""
    starts = [Visit(path=(each.note,), score=log(each.similarity)) for each in seeds]
    visits = front = kept_of(graph, starts, beam)
    for step in range(1, depth + 1):
        ways = [(tip, way) for tip in front for way in graph.links([tip.note])]
        fresh = [
            Visit(
                path=(*tip.path, way.target),
                score=tip.score
                + log(way.weight)
                + SIMILARITY_SHARE * log(way.similarity)
                + step * math.log(STEP_DECAY)
                - REDUNDANCY_WEIGHT * max([0.0, *graph.likeness(way.target, tip.path)]),
            )
            for tip, way in ways
            if way.target not in [each.note for each in visits]
        ]
        best = {each.note: each for each in sorted(fresh, key=rank, reverse=True)}
        front = kept_of(graph, best.values(), beam)
        visits = visits + front
    return visits


# Few values, so that ties come up all the time.
shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])
pair = st.tuples(st.sampled_from(NOTES), st.sampled_from(NOTES)).filter(lambda p: p[0] < p[1])
graphs = st.builds(
    FakeGraph,
    weights=st.dictionaries(pair, shares, max_size=20),
    similarities=st.dictionaries(st.sampled_from(NOTES), shares),
    alike=st.dictionaries(pair, st.sampled_from([-0.5, 0.0, 0.5, 1.0]), max_size=20),
)
starts = st.dictionaries(st.sampled_from(NOTES), shares, max_size=5)


@settings(deadline=None)
@given(graph=graphs, seeds=starts, depth=st.integers(0, 4), beam=st.integers(1, 4))
def test_the_walk_agrees_with_the_model(
    graph: FakeGraph, seeds: dict[int, float], depth: int, beam: int
) -> None:
    listed = [Seed(note=note, similarity=each) for note, each in seeds.items()]

    visits = walk(graph, listed, depth=depth, beam=beam)

    expected = modelled(graph, listed, depth, beam)
    assert [each.path for each in visits] == [each.path for each in expected]
    assert [each.score for each in visits] == pytest.approx([each.score for each in expected])


@settings(deadline=None)
@given(graph=graphs, seeds=starts, depth=st.integers(0, 4), beam=st.integers(1, 4))
def test_each_note_is_reached_once_over_edges_that_are_there(
    graph: FakeGraph, seeds: dict[int, float], depth: int, beam: int
) -> None:
    listed = [Seed(note=note, similarity=each) for note, each in seeds.items()]

    visits = walk(graph, listed, depth=depth, beam=beam)

    notes = [each.note for each in visits]
    assert len(set(notes)) == len(notes) <= beam * (depth + 1)
    for visit in visits:
        assert visit.path[0] in seeds
        assert len(set(visit.path)) == len(visit.path) <= depth + 1
        assert visit.score <= 0.0
        for one, other in zip(visit.path, visit.path[1:], strict=False):
            assert (min(one, other), max(one, other)) in graph.weights
    assert {note for path in leaves(visits) for note in path.path} == set(notes)


def reached(graph: FakeGraph, *, depth: int = 1, beam: int = 1) -> list[tuple[int, ...]]:
    visits = walk(graph, [Seed(note=1, similarity=1.0)], depth=depth, beam=beam)
    return [each.path for each in visits]


def test_the_heavier_edge_is_taken() -> None:
    assert reached(FakeGraph(weights={(1, 2): 0.5, (1, 3): 0.9})) == [(1,), (1, 3)]


def test_a_note_nearer_to_the_question_is_taken_over_a_slightly_heavier_edge() -> None:
    graph = FakeGraph(weights={(1, 2): 0.85, (1, 3): 0.9}, similarities={3: 0.5})

    assert reached(graph) == [(1,), (1, 2)]


def test_a_note_that_repeats_its_path_gives_way() -> None:
    graph = FakeGraph(weights={(1, 2): 0.85, (1, 3): 0.9}, alike={(1, 3): 0.9})

    assert reached(graph) == [(1,), (1, 2)]


def test_of_two_that_say_the_same_one_is_kept() -> None:
    weights = {(1, 2): 0.9, (1, 3): 0.89, (1, 4): 0.6}
    graph = FakeGraph(weights=weights, alike={(2, 3): 1.0})

    assert reached(graph, beam=2) == [(1,), (1, 2), (1, 4)]


def test_the_newer_of_two_equal_notes_comes_first() -> None:
    assert reached(FakeGraph(weights={(1, 2): 0.5, (1, 3): 0.5})) == [(1,), (1, 3)]


def test_each_step_costs_more_than_the_one_before() -> None:
    graph = FakeGraph(weights={(1, 2): 1.0, (2, 3): 1.0})

    visits = walk(graph, [Seed(note=1, similarity=1.0)], depth=2, beam=1)

    decay = math.log(STEP_DECAY)
    assert [each.score for each in visits] == pytest.approx([0.0, decay, 3 * decay])


def test_a_walk_without_seeds_goes_nowhere() -> None:
    assert walk(FakeGraph(weights={(1, 2): 1.0}), [], depth=3, beam=4) == []


@given(
    scores=st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=6),
    alike=st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
    count=st.integers(0, 7),
)
def test_without_a_penalty_the_best_are_picked_in_their_order(
    scores: list[float], alike: float, count: int
) -> None:
    picked = choose_diverse(scores, lambda _: [alike] * len(scores), count, 0.0)

    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    assert picked == best[:count]
