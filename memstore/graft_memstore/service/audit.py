"""AuditService: tell what was done, and whether the files still agree with that."""

import re

import grpc
from typing_extensions import override

from graft.memory.v1 import audit_service_pb2 as pb
from graft.memory.v1 import audit_service_pb2_grpc
from graft.wire.errors import BadFieldError
from graft_memstore.deadline import Deadline
from graft_memstore.model import NoteId
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.admission import Admission
from graft_memstore.store import meta
from graft_memstore.store.database import Connection
from graft_memstore.store.event_pages import EventFilter, read_event_page
from graft_memstore.store.events import END_OF_EVENTS, Event, Link, read_last_link
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.trail_report import ExpectedHead, TrailReport
from graft_memstore.upkeep.verify_trail import verify_trail
from graft_memstore.write.identify import find_note
from graft_memstore.write.limits import PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX

VERIFICATIONS_MAX = 2
HASH_HEX = re.compile(r"[0-9a-f]{64}")
FULL_ID = re.compile(r"[0-9a-f]{32}")
PROFILE_ID_CHARS_MAX = 32
COUNT_MAX = 2**62


class AuditServicer(audit_service_pb2_grpc.AuditServiceServicer):
    """Answers for the trails of every profile."""

    def __init__(self, profiles: Profiles[VectorIndex]) -> None:
        self._profiles = profiles
        self._verifications = Admission(VERIFICATIONS_MAX, "compare a profile with its trail")

    @override
    def ListEvents(
        self, request: pb.ListEventsRequest, context: grpc.ServicerContext
    ) -> pb.ListEventsResponse:
        """List events."""
        if request.page_size > PAGE_SIZE_MAX:
            raise BadFieldError("page_size", f"{request.page_size}; {PAGE_SIZE_MAX} at most")
        count = request.page_size or PAGE_SIZE_DEFAULT
        before = min(request.before, END_OF_EVENTS) or END_OF_EVENTS
        seconds = Deadline.of_call(context).for_work()
        with (
            self._profiles.use(request.profile, seconds) as profile,
            profile.snapshot() as connection,
        ):
            wanted = EventFilter(
                note_id=_note_of(connection, request.note_id) if request.note_id else None,
                since_ms=request.since_ms,
                action=request.action,
            )
            # One more than asked for tells whether another page follows.
            found = read_event_page(connection, wanted, before=before, count_max=count + 1)
        more = len(found) > count
        return pb.ListEventsResponse(
            events=[_event_message(event) for event in found[:count]],
            next_before=found[count - 1].seq if more else 0,
        )

    @override
    def VerifyTrail(
        self, request: pb.VerifyTrailRequest, context: grpc.ServicerContext
    ) -> pb.VerifyTrailResponse:
        """Compare a profile with its trail."""
        expected = _expected(request.expected) if request.HasField("expected") else None
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            self._verifications.enter(deadline),
        ):
            return _report_message(verify_trail(profile, expected))

    @override
    def GetTrailHead(
        self, request: pb.GetTrailHeadRequest, context: grpc.ServicerContext
    ) -> pb.GetTrailHeadResponse:
        """Tell where the chain ends."""
        seconds = Deadline.of_call(context).for_work()
        with (
            self._profiles.use(request.profile, seconds) as profile,
            profile.snapshot() as connection,
        ):
            last = read_last_link(connection) or Link(count=0, hash=b"")
            profile_id = meta.read(connection, meta.SITE) or ""
        head = pb.TrailHead(profile_id=profile_id, count=last.count, hash=last.hash.hex())
        return pb.GetTrailHeadResponse(head=head)


def _note_of(connection: Connection, piece: str) -> NoteId:
    """Return the note that a piece of an id means; a full id may be an erased note's.

    Raises:
        ServiceError: see `find_note`.
    """
    whole = piece.strip().lower()
    return NoteId(whole) if FULL_ID.fullmatch(whole) else find_note(connection, piece, "note_id")


def _expected(head: pb.TrailHead) -> ExpectedHead:
    """Read a head that was kept elsewhere.

    Raises:
        BadFieldError: it cannot be one.
    """
    if len(head.profile_id) > PROFILE_ID_CHARS_MAX:
        raise BadFieldError("expected.profile_id", f"{head.profile_id[:80]!r} is no profile's id")
    if not 0 < head.count <= COUNT_MAX:
        raise BadFieldError("expected.count", f"{head.count}; a chain that has a head has an event")
    if not HASH_HEX.fullmatch(head.hash):
        raise BadFieldError("expected.hash", f"{head.hash[:80]!r} is not 64 lower-case hex digits")
    link = Link(count=head.count, hash=bytes.fromhex(head.hash))
    return ExpectedHead(link=link, profile_id=head.profile_id)


def _event_message(event: Event) -> pb.Event:
    return pb.Event(
        seq=event.seq,
        at_ms=event.at_ms,
        actor=event.actor,
        session=event.channel,
        door=event.door,
        action=event.action,
        note_id=event.note_id or "",
        reason=event.reason,
        count=event.count,
        digest=event.digest.hex(),
        hash=event.hash.hex(),
    )


def _report_message(report: TrailReport) -> pb.VerifyTrailResponse:
    return pb.VerifyTrailResponse(
        ok=report.ok,
        events=report.events,
        notes=report.notes,
        flaws=[
            pb.TrailFlaw(table=each.table, row=each.row, detail=each.detail)
            for each in report.flaws
        ],
        more=report.more,
        uncovered=report.uncovered,
    )
