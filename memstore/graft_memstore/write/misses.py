"""Groups questions that nothing answered, and finds those that a new note may answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from graft_memstore.fusion import DEVIATION_MIN
from graft_memstore.lexical import FUNCTION_WORDS, fold_question
from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.store.database import Connection
from graft_memstore.store.misses import (
    AskedBefore,
    MissId,
    MissVector,
    NewMiss,
    count_again,
    count_open,
    find_by_words,
    groups_of_scopes,
    groups_seeing,
    insert_miss,
    keep_vector,
    set_answered,
)

PROJECT = "project:"
QUESTION_CHARS_MAX = 1_000
"""Of a longer question the beginning is kept."""
NEAR_STANDING = 2.5
"""Standard deviations from which two questions that share words ask the same."""
SHARED_WORDS = 0.2
"""Share of the words of both that they have in common then."""
ALONE_STANDING = 4.5
"""Standard deviations from which they need share none.

Both bounds were chosen on the questions of bench/gate with the starter: in one scope with 500
groups, one question in six joins a group of another subject.
"""
ANSWERS_STANDING = 3.0
"""Standard deviations from which a note's title may answer a question.

Chosen likewise: with 500 questions waiting, all of its own field, one note in seven names one that
is of another subject. It does not tell a note that answers from one on another side of the same
subject.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A question whose answer was MISS.

    Attributes:
        text: its telling part.
        vector: of that; None where it could not be had.
    """

    text: str
    scope: ScopeFilter
    vector: MissVector | None
    at_ms: int


def keep_misses(connection: Connection, missed: Iterable[Missed]) -> None:
    """Count each question to the group that asks the same in the same scopes, or begin one.

    Without a vector only questions of the same words are the same.
    """
    groups: dict[tuple[ScopeFilter, str], list[AskedBefore]] = {}
    for each in missed:
        question = each.text[:QUESTION_CHARS_MAX]
        miss = NewMiss(
            scope=_home_of(each.scope),
            question=question,
            words_hash=_words_hash(question),
            vector=each.vector,
            at_ms=each.at_ms,
        )
        same_words = find_by_words(connection, miss)
        if same_words is not None:
            count_again(connection, same_words, miss.at_ms)
            if miss.vector is not None:
                # It may have come when there was no model, or another one.
                keep_vector(connection, same_words, miss.vector)
        elif miss.vector is None:
            insert_miss(connection, miss)
        else:
            place = (miss.scope, miss.vector.model)
            if place not in groups:
                groups[place] = groups_of_scopes(connection, *place)
            _keep_near(connection, miss, miss.vector, groups[place])


def _keep_near(
    connection: Connection, miss: NewMiss, vector: MissVector, groups: list[AskedBefore]
) -> None:
    """Count a question to the nearest of *groups*, or add a new one to them."""
    nearest = _nearest_group(miss.question, vector, groups)
    if nearest is not None:
        count_again(connection, nearest, miss.at_ms)
        return
    groups.append(
        AskedBefore(
            miss_id=insert_miss(connection, miss),
            mean=vector.mean,
            deviation=vector.deviation,
            values=vector.values,
            question=miss.question,
        )
    )


def find_answered(
    connection: Connection, model: str, titles: Sequence[tuple[str, bytes]]
) -> list[tuple[MissId, ...]]:
    """Return for each title, given with its note's scope, the groups that it may answer.

    Args:
        connection: of a reader: nothing of this belongs into the transaction of an insert.
        model: identity of the model that made the titles' vectors.
        titles: scope and vector of each.
    """
    scopes = {scope for scope, _ in titles}
    waiting = {scope: groups_seeing(connection, scope, model) for scope in scopes}
    found = []
    for scope, vector in titles:
        standings = _standings(waiting[scope], vector)
        near = np.flatnonzero(standings >= ANSWERS_STANDING).tolist()
        found.append(tuple(waiting[scope][place].miss_id for place in near))
    return found


def mark_answered(
    connection: Connection, miss_ids: Sequence[MissId], note_id: NoteId, now_ms: int
) -> int:
    """Note that a note may answer groups; return how many open questions it closes.

    A note that cannot be seen now closes none.
    """
    if not miss_ids:
        return 0
    before = count_open(connection, miss_ids, now_ms)
    set_answered(connection, miss_ids, note_id)
    return before - count_open(connection, miss_ids, now_ms)


def _home_of(scope: ScopeFilter) -> ScopeFilter:
    """Return where a question is at home: a project that has a remote is not its folder.

    A read looks at both names of a project; by its folder alone, two clones of one repository
    would never hear of each other's questions.
    """
    remotes = [each for each in scope.scopes if each.startswith(PROJECT) and not _is_folder(each)]
    kept = tuple(each for each in scope.scopes if not (remotes and _is_folder(each)))
    return ScopeFilter(scopes=kept, all=scope.all)


def _is_folder(scope: str) -> bool:
    return scope.startswith(f"{PROJECT}/")


def _words_hash(question: str) -> bytes:
    """Return a hash that questions of the same words share, however they are written."""
    terms = sorted(fold_question(question).terms)
    told = "\n".join(terms) if terms else question.strip()
    return blake3(told.encode("utf-8", "surrogatepass")).digest()


def _nearest_group(
    question: str, vector: MissVector, groups: Sequence[AskedBefore]
) -> MissId | None:
    """Return the group whose first question is nearest, if it is near enough."""
    standings = _standings(groups, vector.values)
    words = _telling_words(question)
    for place in np.argsort(-standings, kind="stable").tolist():
        group, standing = groups[int(place)], float(standings[place])
        if standing < NEAR_STANDING:
            return None
        shared = _shared(words, _telling_words(group.question))
        if standing >= ALONE_STANDING or shared >= SHARED_WORDS:
            return group.miss_id
    return None


def _standings(groups: Sequence[AskedBefore], vector: bytes) -> NDArray[np.float64]:
    """Return how many deviations above each group's background a vector lies."""
    if not groups:
        return np.empty(0)
    rows = np.frombuffer(b"".join(each.values for each in groups), dtype="<f4")
    cosines = rows.reshape(len(groups), -1) @ np.frombuffer(vector, dtype="<f4")
    means = np.array([each.mean for each in groups])
    deviations = np.array([max(each.deviation, DEVIATION_MIN) for each in groups])
    standings: NDArray[np.float64] = (cosines - means) / deviations
    return standings


def _telling_words(question: str) -> frozenset[str]:
    return frozenset(fold_question(question).terms) - FUNCTION_WORDS


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left or right else 0.0
