"""The calls that change what notes are worth, as values."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from graft.memory.v1 import lifecycle_service_pb2 as pb
from graft_client.operation import Operation, sendable
from graft_client.replies import given_to, instant_of
from graft_client.requests import KeywordChanges, TimeFields
from graft_client.results import Changed
from graft_client.times import to_milliseconds
from graft_client.vocabulary import STATES, TRUSTS

LIFECYCLE = "/graft.memory.v1.LifecycleService"

Verb = Literal["retire", "restore", "reject", "dispute", "mark-stale"]

ChangeRequest = (
    pb.RetireNoteRequest
    | pb.RestoreNoteRequest
    | pb.RejectNoteRequest
    | pb.DisputeNoteRequest
    | pb.MarkNoteStaleRequest
)
ChangeResponse = (
    pb.RetireNoteResponse
    | pb.RestoreNoteResponse
    | pb.RejectNoteResponse
    | pb.DisputeNoteResponse
    | pb.MarkNoteStaleResponse
)

_METHODS: dict[Verb, tuple[str, type[ChangeRequest], type[ChangeResponse]]] = {
    "retire": ("RetireNote", pb.RetireNoteRequest, pb.RetireNoteResponse),
    "restore": ("RestoreNote", pb.RestoreNoteRequest, pb.RestoreNoteResponse),
    "reject": ("RejectNote", pb.RejectNoteRequest, pb.RejectNoteResponse),
    "dispute": ("DisputeNote", pb.DisputeNoteRequest, pb.DisputeNoteResponse),
    "mark-stale": ("MarkNoteStale", pb.MarkNoteStaleRequest, pb.MarkNoteStaleResponse),
}


def say(
    profile: str, verb: Verb, note_id: str, *, reason: str, request_id: str
) -> Operation[ChangeResponse, Changed]:
    """Say *verb* of a note."""
    method, request_class, reply_class = _METHODS[verb]
    with sendable():
        request = request_class(profile=profile, request_id=request_id, id=note_id, reason=reason)
    return Operation(
        path=f"{LIFECYCLE}/{method}", request=request, reply=reply_class, read=_changed
    )


def supersede(
    profile: str, note_id: str, *, by: str, reason: str, request_id: str
) -> Operation[pb.SupersedeNoteResponse, Changed]:
    """Put the note *by* in the place of another."""
    with sendable():
        request = pb.SupersedeNoteRequest(
            profile=profile, request_id=request_id, id=note_id, reason=reason, by=by
        )
    return Operation(
        path=f"{LIFECYCLE}/SupersedeNote",
        request=request,
        reply=pb.SupersedeNoteResponse,
        read=lambda reply: changed_note(reply.note, superseded_by=reply.superseded_by or None),
    )


def set_times(
    profile: str, note_id: str, times: TimeFields, *, reason: str, request_id: str
) -> Operation[pb.SetNoteTimesResponse, Changed]:
    """Set those of a note's times that are among *times*."""
    with sendable():
        request = pb.SetNoteTimesRequest(
            profile=profile,
            request_id=request_id,
            id=note_id,
            reason=reason,
            valid_from=_time(times["valid_from"]) if "valid_from" in times else None,
            valid_to=_time(times["valid_to"]) if "valid_to" in times else None,
            expires_at=_time(times["expires_at"]) if "expires_at" in times else None,
        )
    return Operation(
        path=f"{LIFECYCLE}/SetNoteTimes",
        request=request,
        reply=pb.SetNoteTimesResponse,
        read=lambda reply: changed_note(reply.note),
    )


def set_keywords(
    profile: str,
    note_id: str,
    keywords: KeywordChanges,
    *,
    reason: str,
    request_id: str,
) -> Operation[pb.SetNoteKeywordsResponse, Changed]:
    """Give a note keywords and take others away."""
    with sendable():
        request = pb.SetNoteKeywordsRequest(
            profile=profile,
            request_id=request_id,
            id=note_id,
            reason=reason,
            add=keywords.add,
            remove=keywords.remove,
        )
    return Operation(
        path=f"{LIFECYCLE}/SetNoteKeywords",
        request=request,
        reply=pb.SetNoteKeywordsResponse,
        read=lambda reply: replace(changed_note(reply.note), keywords=tuple(reply.keywords)),
    )


def undo(
    profile: str, event: int, *, reason: str, request_id: str
) -> Operation[pb.UndoEventResponse, Changed]:
    """Take back the last change of a note."""
    with sendable():
        request = pb.UndoEventRequest(
            profile=profile, request_id=request_id, event=event, reason=reason
        )
    return Operation(
        path=f"{LIFECYCLE}/UndoEvent",
        request=request,
        reply=pb.UndoEventResponse,
        read=lambda reply: changed_note(reply.note),
    )


def _time(instant: datetime | None) -> pb.NoteTime:
    return pb.NoteTime(at_ms=None if instant is None else to_milliseconds(instant))


def _changed(reply: ChangeResponse) -> Changed:
    others = reply.others if isinstance(reply, pb.RejectNoteResponse) else 0
    return changed_note(reply.note, others=others)


def changed_note(
    reply: pb.ChangedNote, *, superseded_by: str | None = None, others: int = 0
) -> Changed:
    """Read a note after a change."""
    return Changed(
        id=reply.id,
        state=STATES.get(reply.lifecycle, "retired"),
        trust=TRUSTS.get(reply.trust, "candidate"),
        scope=reply.scope,
        event=reply.event,
        valid_from=instant_of(reply, "valid_from_ms"),
        valid_to=instant_of(reply, "valid_to_ms"),
        expires_at=instant_of(reply, "expires_at_ms"),
        superseded_by=superseded_by,
        others=others,
        given_to=given_to(reply.given_to),
    )
