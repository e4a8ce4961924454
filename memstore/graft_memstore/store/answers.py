"""What the gate answered: a row for each question, of the last ones alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from graft_memstore.gate import Hit
from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.store.rows import Parameters, change, select

ANSWERS_MAX = 100_000
"""Answers that are kept, about 12 MB; the oldest make room for new ones."""
ALL_SCOPES = "*"

INSERT_ANSWER = """
INSERT INTO answers (at, scope, door, agent, hit, note_id, degraded, service_ms, embed_ms)
VALUES (:at, :scope, :door, :agent, :hit, :note_id, :degraded, :service_ms, :embed_ms)
"""

DELETE_OLD_ANSWERS = """
DELETE FROM answers WHERE seq <= (SELECT max(seq) FROM answers) - :count_max
"""

DELETE_ANSWERS = """
DELETE FROM answers
WHERE :all_scopes OR scope IN (SELECT value FROM json_each(:scopes))
"""

# answers_by_time
SELECT_ANSWERS = """
SELECT at, scope, door, agent, hit, note_id, degraded, service_ms, embed_ms
FROM answers INDEXED BY answers_by_time
WHERE at >= :since AND (:all_scopes OR scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """One answer of the gate, without what was asked.

    Attributes:
        scope: the first scope that was looked at; "*" for all.
        agent: as the caller names itself; empty where it does not.
        note_id: of the answer; None on MISS.
        degraded: an arm could not be had.
        service_ms: milliseconds that it took, *embed_ms* of them in the embedder.
    """

    at_ms: int
    scope: str
    door: str
    agent: str
    hit: Hit
    note_id: NoteId | None
    degraded: bool
    service_ms: float
    embed_ms: float


def insert_answers(connection: apsw.Connection, answers: Sequence[GivenAnswer]) -> None:
    """Keep answers, and forget all but the newest `ANSWERS_MAX`."""
    for each in answers:
        row: Parameters = {
            "at": each.at_ms,
            "scope": each.scope,
            "door": each.door,
            "agent": each.agent,
            "hit": each.hit,
            "note_id": each.note_id,
            "degraded": int(each.degraded),
            "service_ms": each.service_ms,
            "embed_ms": each.embed_ms,
        }
        change(connection, INSERT_ANSWER, row)
    if answers:
        change(connection, DELETE_OLD_ANSWERS, {"count_max": ANSWERS_MAX})


def read_answers(
    connection: apsw.Connection, scope: ScopeFilter, since_ms: int
) -> list[GivenAnswer]:
    """Return the answers of *scope* from an instant on, oldest first."""
    return [
        GivenAnswer(
            at_ms=at,
            scope=name,
            door=door,
            agent=agent,
            hit=Hit(hit),
            note_id=None if note_id is None else NoteId(note_id),
            degraded=bool(degraded),
            service_ms=service_ms,
            embed_ms=embed_ms,
        )
        for at, name, door, agent, hit, note_id, degraded, service_ms, embed_ms in select(
            connection, SELECT_ANSWERS, {**_scopes(scope), "since": since_ms}
        )
    ]


def delete_answers(connection: apsw.Connection, scope: ScopeFilter) -> int:
    """Forget the answers of *scope*; return how many there were."""
    return change(connection, DELETE_ANSWERS, _scopes(scope))


def _scopes(scope: ScopeFilter) -> dict[str, str | int | None]:
    return {"all_scopes": int(scope.all), "scopes": json.dumps(scope.scopes)}
