"""Counts what a profile holds."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelRole
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.events import read_last_seq
from graft_memstore.store.models import read_model
from graft_memstore.store.pending import count_pending
from graft_memstore.store.rows import select, select_one
from graft_memstore.visibility import CONDITION, View

# Reads the index notes_by_scope whole, which is what counting takes.
SELECT_COUNTS_BY_SCOPE = (
    "SELECT note.scope, "
    + CONDITION
    + """ = 'shown' AS shown, count(*)
FROM notes AS note INDEXED BY notes_by_scope
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
GROUP BY note.scope, shown
"""
)

SELECT_KEYWORD_COUNT = (
    "SELECT count(DISTINCT carried.keyword_id)"  # noqa: S608 - joined at import, from constants alone
    """
FROM notes AS note INDEXED BY notes_by_scope
JOIN note_states AS state ON state.note_id = note.id AND state.known_to IS NULL
JOIN note_keywords AS carried ON carried.note_id = note.id AND carried.known_to IS NULL
WHERE (:all_scopes OR note.scope IN (SELECT value FROM json_each(:scopes)))
AND """ + CONDITION + "= 'shown'"
)


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


def read_stats(connection: apsw.Connection, view: View) -> Stats:
    """Count the notes of *view*, and vectors, events and what waits of the whole profile."""
    scope, inside = view.scope, dict[str, int]()
    inactive = elsewhere = 0
    for name, shown, count in count_by_scope(connection, view):
        wanted = scope.all or name in scope.scopes
        if wanted and shown:
            inside[name] = count
        elif wanted:
            inactive += count
        elif shown:
            elsewhere += count
    model = read_model(connection, ModelRole.SERVING)
    return Stats(
        notes=sum(inside.values()),
        scopes=tuple(sorted(inside.items(), key=lambda item: (-item[1], item[0]))),
        inactive_notes=inactive,
        notes_elsewhere=elsewhere,
        keywords=_count_keywords(connection, view),
        vectors=0 if model is None else count_vectors(connection, model.model_id),
        pending=count_pending(connection),
        events=read_last_seq(connection),
        model="" if model is None else model.name,
    )


def count_by_scope(connection: apsw.Connection, view: View) -> list[tuple[str, bool, int]]:
    """Return for every scope how many notes searches show and how many they do not."""
    rows = select(connection, SELECT_COUNTS_BY_SCOPE, view.parameters())
    return [(scope, bool(shown), int(count)) for scope, shown, count in rows]


def _count_keywords(connection: apsw.Connection, view: View) -> int:
    """Return how many keywords the notes that *view* shows carry."""
    row = select_one(connection, SELECT_KEYWORD_COUNT, view.parameters())
    return 0 if row is None else int(row[0])
