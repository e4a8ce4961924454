"""The calls that tell what was done, as values."""

from dataclasses import dataclass

from graft.memory.v1 import audit_service_pb2 as pb
from graft_client import history_replies
from graft_client.history import EventPage, LogHead, LogReport
from graft_client.operation import Operation, sendable

AUDIT = "/graft.memory.v1.AuditService"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which events are wanted.

    Attributes:
        note_id: those of this note; empty: all.
        since_ms: those at or after this instant; 0: all.
        action: those of this action; empty: all.
        page_events: events in a page; 0: the service's own figure.
    """

    note_id: str = ""
    since_ms: int = 0
    action: str = ""
    page_events: int = 0


def log_page(
    profile: str, wanted: LogFilter, before: int
) -> Operation[pb.ListEventsResponse, EventPage]:
    """Fetch a page of events before one; 0: from the newest on."""
    with sendable():
        request = pb.ListEventsRequest(
            profile=profile,
            note_id=wanted.note_id,
            since_ms=wanted.since_ms,
            action=wanted.action,
            page_size=wanted.page_events,
            before=before,
        )
    return Operation(
        path=f"{AUDIT}/ListEvents",
        request=request,
        reply=pb.ListEventsResponse,
        read=history_replies.event_page,
    )


def verify_log(
    profile: str, expected: LogHead | None
) -> Operation[pb.VerifyTrailResponse, LogReport]:
    """Compare a profile with its log, and that with a head that was kept elsewhere."""
    with sendable():
        head = None
        if expected is not None:
            head = pb.TrailHead(
                profile_id=expected.profile_id, count=expected.count, hash=expected.hash
            )
        request = pb.VerifyTrailRequest(profile=profile, expected=head)
    return Operation(
        path=f"{AUDIT}/VerifyTrail",
        request=request,
        reply=pb.VerifyTrailResponse,
        read=history_replies.log_report,
    )


def log_head(profile: str) -> Operation[pb.GetTrailHeadResponse, LogHead]:
    """Ask where the log ends."""
    with sendable():
        request = pb.GetTrailHeadRequest(profile=profile)
    return Operation(
        path=f"{AUDIT}/GetTrailHead",
        request=request,
        reply=pb.GetTrailHeadResponse,
        read=history_replies.log_head,
    )
