"""The calls that tell what the memory gave, as values, and how their replies are read."""

from collections.abc import Iterable

from graft.memory.v1 import analytics_service_pb2 as pb
from graft_client.analytics_reports import (
    Analytics,
    ClearedAnalytics,
    DayCounts,
    HitCounts,
    NamedCounts,
    Percentiles,
    ReusedNote,
)
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.scope import ScopeChoice
from graft_client.times import from_milliseconds

ANALYTICS = "/graft.memory.v1.AnalyticsService"


def analytics(
    profile: str, scope: ScopeChoice, *, since_ms: int
) -> Operation[pb.GetAnalyticsResponse, Analytics]:
    """Ask what was given; *since_ms* 0 means ever."""
    with sendable():
        request = pb.GetAnalyticsRequest(
            profile=profile, scope=scope_filter(scope), since_ms=since_ms
        )
    return Operation(
        path=f"{ANALYTICS}/GetAnalytics",
        request=request,
        reply=pb.GetAnalyticsResponse,
        read=_analytics,
    )


def clear_analytics(
    profile: str, scope: ScopeChoice, *, request_id: str
) -> Operation[pb.ClearAnalyticsResponse, ClearedAnalytics]:
    """Forget it."""
    with sendable():
        request = pb.ClearAnalyticsRequest(
            profile=profile, scope=scope_filter(scope), request_id=request_id
        )
    return Operation(
        path=f"{ANALYTICS}/ClearAnalytics",
        request=request,
        reply=pb.ClearAnalyticsResponse,
        read=lambda reply: ClearedAnalytics(answers=reply.answers),
    )


def _analytics(reply: pb.GetAnalyticsResponse) -> Analytics:
    return Analytics(
        hits=_hits(reply.hits),
        days=tuple(
            DayCounts(day=from_milliseconds(each.day_ms), hits=_hits(each.hits))
            for each in reply.days
        ),
        scopes=_named(reply.scopes),
        agents=_named(reply.agents),
        doors=_named(reply.doors),
        service=_percentiles(reply.service) if reply.HasField("service") else None,
        embedder=_percentiles(reply.embedder) if reply.HasField("embedder") else None,
        reused=tuple(
            ReusedNote(id=each.id, title=each.title or None, count=each.count)
            for each in reply.reused
        ),
        notes_given=reply.notes_given,
        degraded=reply.degraded,
        first_at=from_milliseconds(reply.first_at_ms) if reply.HasField("first_at_ms") else None,
        misses_closed=reply.misses_closed,
        misses_open=reply.misses_open,
        misses_kept=reply.misses_kept,
    )


def _hits(hits: pb.HitCounts) -> HitCounts:
    total = hits.strong + hits.weak + hits.miss
    return HitCounts(
        strong=hits.strong,
        weak=hits.weak,
        miss=hits.miss,
        hit_rate=hits.strong / total if total else None,
    )


def _named(groups: Iterable[pb.NamedCounts]) -> tuple[NamedCounts, ...]:
    return tuple(NamedCounts(name=each.name, hits=_hits(each.hits)) for each in groups)


def _percentiles(values: pb.Percentiles) -> Percentiles:
    return Percentiles(p50_ms=values.p50_ms, p90_ms=values.p90_ms, p99_ms=values.p99_ms)
