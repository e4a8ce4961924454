"""AnalyticsService: what the memory gave, summed up, and how that is forgotten."""

from collections.abc import Callable, Mapping

import grpc
from typing_extensions import override

from graft.memory.v1 import analytics_service_pb2 as pb
from graft.memory.v1 import analytics_service_pb2_grpc
from graft.wire.errors import BadFieldError
from graft_memstore.analytics import Gave, Hits, summarise
from graft_memstore.deadline import Deadline
from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.convert import caller_of, scope_filter_of
from graft_memstore.service.request_key import request_key
from graft_memstore.store.answers import read_answers
from graft_memstore.store.database import Connection
from graft_memstore.store.misses import MISSES_MAX, read_misses
from graft_memstore.store.notes import read_titles
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.scribe import Scribe
from graft_memstore.visibility import View
from graft_memstore.write.clear_answers import forget_answers
from graft_memstore.write.validate import check_scopes

SETTLE_SECONDS = 2.0
"""How long a summary waits for what has just been answered to be written."""


class AnalyticsServicer(analytics_service_pb2_grpc.AnalyticsServiceServicer):
    """Answers for every profile.

    Args:
        profiles: the notes.
        scribe_of: gives who writes down the answers of a profile, by its name.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        scribe_of: Callable[[str], Scribe | None],
    ) -> None:
        self._profiles = profiles
        self._scribe_of = scribe_of

    @override
    def GetAnalytics(
        self, request: pb.GetAnalyticsRequest, context: grpc.ServicerContext
    ) -> pb.GetAnalyticsResponse:
        """Sum up what was given."""
        scope = check_scopes(scope_filter_of(request.scope))
        if request.since_ms < 0:
            raise BadFieldError("since_ms", f"{request.since_ms}; 0 or an instant since 1970")
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            scribe = self._scribe_of(profile.name)
            if scribe is not None:
                scribe.settle(deadline.sooner(SETTLE_SECONDS))
            with profile.snapshot() as connection:
                gave = summarise(read_answers(connection, scope, request.since_ms))
                view = View(scope=scope, now_ms=profile.now_ms(connection))
                reply = _message(gave, read_titles(connection, list(gave.reused), view))
                reply.misses_closed, reply.misses_open = _misses(connection, scope, view.now_ms)
        reply.misses_kept = scribe is not None and scribe.keeps_misses
        return reply

    @override
    def ClearAnalytics(
        self, request: pb.ClearAnalyticsRequest, context: grpc.ServicerContext
    ) -> pb.ClearAnalyticsResponse:
        """Forget it."""
        key = request_key(request, request.request_id, "ClearAnalytics")
        scope = check_scopes(scope_filter_of(request.scope))
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            scribe = self._scribe_of(profile.name)
            if scribe is not None:
                scribe.settle(deadline.sooner(SETTLE_SECONDS))
            count = forget_answers(profile, scope, key, caller_of(context), deadline.for_work())
        return pb.ClearAnalyticsResponse(answers=count)


def _misses(connection: Connection, scope: ScopeFilter, now_ms: int) -> tuple[int, int]:
    """Return how many groups of questions a note may answer by now, and how many none does."""
    groups = read_misses(connection, scope, now_ms=now_ms, count_max=MISSES_MAX)
    closed = sum(each.answered_by is not None for each in groups)
    return closed, len(groups) - closed


def _message(gave: Gave, titles: Mapping[NoteId, str]) -> pb.GetAnalyticsResponse:
    return pb.GetAnalyticsResponse(
        hits=_hits(gave.hits),
        days=[pb.DayCounts(day_ms=day, hits=_hits(hits)) for day, hits in gave.by_day.items()],
        scopes=_named(gave.by_scope),
        agents=_named(gave.by_agent),
        doors=_named(gave.by_door),
        service=_percentiles(gave.service_ms),
        embedder=_percentiles(gave.embed_ms),
        reused=[
            pb.ReusedNote(id=note_id, title=titles.get(note_id, ""), count=count)
            for note_id, count in gave.reused.items()
        ],
        notes_given=gave.notes_given,
        degraded=gave.degraded,
        first_at_ms=gave.first_at_ms,
    )


def _hits(hits: Hits) -> pb.HitCounts:
    return pb.HitCounts(strong=hits.strong, weak=hits.weak, miss=hits.miss)


def _named(groups: Mapping[str, Hits]) -> list[pb.NamedCounts]:
    return [pb.NamedCounts(name=name, hits=_hits(hits)) for name, hits in groups.items()]


def _percentiles(values: tuple[float, ...]) -> pb.Percentiles | None:
    if not values:
        return None
    p50, p90, p99 = values
    return pb.Percentiles(p50_ms=p50, p90_ms=p90, p99_ms=p99)
