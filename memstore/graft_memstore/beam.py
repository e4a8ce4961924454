"""Walks from a few notes along the edges that lead out of them: a beam search over a graph.

A walk begins at its seeds and goes one step at a time to notes where it has not been; of those the
best few are kept, as long as they do not all say the same. So each note is reached once, by one
path, and the paths together are a forest.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from graft_memstore.diversity import choose_diverse

DEPTH_DEFAULT = 3
DEPTH_MAX = 8
"""Steps of a walk."""
BEAM_DEFAULT = 4
BEAM_MAX = 32
"""Notes that are kept at each step."""

STEP_DECAY = 0.85
"""What each step costs, and each later one once more: the far end of a path has wandered off."""
SIMILARITY_SHARE = 0.5
"""How much a note's likeness to the question counts beside the edge that leads to it."""
REDUNDANCY_WEIGHT = 0.7
"""What it costs a note to be just like one that is on its path, or that is kept beside it."""
RIVALS_MAX = 4
"""Of what a step reaches, the best so many for each that is kept are compared with one another."""
LEAST = 1e-6
"""A weight or similarity below this counts as this much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A note that a walk may begin at; *similarity* to the question is 0 to 1."""

    note: int
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A way from a note to another one.

    Attributes:
        weight: of the edge, above 0 and at most 1.
        similarity: of the target to the question, 0 to 1.
    """

    source: int
    target: int
    weight: float
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A note that was reached, the notes on the way to it (itself the last), and its score."""

    path: tuple[int, ...]
    score: float

    @property
    def note(self) -> int:
        """The note that was reached."""
        return self.path[-1]


class Graph(Protocol):
    """What is walked over."""

    def links(self, notes: Sequence[int]) -> Iterable[Link]:
        """Return the ways out of *notes*."""

    def likeness(self, note: int, others: Sequence[int]) -> Sequence[float]:
        """Return how like *note* is to each of *others*, a cosine; 0 where nobody knows."""


def walk(graph: Graph, seeds: Iterable[Seed], *, depth: int, beam: int) -> list[Visit]:
    """Return what is reached from the best *beam* of *seeds* in *depth* steps, step by step.

    Among equals the note with the higher number, which is the newer one, comes first.
    """
    starts = [Visit(path=(each.note,), score=_log(each.similarity)) for each in seeds]
    kept = _keep(graph, starts, beam)
    visits = list(kept)
    for step in range(1, depth + 1):
        reached = _reached(graph, kept, {each.note for each in visits}, step)
        kept = _keep(graph, reached, beam)
        if not kept:
            break
        visits += kept
    return visits


def leaves(visits: Iterable[Visit]) -> list[Visit]:
    """Return the visits that no path goes on from, in the order of *visits*."""
    listed = list(visits)
    passed = {each.path[-2] for each in listed if len(each.path) > 1}
    return [each for each in listed if each.note not in passed]


def _reached(graph: Graph, tips: Sequence[Visit], known: set[int], step: int) -> Iterable[Visit]:
    """Return the notes one step from *tips* that are not *known*, each by its best path."""
    by_note = {each.note: each for each in tips}
    best: dict[int, Visit] = {}
    for link in graph.links(list(by_note)):
        if link.target in known:
            continue
        visit = _step(graph, by_note[link.source], link, step)
        rival = best.get(link.target)
        if rival is None or _order(visit) < _order(rival):
            best[link.target] = visit
    return best.values()


def _step(graph: Graph, tip: Visit, link: Link, step: int) -> Visit:
    redundancy = max(0.0, *graph.likeness(link.target, tip.path))
    score = (
        tip.score
        + _log(link.weight)
        + SIMILARITY_SHARE * _log(link.similarity)
        + step * math.log(STEP_DECAY)
        - REDUNDANCY_WEIGHT * redundancy
    )
    return Visit(path=(*tip.path, link.target), score=score)


def _keep(graph: Graph, visits: Iterable[Visit], beam: int) -> list[Visit]:
    """Return the best *beam* of *visits* that do not all say the same."""
    ordered = sorted(visits, key=_order)[: RIVALS_MAX * beam]
    notes = [each.note for each in ordered]
    places = choose_diverse(
        [each.score for each in ordered],
        lambda place: graph.likeness(notes[place], notes),
        beam,
        REDUNDANCY_WEIGHT,
    )
    return [ordered[place] for place in places]


def _order(visit: Visit) -> tuple[float, list[int]]:
    """Sort the best first, ties by the newer notes."""
    return -visit.score, [-note for note in reversed(visit.path)]


def _log(share: float) -> float:
    return math.log(min(max(share, LEAST), 1.0))
