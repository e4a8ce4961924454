"""Questions that nothing answered, grouped: what people typed, in this table alone."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NewType

import apsw

from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.store.rows import change, select, select_one
from graft_memstore.visibility import VISIBLE, View

MISSES_MAX = 500
"""Groups that are kept; the one that was asked longest ago makes room for a new one."""

MissId = NewType("MissId", int)
"""Number of a group of questions inside one profile, never used twice."""

INSERT_MISS = """
INSERT INTO misses (
    scopes, all_scopes, words_hash, count, first_at, last_at, model, mean, deviation, vector,
    question
) VALUES (
    :scopes, :all_scopes, :words_hash, 1, :at, :at, :model, :mean, :deviation, :vector, :question
)
"""

# A question that missed again was not answered by what seemed to answer it.
UPDATE_ASKED_AGAIN = """
UPDATE misses SET count = count + 1, last_at = :at, answered_by = NULL WHERE miss_id = :miss_id
"""

UPDATE_VECTOR = """
UPDATE misses SET model = :model, mean = :mean, deviation = :deviation, vector = :vector
WHERE miss_id = :miss_id AND model IS NOT :model
"""

DELETE_OLD_MISSES = """
DELETE FROM misses WHERE miss_id IN (
    SELECT miss_id FROM misses ORDER BY last_at
    LIMIT max(0, (SELECT count(*) FROM misses) - :count_max)
)
"""

SELECT_MISS_BY_WORDS = """
SELECT miss_id FROM misses
WHERE scopes = :scopes AND all_scopes = :all_scopes AND words_hash = :words_hash
"""

# misses_by_words by its first two columns.
SELECT_MISSES_OF_SCOPES = """
SELECT miss_id, mean, deviation, vector, question FROM misses
WHERE scopes = :scopes AND all_scopes = :all_scopes AND model = :model
"""

# Reads the table whole, which holds `MISSES_MAX` rows at most; the vectors of other scopes' rows,
# which lie behind, are not touched.
SELECT_MISSES_SEEING = """
SELECT miss_id, mean, deviation, vector FROM misses
WHERE model = :model
  AND (all_scopes OR EXISTS (
      SELECT 1 FROM json_each(misses.scopes) AS asked WHERE asked.value = :scope
  ))
"""

# A question is told where every scope that it was asked in is looked at, and nowhere else.
_OF_SCOPES = """
(:all_scopes OR (NOT misses.all_scopes AND NOT EXISTS (
    SELECT 1 FROM json_each(misses.scopes) AS asked
    WHERE asked.value NOT IN (SELECT value FROM json_each(:scopes))
)))
"""

# Reads the table whole, as above.
SELECT_MISSES = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT misses.question, misses.count, misses.first_at, misses.last_at, misses.scopes,
       misses.all_scopes,
       (SELECT visible.note_id FROM visible WHERE visible.note_id = misses.answered_by) AS answer
FROM misses
WHERE """
    + _OF_SCOPES
    + """
ORDER BY answer IS NOT NULL, misses.count DESC, misses.last_at DESC, misses.miss_id DESC
LIMIT :count_max
"""
)

SELECT_OPEN_COUNT = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT ifnull(sum(misses.count), 0)
FROM json_each(:miss_ids) AS wanted
CROSS JOIN misses ON misses.miss_id = wanted.value
WHERE NOT EXISTS (SELECT 1 FROM visible WHERE visible.note_id = misses.answered_by)
"""
)

UPDATE_ANSWERED = """
UPDATE misses SET answered_by = :note_id
WHERE miss_id IN (SELECT value FROM json_each(:miss_ids))
"""

# Reads the table whole, as above.
SELECT_CLEARABLE = (
    "SELECT count(*), ifnull(sum(misses.count), 0) FROM misses WHERE "  # noqa: S608 - as above
    + _OF_SCOPES
)
DELETE_MISSES = "DELETE FROM misses WHERE " + _OF_SCOPES  # noqa: S608 - as above


@dataclass(frozen=True, slots=True, kw_only=True)
class MissVector:
    """A question's vector.

    Attributes:
        model: identity of the model that made it.
        mean, deviation: of the question's cosines with unrelated texts.
        values: as in `ChunkRow`.
    """

    model: str
    mean: float
    deviation: float
    values: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMiss:
    """A question that nothing answered."""

    scope: ScopeFilter
    question: str
    words_hash: bytes
    vector: MissVector | None
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBefore:
    """The first question of a group, to be compared with another one, or with a note."""

    miss_id: MissId
    mean: float
    deviation: float
    values: bytes
    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissGroup:
    """Questions that ask the same.

    Attributes:
        question: the beginning of the first of them.
        answered_by: a note that came later and may answer it; None while there is none to be seen.
    """

    question: str
    count: int
    first_at_ms: int
    last_at_ms: int
    scope: ScopeFilter
    answered_by: NoteId | None


def insert_miss(connection: apsw.Connection, miss: NewMiss) -> MissId:
    """Begin a group with a question, whose words no group of its scopes may have."""
    change(
        connection,
        INSERT_MISS,
        _scope_key(miss.scope)
        | _vector_columns(miss.vector)
        | {"words_hash": miss.words_hash, "at": miss.at_ms, "question": miss.question},
    )
    return MissId(connection.last_insert_rowid())


def count_again(connection: apsw.Connection, miss_id: MissId, at_ms: int) -> None:
    """Note that a group's question was asked again in vain."""
    change(connection, UPDATE_ASKED_AGAIN, {"miss_id": miss_id, "at": at_ms})


