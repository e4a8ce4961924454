"""The calls that keep a memory in order, as values, and how their replies are read."""

from graft.memory.v1 import upkeep_service_pb2 as pb
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.scope import ScopeChoice
from graft_client.times import from_milliseconds
from graft_client.upkeep_reports import (
    Applied,
    ConsolidateStep,
    MergedKeyword,
    MergedNotes,
    Resolved,
    ScanReport,
    ScanStep,
    UpkeepDecision,
    UpkeepEvent,
    UpkeepItem,
    UpkeepStatus,
)

UPKEEP = "/graft.memory.v1.UpkeepService"


def look(profile: str, scope: ScopeChoice) -> Operation[pb.GetUpkeepResponse, UpkeepStatus]:
    """Ask what waits."""
    with sendable():
        request = pb.GetUpkeepRequest(profile=profile, scope=scope_filter(scope))
    return Operation(
        path=f"{UPKEEP}/GetUpkeep", request=request, reply=pb.GetUpkeepResponse, read=_status
    )


def scan(
    profile: str, scope: ScopeChoice, *, idle_days: int | None, limit: int
) -> Operation[pb.ScanNotesResponse, ScanStep]:
    """Look through the notes; a call that is answered with a stream."""
    with sendable():
        request = pb.ScanNotesRequest(
            profile=profile, scope=scope_filter(scope), idle_days=idle_days, limit=limit
        )
    return Operation(
        path=f"{UPKEEP}/ScanNotes", request=request, reply=pb.ScanNotesResponse, read=_step
    )


def resolve(
    profile: str, item: int, decision: UpkeepDecision, *, keep: str, reason: str, request_id: str
) -> Operation[pb.ResolveItemResponse, Resolved]:
    """Decide one thing."""
    with sendable():
        request = pb.ResolveItemRequest(
            profile=profile,
            request_id=request_id,
            item=item,
            decision=decision,
            keep=keep,
            reason=reason,
        )
    return Operation(
        path=f"{UPKEEP}/ResolveItem",
        request=request,
        reply=pb.ResolveItemResponse,
        read=lambda reply: Resolved(
            item=reply.item,
            decision=reply.decision,
            event=reply.event,
            change_event=reply.change_event,
            changed=tuple(reply.changed),
        ),
    )


def apply_safe(
    profile: str, scope: ScopeChoice, *, dry_run: bool
) -> Operation[pb.ApplySafeResponse, Applied]:
    """Do what loses nothing."""
    with sendable():
        request = pb.ApplySafeRequest(profile=profile, scope=scope_filter(scope), dry_run=dry_run)
    return Operation(
        path=f"{UPKEEP}/ApplySafe",
        request=request,
        reply=pb.ApplySafeResponse,
        read=lambda reply: _applied(reply, dry_run=dry_run),
    )


def events(
    profile: str, *, limit: int, note_id: str
) -> Operation[pb.ListUpkeepEventsResponse, tuple[UpkeepEvent, ...]]:
    """List what upkeep did."""
    with sendable():
        request = pb.ListUpkeepEventsRequest(profile=profile, limit=limit, note_id=note_id)
    return Operation(
        path=f"{UPKEEP}/ListUpkeepEvents",
        request=request,
        reply=pb.ListUpkeepEventsResponse,
        read=lambda reply: tuple(_event(each) for each in reply.events),
    )


def consolidate(
    profile: str, scope: ScopeChoice, *, dry_run: bool
) -> Operation[pb.ConsolidateResponse, ConsolidateStep]:
    """Make the edges anew; a call that is answered with a stream."""
    with sendable():
        request = pb.ConsolidateRequest(profile=profile, scope=scope_filter(scope), dry_run=dry_run)
    return Operation(
        path=f"{UPKEEP}/Consolidate",
        request=request,
        reply=pb.ConsolidateResponse,
        read=lambda reply: ConsolidateStep(
            done=reply.done,
            total=reply.total,
            edges=reply.edges,
            keyword_variants=reply.keyword_variants,
            finished=reply.finished,
        ),
    )


def _status(reply: pb.GetUpkeepResponse) -> UpkeepStatus:
    return UpkeepStatus(
        waiting={each.kind: each.count for each in reply.waiting},
        scanned_at=from_milliseconds(reply.scanned_at_ms)
        if reply.HasField("scanned_at_ms")
        else None,
        applied_at=from_milliseconds(reply.applied_at_ms)
        if reply.HasField("applied_at_ms")
        else None,
        edges_waiting=reply.edges_waiting,
        sweeping=reply.sweeping,
        next=tuple(reply.next),
    )


def _step(reply: pb.ScanNotesResponse) -> ScanStep:
    report = _report(reply.report) if reply.HasField("report") else None
    return ScanStep(done=reply.done, total=reply.total, report=report)


def _report(report: pb.ScanReport) -> ScanReport:
    return ScanReport(
        notes=report.notes,
        waiting=report.waiting,
        found={each.kind: each.count for each in report.found},
        new=report.new_items,
        judged=report.judged_items,
        withdrawn=report.withdrawn_items,
        truncated=report.truncated,
        items=tuple(_item(each) for each in report.items),
    )


def _item(item: pb.UpkeepItem) -> UpkeepItem:
    return UpkeepItem(
        id=item.id,
        kind=item.kind,
        note_id=item.note_id or None,
        title=item.title,
        other_id=item.other_id or None,
        other_title=item.other_title,
        measure=item.measure,
        differs=item.differs,
        variant=item.variant,
        keep=item.keep,
        decisions=tuple(item.decisions),
    )


def _applied(reply: pb.ApplySafeResponse, *, dry_run: bool) -> Applied:
    return Applied(
        merged=tuple(
            MergedNotes(keeper=each.keeper, losers=tuple(each.losers)) for each in reply.merged
        ),
        keywords=tuple(
            MergedKeyword(variant=each.variant, keep=each.keep) for each in reply.keywords
        ),
        notes_with_keywords=reply.notes_with_keywords,
        expired=reply.expired,
        left=reply.left,
        more=reply.more,
        dry_run=dry_run,
    )


def _event(event: pb.UpkeepEvent) -> UpkeepEvent:
    return UpkeepEvent(
        event=event.event,
        at=from_milliseconds(event.at_ms),
        actor=event.actor,
        door=event.door,
        action=event.action,
        note_id=event.note_id or None,
        reason=event.reason,
    )
