"""How replies that tell what became of notes turn into plain results."""

from dataclasses import fields

from graft.memory.v1 import audit_service_pb2, notes_service_pb2
from graft_client import replies
from graft_client.history import (
    Event,
    EventPage,
    GotNote,
    LogFlaw,
    LogHead,
    LogReport,
    Uses,
)
from graft_client.results import Note
from graft_client.times import from_milliseconds


def got_note(reply: notes_service_pb2.GetNoteResponse) -> GotNote:
    """Read a note that was asked for by its id."""
    note = replies.note(reply.note)
    facts = {each.name: getattr(note, each.name) for each in fields(Note)}
    return GotNote(**facts, uses=_uses(reply.uses), notices=replies.notices(reply.notices))


def _uses(reply: notes_service_pb2.NoteUses) -> Uses:
    last_used = from_milliseconds(reply.last_at_ms) if reply.HasField("last_at_ms") else None
    return Uses(strong=reply.strong, got=reply.got, last_used=last_used)


def event_page(reply: audit_service_pb2.ListEventsResponse) -> EventPage:
    """Read a page of events."""
    return EventPage(
        events=tuple(
            Event(
                event=each.seq,
                at=from_milliseconds(each.at_ms),
                actor=each.actor,
                session=each.session or None,
                door=each.door,
                action=each.action,
                note_id=each.note_id or None,
                reason=each.reason,
                count=each.count,
                digest=each.digest,
                hash=each.hash,
            )
            for each in reply.events
        ),
        next_before=reply.next_before,
    )


def log_head(reply: audit_service_pb2.GetTrailHeadResponse) -> LogHead:
    """Read where a log ends."""
    head = reply.head
    return LogHead(profile_id=head.profile_id, count=head.count, hash=head.hash)


def log_report(reply: audit_service_pb2.VerifyTrailResponse) -> LogReport:
    """Read what came of comparing."""
    return LogReport(
        ok=reply.ok,
        events=reply.events,
        notes=reply.notes,
        flaws=tuple(
            LogFlaw(table=each.table, row=each.row, detail=each.detail) for each in reply.flaws
        ),
        more=reply.more,
        uncovered=tuple(reply.uncovered),
    )