def keep_vector(connection: apsw.Connection, miss_id: MissId, vector: MissVector) -> None:
    """Give a group the vector of a question with its words, unless it has one of that model."""
    change(connection, UPDATE_VECTOR, _vector_columns(vector) | {"miss_id": miss_id})


def delete_old_misses(connection: apsw.Connection) -> None:
    """Forget all groups but the `MISSES_MAX` that were asked last."""
    change(connection, DELETE_OLD_MISSES, {"count_max": MISSES_MAX})


def find_by_words(connection: apsw.Connection, miss: NewMiss) -> MissId | None:
    """Return the group of the same scopes whose first question has the same words."""
    wanted = _scope_key(miss.scope) | {"words_hash": miss.words_hash}
    row = select_one(connection, SELECT_MISS_BY_WORDS, wanted)
    return None if row is None else MissId(row[0])


def groups_of_scopes(
    connection: apsw.Connection, scope: ScopeFilter, model: str
) -> list[AskedBefore]:
    """Return the groups of exactly these scopes that have a vector of *model*."""
    rows = select(connection, SELECT_MISSES_OF_SCOPES, _scope_key(scope) | {"model": model})
    return [
        AskedBefore(
            miss_id=MissId(miss_id),
            mean=mean,
            deviation=deviation,
            values=values,
            question=question,
        )
        for miss_id, mean, deviation, values, question in rows
    ]


def groups_seeing(connection: apsw.Connection, scope: str, model: str) -> list[AskedBefore]:
    """Return the groups that a note of *scope* could answer and that have a vector of *model*."""
    rows = select(connection, SELECT_MISSES_SEEING, {"scope": scope, "model": model})
    return [
        AskedBefore(miss_id=MissId(miss_id), mean=mean, deviation=deviation, values=values)
        for miss_id, mean, deviation, values in rows
    ]


def read_misses(
    connection: apsw.Connection, scope: ScopeFilter, *, now_ms: int, count_max: int
) -> list[MissGroup]:
    """Return the groups that may be told in *scope*: open ones first, most asked first."""
    wanted = View(scope=scope, now_ms=now_ms).parameters() | {"count_max": count_max}
    return [
        MissGroup(
            question=question,
            count=count,
            first_at_ms=first_at,
            last_at_ms=last_at,
            scope=ScopeFilter(scopes=tuple(json.loads(scopes)), all=bool(all_scopes)),
            answered_by=None if answer is None else NoteId(answer),
        )
        for question, count, first_at, last_at, scopes, all_scopes, answer in select(
            connection, SELECT_MISSES, wanted
        )
    ]


def count_open(connection: apsw.Connection, miss_ids: Iterable[MissId], now_ms: int) -> int:
    """Return how many questions of the groups listed no note that can be seen answers."""
    wanted = View(scope=ScopeFilter(all=True), now_ms=now_ms).parameters()
    row = select_one(
        connection, SELECT_OPEN_COUNT, wanted | {"miss_ids": json.dumps(list(miss_ids))}
    )
    return int(row[0]) if row else 0


def set_answered(connection: apsw.Connection, miss_ids: Sequence[MissId], note_id: NoteId) -> None:
    """Note that a note may answer the groups listed."""
    change(connection, UPDATE_ANSWERED, {"miss_ids": json.dumps(miss_ids), "note_id": note_id})


def clear_misses(connection: apsw.Connection, scope: ScopeFilter) -> tuple[int, int]:
    """Forget what may be told in *scope*; return how many groups that were, and questions."""
    wanted: dict[str, str | int] = {
        "scopes": json.dumps(scope.scopes),
        "all_scopes": int(scope.all),
    }
    row = select_one(connection, SELECT_CLEARABLE, wanted)
    change(connection, DELETE_MISSES, wanted)
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _vector_columns(vector: MissVector | None) -> dict[str, str | int | float | bytes | None]:
    return {
        "model": vector.model if vector else None,
        "mean": vector.mean if vector else None,
        "deviation": vector.deviation if vector else None,
        "vector": vector.values if vector else None,
    }


def _scope_key(scope: ScopeFilter) -> dict[str, str | int | float | bytes | None]:
    """Return how the scopes of a question are kept: the same however they were listed."""
    listed = [] if scope.all else sorted(set(scope.scopes))
    return {"scopes": json.dumps(listed), "all_scopes": int(scope.all)}
