"""LifecycleService: change what notes are worth."""

import grpc
from typing_extensions import override

from graft.memory.v1 import lifecycle_service_pb2 as pb
from graft.memory.v1 import lifecycle_service_pb2_grpc
from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import Verb
from graft_memstore.model import EventSeq, Oracle
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import LIFECYCLES, TRUSTS, oracle_of
from graft_memstore.service.given import Giving, given_to_message
from graft_memstore.service.request_key import request_key
from graft_memstore.store.profiles import Profiles
from graft_memstore.write.change import Changed, ChangeOrder, Time, Times, change_note
from graft_memstore.write.edit_keywords import KeywordOrder, edit_keywords
from graft_memstore.write.state_change import Saying

NoteRequest = (
    pb.SupersedeNoteRequest
    | pb.RetireNoteRequest
    | pb.RestoreNoteRequest
    | pb.RejectNoteRequest
    | pb.DisputeNoteRequest
    | pb.MarkNoteStaleRequest
    | pb.SetNoteTimesRequest
    | pb.VerifyNoteRequest
)


class LifecycleServicer(lifecycle_service_pb2_grpc.LifecycleServiceServicer):
    """Changes the states of the notes of every profile.

    Args:
        profiles: the notes.
        reviewer: proves who is one.
        giving: knows to whom notes were given.
    """

    def __init__(self, profiles: Profiles[VectorIndex], reviewer: Reviewer, giving: Giving) -> None:
        self._profiles = profiles
        self._reviewer = reviewer
        self._giving = giving

    @override
    def SupersedeNote(
        self, request: pb.SupersedeNoteRequest, context: grpc.ServicerContext
    ) -> pb.SupersedeNoteResponse:
        """Put one note in the place of another."""
        changed = self._change(Verb.SUPERSEDE, request, context, by=request.by)
        return pb.SupersedeNoteResponse(
            note=_message(changed), superseded_by=changed.superseded_by or ""
        )

    @override
    def RetireNote(
        self, request: pb.RetireNoteRequest, context: grpc.ServicerContext
    ) -> pb.RetireNoteResponse:
        """Take a note out of use."""
        return pb.RetireNoteResponse(note=_message(self._change(Verb.RETIRE, request, context)))

    @override
    def RestoreNote(
        self, request: pb.RestoreNoteRequest, context: grpc.ServicerContext
    ) -> pb.RestoreNoteResponse:
        """Put a retired note to use again."""
        return pb.RestoreNoteResponse(note=_message(self._change(Verb.RESTORE, request, context)))

    @override
    def RejectNote(
        self, request: pb.RejectNoteRequest, context: grpc.ServicerContext
    ) -> pb.RejectNoteResponse:
        """Reject a note and what it says."""
        changed = self._change(Verb.REJECT, request, context)
        return pb.RejectNoteResponse(note=_message(changed), others=changed.others)

    @override
    def DisputeNote(
        self, request: pb.DisputeNoteRequest, context: grpc.ServicerContext
    ) -> pb.DisputeNoteResponse:
        """Say that a note may be wrong."""
        return pb.DisputeNoteResponse(note=_message(self._change(Verb.DISPUTE, request, context)))

    @override
    def MarkNoteStale(
        self, request: pb.MarkNoteStaleRequest, context: grpc.ServicerContext
    ) -> pb.MarkNoteStaleResponse:
        """Say that what a note rests on has changed."""
        changed = self._change(Verb.MARK_STALE, request, context)
        return pb.MarkNoteStaleResponse(note=_message(changed))

    @override
    def SetNoteTimes(
        self, request: pb.SetNoteTimesRequest, context: grpc.ServicerContext
    ) -> pb.SetNoteTimesResponse:
        """Set when a note is true, and until when it is shown."""
        times = Times(
            valid_from=_time(request.valid_from) if request.HasField("valid_from") else None,
            valid_to=_time(request.valid_to) if request.HasField("valid_to") else None,
            expires_at=_time(request.expires_at) if request.HasField("expires_at") else None,
        )
        changed = self._change(Verb.SET_TIMES, request, context, times=times)
        return pb.SetNoteTimesResponse(note=_message(changed))

    @override
    def SetNoteKeywords(
        self, request: pb.SetNoteKeywordsRequest, context: grpc.ServicerContext
    ) -> pb.SetNoteKeywordsResponse:
        """Give a note keywords, and take others away."""
        order = KeywordOrder(
            piece=request.id,
            add=tuple(request.add),
            remove=tuple(request.remove),
            key=request_key(request, request.request_id, "SetNoteKeywords"),
            saying=self._saying(context, request.reason),
        )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            edited = edit_keywords(profile, order, deadline.for_work())
        changed = Changed(
            id=edited.id, scope=edited.scope, state=edited.state, event=EventSeq(edited.event)
        )
        return pb.SetNoteKeywordsResponse(note=_message(changed), keywords=edited.keywords)

    @override
    def VerifyNote(
        self, request: pb.VerifyNoteRequest, context: grpc.ServicerContext
    ) -> pb.VerifyNoteResponse:
        """Record by what a note was verified."""
        oracle = oracle_of(request.oracle)
        changed = self._change(Verb.VERIFY, request, context, oracle=oracle)
        return pb.VerifyNoteResponse(note=_message(changed))

    @override
    def UndoEvent(
        self, request: pb.UndoEventRequest, context: grpc.ServicerContext
    ) -> pb.UndoEventResponse:
        """Take back the last change of a note."""
        order = ChangeOrder(
            verb=Verb.UNDO,
            key=request_key(request, request.request_id, "UndoEvent"),
            saying=self._saying(context, request.reason),
            event=request.event,
        )
        return pb.UndoEventResponse(note=_message(self._do(request.profile, order, context)))

    def _change(
        self,
        verb: Verb,
        request: NoteRequest,
        context: grpc.ServicerContext,
        *,
        by: str = "",
        times: Times | None = None,
        oracle: Oracle | None = None,
    ) -> Changed:
        order = ChangeOrder(
            verb=verb,
            key=request_key(request, request.request_id, type(request).__name__),
            saying=self._saying(context, request.reason),
            piece=request.id,
            by=by,
            times=times or Times(),
            oracle=oracle,
        )
        return self._do(request.profile, order, context)

    def _saying(self, context: grpc.ServicerContext, reason: str) -> Saying:
        return Saying(caller=proved_caller(context, self._reviewer), reason=reason)

    def _do(self, profile_name: str, order: ChangeOrder, context: grpc.ServicerContext) -> Changed:
        deadline = Deadline.of_call(context)
        with self._profiles.use(profile_name, deadline.for_work()) as profile:
            self._giving.before_change(profile.name, deadline)
            return change_note(profile, order, deadline.for_work())


def _time(message: pb.NoteTime) -> Time:
    return Time(at_ms=message.at_ms if message.HasField("at_ms") else None)


def _message(changed: Changed) -> pb.ChangedNote:
    state = changed.state
    return pb.ChangedNote(
        id=changed.id,
        lifecycle=LIFECYCLES[state.lifecycle],
        trust=TRUSTS[state.trust],
        event=changed.event,
        scope=changed.scope,
        valid_from_ms=state.valid_from_ms,
        valid_to_ms=state.valid_to_ms,
        expires_at_ms=state.expires_at_ms,
        given_to=given_to_message(changed.given_to),
    )
