"""Counts what a profile holds."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelRole, ScopeFilter
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.events import read_last_link
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import count_by_scope, count_keywords
from graft_memstore.store.pending import count_pending


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
    for name, active, count in count_by_scope(connection):
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
        keywords=count_keywords(connection, scope),
        vectors=0 if model is None else count_vectors(connection, model.model_id),
        pending=count_pending(connection),
        events=0 if last is None else last.count,
        model="" if model is None else model.name,
    )
