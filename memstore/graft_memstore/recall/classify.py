"""Suggests keywords for a draft from those of the notes nearest to its title."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from graft_memstore.fusion import blend, standing
from graft_memstore.lexical import CJK_RUN, fold, words_of
from graft_memstore.recall.answer import Question
from graft_memstore.recall.arms import gather
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.vector_arm import VectorSearch, find_near
from graft_memstore.store.database import Connection
from graft_memstore.store.keywords import count_carriers
from graft_memstore.store.search import found_notes, last_seq

NEIGHBOURS_WANTED = 48
"""Nearest notes whose keywords are considered."""
WEIGHED_MAX = 64
"""Keywords, those that most speaks for, whose rarity is looked up."""
CARRIERS_MAX = 256
"""The notes that carry a keyword are counted no further than this."""
IN_TITLE_FACTOR = 5.0
"""What it counts for that the draft's title has a keyword in it."""
SUGGESTED_MIN = 3
"""So many are suggested where there are so many, however little speaks for the last."""
SUGGESTED_MAX = 6
SHARE_MIN = 0.3
"""Beyond those, a keyword is suggested when this share of what speaks for the first does for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A keyword, and what speaks for it as a share of what speaks for the first one."""

    keyword: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifyAnswer:
    """Keywords for a draft, best first, and the arms that could not be had."""

    suggestions: tuple[Suggestion, ...]
    degraded: tuple[str, ...]


def classify(connection: Connection, index: VectorIndex | None, draft: Question) -> ClassifyAnswer:
    """Return keywords for a *draft*, whose focus is its title, from the open snapshot.

    Each neighbour speaks for its keywords by how far it stands out; a rare keyword counts more than
    one that most notes carry, and one that stands in the title more than another.
    """
    neighbours, degraded = _neighbours(connection, index, draft)
    eligible = draft.every_note
    spoken: dict[str, float] = {}
    for seq, note in found_notes(connection, neighbours, eligible).items():
        for keyword in note.keywords:
            spoken[keyword] = spoken.get(keyword, 0.0) + neighbours[seq]
    weighed = _weighed(connection, draft, spoken)
    return ClassifyAnswer(suggestions=tuple(_chosen(weighed)), degraded=degraded)


def _neighbours(
    connection: Connection, index: VectorIndex | None, draft: Question
) -> tuple[dict[int, float], tuple[str, ...]]:
    """Return how far the notes near to a draft stand out, by their seq, and what was missing."""
    if index is not None and draft.vector is not None:
        search = VectorSearch(
            connection=connection,
            index=index,
            vector=draft.vector,
            eligible=draft.every_note,
            wanted=NEIGHBOURS_WANTED,
        )
        near = find_near(search)
        background = blend(draft.prior, near.background)
        nearest = list(near.cosines.items())[:NEIGHBOURS_WANTED]
        found = {seq: standing(cosine, background) for seq, cosine in nearest}
        degraded: tuple[str, ...] = ()
    else:
        gathered = gather(connection, index, draft, NEIGHBOURS_WANTED)
        best = gathered.ranked[:NEIGHBOURS_WANTED]
        found = {each.scores.seq: each.score for each in best}
        degraded = gathered.degraded
    return {seq: score for seq, score in found.items() if score > 0.0}, degraded


def _weighed(
    connection: Connection, draft: Question, spoken: Mapping[str, float]
) -> dict[str, float]:
    """Return what speaks for each keyword with its rarity, and the draft's words, counted in."""
    title = fold(draft.said.focus)
    words = frozenset(words_of(title))
    best = sorted(spoken, key=lambda each: (-spoken[each], each))
    # What stands in the title is never left out for being carried by few of the neighbours.
    named = [each for each in best if _is_in(fold(each), title, words)]
    looked_up = list(dict.fromkeys([*named, *best]))[:WEIGHED_MAX]
    carriers = count_carriers(connection, looked_up, draft.every_note, CARRIERS_MAX)
    notes = last_seq(connection)
    return {
        keyword: spoken[keyword]
        * math.log1p(notes / count)
        * (IN_TITLE_FACTOR if keyword in named else 1.0)
        for keyword, count in carriers.items()
        if count
    }


def _is_in(keyword: str, title: str, words: frozenset[str]) -> bool:
    """Tell whether a title has a keyword in it; both are folded."""
    if CJK_RUN.fullmatch(keyword):
        # Written without spaces, so that it is no word of its own.
        return keyword in title
    parts = frozenset(words_of(keyword))
    return bool(parts) and parts <= words


def _chosen(weighed: Mapping[str, float]) -> list[Suggestion]:
    best = sorted(weighed, key=lambda each: (-weighed[each], each))[:SUGGESTED_MAX]
    return [
        Suggestion(keyword=keyword, score=weighed[keyword] / weighed[best[0]])
        for place, keyword in enumerate(best)
        if place < SUGGESTED_MIN or weighed[keyword] >= SHARE_MIN * weighed[best[0]]
    ]
