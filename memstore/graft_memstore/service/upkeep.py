"""UpkeepService: find what is to be judged, do what is safe, make the edges anew."""

from collections.abc import Iterator

import grpc
from typing_extensions import override

from graft.memory.v1 import upkeep_service_pb2 as pb
from graft.memory.v1 import upkeep_service_pb2_grpc
from graft.wire.errors import BadFieldError
from graft_memstore.deadline import Deadline
from graft_memstore.model import Decision, ItemKind
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.admission import Admission
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import scope_filter_of
from graft_memstore.service.request_key import request_key
from graft_memstore.store.database import Connection
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.review_items import END_OF_ITEMS, ReviewItem
from graft_memstore.store.upkeep_reads import read_upkeep_events
from graft_memstore.upkeep.apply_safe import Applied, apply_safe, plan_safe
from graft_memstore.upkeep.consolidate import consolidate, plan_consolidation
from graft_memstore.upkeep.overview import find_keyword_variants, look_over, waiting_items
from graft_memstore.upkeep.resolve import Resolution, decisions_of, resolve_item, titles_of
from graft_memstore.upkeep.scan import IDLE_DAYS, ScanReport, scan_notes
from graft_memstore.write.identify import find_note
from graft_memstore.write.state_change import Saying
from graft_memstore.write.validate import check_scopes

SCANS_MAX = 1
"""Scans that run at once; another waits for its turn."""
ITEMS_DEFAULT = 20
ITEMS_MAX = 1_000
EVENTS_DEFAULT = 50
EVENTS_MAX = 1_000
IDLE_DAYS_MAX = 3_650


class UpkeepServicer(upkeep_service_pb2_grpc.UpkeepServiceServicer):
    """Keeps the notes of every profile in order.

    Args:
        profiles: the profiles.
        reviewer: proves who is one.
        sweeping: whether expiry is recorded and purging done in the background.
    """

    def __init__(
        self, profiles: Profiles[VectorIndex], reviewer: Reviewer, *, sweeping: bool
    ) -> None:
        self._profiles = profiles
        self._reviewer = reviewer
        self._sweeping = sweeping
        self._scans = Admission(SCANS_MAX, "scan notes")

    @override
    def GetUpkeep(
        self, request: pb.GetUpkeepRequest, context: grpc.ServicerContext
    ) -> pb.GetUpkeepResponse:
        """Tell what waits, and when upkeep was last done."""
        scope = check_scopes(scope_filter_of(request.scope))
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            seen = look_over(profile, scope)
        return pb.GetUpkeepResponse(
            waiting=_counts(seen.waiting),
            scanned_at_ms=seen.scanned_at_ms,
            applied_at_ms=seen.applied_at_ms,
            edges_waiting=seen.edges_waiting,
            sweeping=self._sweeping,
            next=seen.next,
        )

    @override
    def ScanNotes(
        self, request: pb.ScanNotesRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ScanNotesResponse]:
        """Look through the notes for what somebody should judge."""
        scope = check_scopes(scope_filter_of(request.scope))
        idle_days = request.idle_days if request.HasField("idle_days") else IDLE_DAYS
        _check_at_most("idle_days", idle_days, IDLE_DAYS_MAX)
        _check_at_most("limit", request.limit, ITEMS_MAX)
        deadline = Deadline.of_call(context)
        with (
            self._scans.enter(deadline),
            self._profiles.use(request.profile, deadline.for_work()) as profile,
        ):
            for step in scan_notes(profile, scope, idle_days, deadline):
                reply = pb.ScanNotesResponse(done=step.done, total=step.total)
                if step.report is not None:
                    reply.report.CopyFrom(_report(step.report))
                    with profile.snapshot() as connection:
                        items = waiting_items(connection, scope, request.limit or ITEMS_DEFAULT)
                        reply.report.items.extend(_item(connection, each) for each in items)
                yield reply

    @override
    def ResolveItem(
        self, request: pb.ResolveItemRequest, context: grpc.ServicerContext
    ) -> pb.ResolveItemResponse:
        """Do what was decided of one thing in the queue."""
        resolution = Resolution(
            item_id=request.item,
            decision=_decision(request.decision),
            keep=request.keep,
            key=request_key(request, request.request_id, "ResolveItem"),
            saying=Saying(caller=proved_caller(context, self._reviewer), reason=request.reason),
        )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            resolved = resolve_item(profile, resolution, deadline.for_work())
        return pb.ResolveItemResponse(
            item=resolved.item_id,
            decision=resolved.decision,
            event=resolved.event,
            change_event=resolved.change,
            changed=resolved.changed,
        )

    @override
    def ApplySafe(
        self, request: pb.ApplySafeRequest, context: grpc.ServicerContext
    ) -> pb.ApplySafeResponse:
        """Do what loses nothing."""
        scope = check_scopes(scope_filter_of(request.scope))
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            if request.dry_run:
                return _applied(plan_safe(profile, scope))
            return _applied(
                apply_safe(profile, scope, proved_caller(context, self._reviewer), deadline)
            )

    @override
    def ListUpkeepEvents(
        self, request: pb.ListUpkeepEventsRequest, context: grpc.ServicerContext
    ) -> pb.ListUpkeepEventsResponse:
        """List what upkeep did."""
        _check_at_most("limit", request.limit, EVENTS_MAX)
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            profile.snapshot() as connection,
        ):
            note_id = find_note(connection, request.note_id) if request.note_id else None
            events = read_upkeep_events(
                connection,
                before=END_OF_ITEMS,
                count_max=request.limit or EVENTS_DEFAULT,
                note_id=note_id,
            )
        return pb.ListUpkeepEventsResponse(
            events=[
                pb.UpkeepEvent(
                    event=each.seq,
                    at_ms=each.at_ms,
                    actor=each.actor,
                    door=each.door,
                    action=each.action,
                    note_id=each.note_id or "",
                    reason=each.reason,
                )
                for each in events
            ]
        )

    @override
    def Consolidate(
        self, request: pb.ConsolidateRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ConsolidateResponse]:
        """Have all edges made anew, and look for keywords that are alike."""
        scope = check_scopes(scope_filter_of(request.scope))
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            steps = (
                iter([plan_consolidation(profile)])
                if request.dry_run
                else consolidate(profile, deadline)
            )
            for step in steps:
                reply = pb.ConsolidateResponse(
                    done=step.done, total=step.total, edges=step.edges, finished=step.finished
                )
                if step.finished:
                    reply.keyword_variants = find_keyword_variants(
                        profile, scope, keep=not request.dry_run
                    )
                yield reply


