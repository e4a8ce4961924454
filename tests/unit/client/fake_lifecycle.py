"""The lifecycle service of the fake memstore: it does what it is told to, and checks nothing."""

from collections.abc import Callable

import grpc
from typing_extensions import override

from graft.memory.v1 import lifecycle_service_pb2 as pb
from graft.memory.v1 import lifecycle_service_pb2_grpc, note_pb2

Enter = Callable[[str, object, grpc.ServicerContext], None]
Find = Callable[[str, grpc.ServicerContext], note_pb2.Note]


class FakeLifecycle(lifecycle_service_pb2_grpc.LifecycleServiceServicer):
    """Changes the notes that *find* gives."""

    def __init__(self, enter: Enter, find: Find) -> None:
        self._enter = enter
        self._find = find

    @override
    def SupersedeNote(
        self, request: pb.SupersedeNoteRequest, context: grpc.ServicerContext
    ) -> pb.SupersedeNoteResponse:
        self._enter("SupersedeNote", request, context)
        note, by = self._find(request.id, context), self._find(request.by, context)
        note.lifecycle, note.superseded_by = note_pb2.LIFECYCLE_SUPERSEDED, by.id
        return pb.SupersedeNoteResponse(note=_changed(note), superseded_by=by.id)

    @override
    def RetireNote(
        self, request: pb.RetireNoteRequest, context: grpc.ServicerContext
    ) -> pb.RetireNoteResponse:
        self._enter("RetireNote", request, context)
        note = self._find(request.id, context)
        note.lifecycle = note_pb2.LIFECYCLE_RETIRED
        return pb.RetireNoteResponse(note=_changed(note))

    @override
    def RestoreNote(
        self, request: pb.RestoreNoteRequest, context: grpc.ServicerContext
    ) -> pb.RestoreNoteResponse:
        self._enter("RestoreNote", request, context)
        note = self._find(request.id, context)
        note.lifecycle = note_pb2.LIFECYCLE_ACTIVE
        return pb.RestoreNoteResponse(note=_changed(note))

    @override
    def RejectNote(
        self, request: pb.RejectNoteRequest, context: grpc.ServicerContext
    ) -> pb.RejectNoteResponse:
        self._enter("RejectNote", request, context)
        note = self._find(request.id, context)
        note.trust = note_pb2.TRUST_REJECTED
        return pb.RejectNoteResponse(note=_changed(note), others=2)

    @override
    def DisputeNote(
        self, request: pb.DisputeNoteRequest, context: grpc.ServicerContext
    ) -> pb.DisputeNoteResponse:
        self._enter("DisputeNote", request, context)
        note = self._find(request.id, context)
        note.trust = note_pb2.TRUST_DISPUTED
        return pb.DisputeNoteResponse(note=_changed(note))

    @override
    def MarkNoteStale(
        self, request: pb.MarkNoteStaleRequest, context: grpc.ServicerContext
    ) -> pb.MarkNoteStaleResponse:
        self._enter("MarkNoteStale", request, context)
        note = self._find(request.id, context)
        note.trust = note_pb2.TRUST_STALE
        return pb.MarkNoteStaleResponse(note=_changed(note))

    @override
    def SetNoteTimes(
        self, request: pb.SetNoteTimesRequest, context: grpc.ServicerContext
    ) -> pb.SetNoteTimesResponse:
        self._enter("SetNoteTimes", request, context)
        changed = _changed(self._find(request.id, context))
        if request.valid_to.HasField("at_ms"):
            changed.valid_to_ms = request.valid_to.at_ms
        return pb.SetNoteTimesResponse(note=changed)

    @override
    def SetNoteKeywords(
        self, request: pb.SetNoteKeywordsRequest, context: grpc.ServicerContext
    ) -> pb.SetNoteKeywordsResponse:
        self._enter("SetNoteKeywords", request, context)
        note = self._find(request.id, context)
        carried = sorted({*note.keywords, *request.add} - {*request.remove})
        del note.keywords[:]
        note.keywords.extend(carried)
        return pb.SetNoteKeywordsResponse(note=_changed(note), keywords=carried)

    @override
    def VerifyNote(
        self, request: pb.VerifyNoteRequest, context: grpc.ServicerContext
    ) -> pb.VerifyNoteResponse:
        self._enter("VerifyNote", request, context)
        note = self._find(request.id, context)
        note.trust = note_pb2.TRUST_VERIFIED
        note.oracle.CopyFrom(request.oracle)
        return pb.VerifyNoteResponse(note=_changed(note))

    @override
    def UndoEvent(
        self, request: pb.UndoEventRequest, context: grpc.ServicerContext
    ) -> pb.UndoEventResponse:
        self._enter("UndoEvent", request, context)
        return pb.UndoEventResponse(note=_changed(self._find("", context)))


def _changed(note: note_pb2.Note) -> pb.ChangedNote:
    return pb.ChangedNote(
        id=note.id, lifecycle=note.lifecycle, trust=note.trust, event=42, scope=note.scope
    )
