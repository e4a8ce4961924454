"""Counts what a profile holds."""

import json
from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelRole, ScopeFilter
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.events import read_last_link
from graft_memstore.store.models import read_model
from graft_memstore.store.pending import count_pending
from graft_memstore.store.rows import select, select_one

# Reads the index notes_by_scope whole, which is what counting takes.
SELECT_COUNTS_BY_SCOPE = """
SELECT note.scope, state.lifecycle = 'active' AS active, count(*)
FROM notes AS note INDEXED BY notes_by_scope
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
GROUP BY note.scope, active
"""

SELECT_KEYWORD_COUNT = """
SELECT count(DISTINCT carried.keyword_id)
FROM notes AS note INDEXED BY notes_by_scope
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
JOIN note_keywords AS carried ON carried.note_id = note.id AND carried.known_to IS NULL
WHERE state.lifecycle = 'active'
AND (:all_scopes OR note.scope IN (SELECT value FROM json_each(:scopes)))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a profile holds; see GetStatsResponse."""

    notes: int
    scopes: tuple[tuple[str, int], ...]
    inactive_notes: int
    notes_elsewhere: int
    keywords: int
    vectors: int
    pending: int
    events: int
    model: str


def read_stats(connection: apsw.Connection, scope: ScopeFilter) -> Stats:
    """Count the notes of *scope*, and vectors, events and what waits of the whole profile."""
    inside: dict[str, int] = {}
    inactive = elsewhere = 0
    for name, active, count in _count_by_scope(connection):
        wanted = scope.all or name in scope.scopes
        if wanted and active:
            inside[name] = count
        elif wanted:
            inactive += count
        elif active:
            elsewhere += count
    model = read_model(connection, ModelRole.SERVING)
    last = read_last_link(connection)
    return Stats(
        notes=sum(inside.values()),
        scopes=tuple(sorted(inside.items(), key=lambda item: (-item[1], item[0]))),
        inactive_notes=inactive,
        notes_elsewhere=elsewhere,
        keywords=_count_keywords(connection, scope),
        vectors=0 if model is None else count_vectors(connection, model.model_id),
        pending=count_pending(connection),
        events=0 if last is None else last.count,
        model="" if model is None else model.name,
    )


def _count_by_scope(connection: apsw.Connection) -> list[tuple[str, bool, int]]:
    """Return for every scope how many notes are in force and how many are not."""
    rows = select(connection, SELECT_COUNTS_BY_SCOPE, {})
    return [(scope, bool(active), int(count)) for scope, active, count in rows]


def _count_keywords(connection: apsw.Connection, scope: ScopeFilter) -> int:
    """Return how many keywords the notes in force carry in *scope*."""
    row = select_one(
        connection,
        SELECT_KEYWORD_COUNT,
        {"all_scopes": int(scope.all), "scopes": json.dumps(scope.scopes)},
    )
    return 0 if row is None else int(row[0])