def _check_at_most(field: str, value: int, most: int) -> None:
    if value > most:
        raise BadFieldError(field, f"{value}; {most:,} at most")


def _decision(word: str) -> Decision:
    try:
        return Decision(word)
    except ValueError as error:
        raise BadFieldError(
            "decision", f"{word!r} is none; give one of {', '.join(Decision)}"
        ) from error


def _counts(counts: "dict[ItemKind, int]") -> list[pb.KindCount]:
    return [pb.KindCount(kind=kind, count=count) for kind, count in counts.items() if count]


def _report(report: ScanReport) -> pb.ScanReport:
    return pb.ScanReport(
        notes=report.notes,
        waiting=report.waiting,
        found=_counts(dict(report.found)),
        new_items=report.new,
        judged_items=report.judged,
        withdrawn_items=report.withdrawn,
        truncated=report.truncated,
    )


def _item(connection: Connection, item: ReviewItem) -> pb.UpkeepItem:
    title, other_title = titles_of(connection, item)
    return pb.UpkeepItem(
        id=item.item_id,
        kind=item.kind,
        note_id=item.note_id or "",
        title=title,
        other_id=item.other_id or "",
        other_title=other_title,
        measure=item.measure or 0.0,
        differs=str(item.detail.get("differs", "")),
        variant=str(item.detail.get("variant", "")),
        keep=str(item.detail.get("keep", "")),
        decisions=decisions_of(item.kind),
    )


def _applied(applied: Applied) -> pb.ApplySafeResponse:
    return pb.ApplySafeResponse(
        merged=[pb.MergedNotes(keeper=each.keeper, losers=each.losers) for each in applied.merged],
        keywords=[
            pb.MergedKeyword(variant=each.variant, keep=each.keep) for each in applied.keywords
        ],
        notes_with_keywords=applied.notes_with_keywords,
        expired=applied.expired,
        left=applied.left,
        more=applied.more,
    )
