"""A memstore without model, file or process: the protos' services over a dict, on a real socket."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import grpc
from tests.unit.client.fake_lifecycle import FakeLifecycle
from tests.unit.client.fake_review import FakeQueue, FakeReview
from typing_extensions import override

from graft.memory.v1 import (
    daemon_service_pb2,
    daemon_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    note_pb2,
    notes_service_pb2,
    notes_service_pb2_grpc,
    profiles_service_pb2,
    profiles_service_pb2_grpc,
    recall_service_pb2,
    recall_service_pb2_grpc,
    review_service_pb2_grpc,
)
from graft.wire.errors import (
    DatabaseDamagedError,
    NoteNotFoundError,
    ProfileExistsError,
    ServiceError,
    WrongStateError,
    to_status,
)

RECORDED_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z


@dataclass(slots=True)
class FakeState:
    """What the fake holds, and what it is to do next."""

    notes: dict[str, note_pb2.Note] = field(default_factory=dict)
    profiles: list[str] = field(default_factory=lambda: ["default"])
    received: list[tuple[str, object]] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    failures: list[ServiceError | grpc.StatusCode] = field(default_factory=list)
    refused_titles: dict[str, ServiceError] = field(default_factory=dict)
    query_reply: recall_service_pb2.QueryResponse = field(
        default_factory=lambda: recall_service_pb2.QueryResponse(hit=recall_service_pb2.HIT_MISS)
    )
    confirm_reply: recall_service_pb2.ConfirmAnswerResponse = field(
        default_factory=recall_service_pb2.ConfirmAnswerResponse
    )
    retrieve_reply: recall_service_pb2.RetrieveResponse = field(
        default_factory=recall_service_pb2.RetrieveResponse
    )
    explore_reply: recall_service_pb2.ExploreResponse = field(
        default_factory=recall_service_pb2.ExploreResponse
    )
    classify_reply: recall_service_pb2.ClassifyResponse = field(
        default_factory=recall_service_pb2.ClassifyResponse
    )
    explain_reply: recall_service_pb2.ExplainResponse = field(
        default_factory=recall_service_pb2.ExplainResponse
    )
    gate_replies: list[daemon_service_pb2.MeasureGateResponse] = field(default_factory=list)
    repairs: list[daemon_service_pb2.Repair] = field(default_factory=list)
    misses_reply: recall_service_pb2.ListMissesResponse = field(
        default_factory=lambda: recall_service_pb2.ListMissesResponse(kept=True)
    )
    clear_reply: recall_service_pb2.ClearMissesResponse = field(
        default_factory=recall_service_pb2.ClearMissesResponse
    )
    queue: FakeQueue = field(default_factory=FakeQueue)
    insert_answers: int = 0
    insert_pending: int = 0
    findings: list[notes_service_pb2.SecretFinding] = field(default_factory=list)
    findings_more: int = 0
    status_reply: daemon_service_pb2.GetStatusResponse = field(
        default_factory=lambda: daemon_service_pb2.GetStatusResponse(pid=4242, build="0.1.0+1")
    )
    reindex_replies: list[profiles_service_pb2.GetReindexResponse] = field(default_factory=list)
    checks: list[daemon_service_pb2.Check] = field(default_factory=list)
    page_notes: int = 2
    held: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    hold: bool = False
    busy: bool = False
    damaged: str = ""
    slow_query: bool = False
    looked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    on_stop: Callable[[], None] = lambda: None

    def requests(self, name: str) -> list[object]:
        """Return the requests that the method *name* has received."""
        return [request for method, request in self.received if method == name]


class FakeMemstore(
    notes_service_pb2_grpc.NotesServiceServicer,
    recall_service_pb2_grpc.RecallServiceServicer,
    profiles_service_pb2_grpc.ProfilesServiceServicer,
    daemon_service_pb2_grpc.DaemonServiceServicer,
):
    """Answers as the protos say, from memory."""

    def __init__(self, state: FakeState) -> None:
        self.state = state

    @override
    def InsertNote(
        self, request: notes_service_pb2.InsertNoteRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.InsertNoteResponse:
        self.enter("InsertNote", request, context)
        self._refuse_titles([request.note], context)
        return notes_service_pb2.InsertNoteResponse(note=self._insert(request.note))

    @override
    def InsertNotes(
        self, request: notes_service_pb2.InsertNotesRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.InsertNotesResponse:
        self.enter("InsertNotes", request, context)
        self._refuse_titles(request.notes, context)
        return notes_service_pb2.InsertNotesResponse(
            notes=[self._insert(note) for note in request.notes]
        )

    @override
    def GetNote(
        self, request: notes_service_pb2.GetNoteRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.GetNoteResponse:
        self.enter("GetNote", request, context)
        return notes_service_pb2.GetNoteResponse(note=self.find(request.id, context))

    @override
    def ListNotes(
        self, request: notes_service_pb2.ListNotesRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.ListNotesResponse:
        self.enter("ListNotes", request, context)
        start = int(request.page_token or 0)
        end = start + self.state.page_notes
        notes = list(self.state.notes.values())[::-1]
        return notes_service_pb2.ListNotesResponse(
            notes=notes[start:end], next_page_token=str(end) if end < len(notes) else ""
        )

    @override
    def DeleteNote(
        self, request: notes_service_pb2.DeleteNoteRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.DeleteNoteResponse:
        self.enter("DeleteNote", request, context)
        note = self.find(request.id, context)
        del self.state.notes[note.id]
        return notes_service_pb2.DeleteNoteResponse(
            id=note.id, outcome=notes_service_pb2.DELETE_OUTCOME_ERASED, event=9
        )

    @override
    def GetStats(
        self, request: notes_service_pb2.GetStatsRequest, context: grpc.ServicerContext
    ) -> notes_service_pb2.GetStatsResponse:
        self.enter("GetStats", request, context)
        return notes_service_pb2.GetStatsResponse(
            notes=len(self.state.notes), file_bytes=4096, model="starter"
        )

    @override
    def Query(
        self, request: recall_service_pb2.QueryRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.QueryResponse:
        self.enter("Query", request, context)
        if self.state.slow_query:
            # Until somebody has asked twice how things are.
            for _ in range(2):
                self.state.looked.acquire(timeout=20)
        reply = recall_service_pb2.QueryResponse()
        reply.CopyFrom(self.state.query_reply)
        reply.scopes.extend(request.scope.scopes)
        return reply

    @override
    def Retrieve(
        self, request: recall_service_pb2.RetrieveRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.RetrieveResponse:
        self.enter("Retrieve", request, context)
        return self.state.retrieve_reply

    @override
    def Explore(
        self, request: recall_service_pb2.ExploreRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ExploreResponse:
        self.enter("Explore", request, context)
        return self.state.explore_reply

    @override
    def Classify(
        self, request: recall_service_pb2.ClassifyRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ClassifyResponse:
        self.enter("Classify", request, context)
        return self.state.classify_reply

    @override
    def ConfirmAnswer(
        self, request: recall_service_pb2.ConfirmAnswerRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ConfirmAnswerResponse:
        self.enter("ConfirmAnswer", request, context)
        return self.state.confirm_reply

    @override
    def Explain(
        self, request: recall_service_pb2.ExplainRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ExplainResponse:
        self.enter("Explain", request, context)
        return self.state.explain_reply

    @override
    def ListMisses(
        self, request: recall_service_pb2.ListMissesRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ListMissesResponse:
        self.enter("ListMisses", request, context)
        return self.state.misses_reply

    @override
    def ClearMisses(
        self, request: recall_service_pb2.ClearMissesRequest, context: grpc.ServicerContext
    ) -> recall_service_pb2.ClearMissesResponse:
        self.enter("ClearMisses", request, context)
        return self.state.clear_reply

    @override
    def ListProfiles(
        self, request: profiles_service_pb2.ListProfilesRequest, context: grpc.ServicerContext
    ) -> profiles_service_pb2.ListProfilesResponse:
        self.enter("ListProfiles", request, context)
        return profiles_service_pb2.ListProfilesResponse(
            profiles=[profiles_service_pb2.Profile(name=name) for name in self.state.profiles]
        )

    @override
    def AddProfile(
        self, request: profiles_service_pb2.AddProfileRequest, context: grpc.ServicerContext
    ) -> profiles_service_pb2.AddProfileResponse:
        self.enter("AddProfile", request, context)
        if request.name in self.state.profiles:
            refuse(context, ProfileExistsError(f"a profile {request.name} is there already"))
        self.state.profiles.append(request.name)
        return profiles_service_pb2.AddProfileResponse(
            profile=profiles_service_pb2.Profile(name=request.name)
        )

    @override
    def StartReindex(
        self, request: profiles_service_pb2.StartReindexRequest, context: grpc.ServicerContext
    ) -> profiles_service_pb2.StartReindexResponse:
        self.enter("StartReindex", request, context)
        return profiles_service_pb2.StartReindexResponse()

    @override
    def GetReindex(
        self, request: profiles_service_pb2.GetReindexRequest, context: grpc.ServicerContext
    ) -> profiles_service_pb2.GetReindexResponse:
        self.enter("GetReindex", request, context)
        replies = self.state.reindex_replies
        return replies.pop(0) if len(replies) > 1 else replies[0]

    @override
    def GetStatus(
        self, request: daemon_service_pb2.GetStatusRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.GetStatusResponse:
        self.enter("GetStatus", request, context)
        self.state.looked.release()
        return self.state.status_reply

    @override
    def LoadModel(
        self, request: daemon_service_pb2.LoadModelRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.LoadModelResponse:
        self.enter("LoadModel", request, context)
        return daemon_service_pb2.LoadModelResponse(model="starter")

    @override
    def Stop(
        self, request: daemon_service_pb2.StopRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.StopResponse:
        self.enter("Stop", request, context)
        if request.only_if_idle and self.state.busy:
            refuse(context, WrongStateError("calls run"))
        self.state.on_stop()
        return daemon_service_pb2.StopResponse(pid=4242)

    @override
    def RepairProfile(
        self, request: daemon_service_pb2.RepairProfileRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.RepairProfileResponse:
        self.enter("RepairProfile", request, context)
        return daemon_service_pb2.RepairProfileResponse(repairs=self.state.repairs)

    @override
    def CheckProfile(
        self, request: daemon_service_pb2.CheckProfileRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.CheckProfileResponse:
        self.enter("CheckProfile", request, context)
        if self.state.damaged == request.profile:
            refuse(context, DatabaseDamagedError("the file is damaged; run `graft doctor`"))
        return daemon_service_pb2.CheckProfileResponse(checks=self.state.checks)

    @override
    def MeasureGate(
        self, request: daemon_service_pb2.MeasureGateRequest, context: grpc.ServicerContext
    ) -> Iterator[daemon_service_pb2.MeasureGateResponse]:
        self.enter("MeasureGate", request, context)
        yield from self.state.gate_replies

    @override
    def ResetGate(
        self, request: daemon_service_pb2.ResetGateRequest, context: grpc.ServicerContext
    ) -> daemon_service_pb2.ResetGateResponse:
        self.enter("ResetGate", request, context)
        return daemon_service_pb2.ResetGateResponse(was_set=True, strong=0.75)

    def enter(self, name: str, request: object, context: grpc.ServicerContext) -> None:
        self.state.received.append((name, request))
        pairs = context.invocation_metadata()
        self.state.metadata.append({key: str(value) for key, value in pairs})
        if self.state.hold:
            context.add_callback(self.state.left.set)
            self.state.held.wait(20)
        if self.state.failures:
            failure = self.state.failures.pop(0)
            if isinstance(failure, ServiceError):
                refuse(context, failure)
            context.abort(failure, "words of the transport that nobody should read")

    def _refuse_titles(
        self, notes: Iterable[notes_service_pb2.NewNote], context: grpc.ServicerContext
    ) -> None:
        for note in notes:
            if note.title in self.state.refused_titles:
                refuse(context, self.state.refused_titles[note.title])

    def _insert(self, new: notes_service_pb2.NewNote) -> notes_service_pb2.InsertedNote:
        same = [
            note
            for note in self.state.notes.values()
            if (note.title, note.body, note.scope) == (new.title, new.body, new.scope)
        ]
        if same:
            return _inserted(same[0], duplicate=True)
        note = note_pb2.Note(
            id=f"0193a7a0{len(self.state.notes):024x}",
            title=new.title,
            body=new.body,
            kind=new.kind,
            keywords=sorted(new.keywords),
            author=new.author,
            scope=new.scope,
            lifecycle=note_pb2.LIFECYCLE_ACTIVE,
            trust=note_pb2.TRUST_OBSERVED,
            recorded_at_ms=RECORDED_MS,
            sources=new.sources,
            applies_to=new.applies_to,
        )
        for name in ("valid_from_ms", "valid_to_ms", "expires_at_ms"):
            if new.HasField(name):
                setattr(note, name, getattr(new, name))
        self.state.notes[note.id] = note
        inserted = _inserted(note, duplicate=False, answers=self.state.insert_answers)
        inserted.pending = self.state.insert_pending
        inserted.findings.extend(self.state.findings)
        inserted.findings_more = self.state.findings_more
        return inserted

    def find(self, piece: str, context: grpc.ServicerContext) -> note_pb2.Note:
        fits = [
            note
            for note in self.state.notes.values()
            if note.id.startswith(piece) or note.id.endswith(piece)
        ]
        if not fits:
            refuse(context, NoteNotFoundError(f"no note has the id {piece}; see graft list"))
        return fits[0]


def refuse(context: grpc.ServicerContext, error: ServiceError) -> NoReturn:
    """End the call as the services do."""
    context.abort_with_status(to_status(error, "graft.memory"))
    raise AssertionError("abort_with_status raises")


@contextmanager
def serving(socket: Path, state: FakeState) -> Iterator[FakeState]:
    """Serve *state* on *socket* while the block runs."""
    server = grpc.server(futures.ThreadPoolExecutor(8))
    add_to(server, state)
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield state
    finally:
        state.held.set()
        server.stop(0).wait()


def add_to(server: grpc.Server, state: FakeState) -> None:
    """Add all services over *state* to *server*."""
    fake = FakeMemstore(state)
    add: list[Callable[[FakeMemstore, grpc.Server], None]] = [
        notes_service_pb2_grpc.add_NotesServiceServicer_to_server,
        recall_service_pb2_grpc.add_RecallServiceServicer_to_server,
        profiles_service_pb2_grpc.add_ProfilesServiceServicer_to_server,
        daemon_service_pb2_grpc.add_DaemonServiceServicer_to_server,
    ]
    for each in add:
        each(fake, server)
    lifecycle_service_pb2_grpc.add_LifecycleServiceServicer_to_server(
        FakeLifecycle(fake.enter, fake.find), server
    )
    review_service_pb2_grpc.add_ReviewServiceServicer_to_server(
        FakeReview(fake.enter, state.queue), server
    )


def _inserted(
    note: note_pb2.Note, *, duplicate: bool, answers: int = 0
) -> notes_service_pb2.InsertedNote:
    return notes_service_pb2.InsertedNote(
        id=note.id,
        duplicate=duplicate,
        lifecycle=note.lifecycle,
        trust=note.trust,
        scope=note.scope,
        event=0 if duplicate else 7,
        answers=0 if duplicate else answers,
    )
