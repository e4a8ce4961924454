"""A caller that is bound to scopes, over a real socket: nothing tells it of any other."""

import importlib
import pkgutil
import re
import uuid
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from tests.unit.memstore.room import WAIT_SECONDS, Room
from tests.unit.memstore.service.conftest import Stubs

import graft.memory.v1
from graft.memory.v1 import (
    lifecycle_service_pb2,
    note_pb2,
    notes_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    sources_service_pb2,
)
from graft.wire.errors import Refusal, read_refusal
from graft.wire.metadata import BOUND_SCOPE_KEY, CallMetadata
from graft_memstore.lifecycle import Verb
from graft_memstore.model import NewNote
from graft_memstore.service.passages import PASSAGES, Passage

OURS, THEIRS = "project:ours", "project:theirs"
TITLE = "The staging pooler listens on port"
WORD = "tenant"
BOUND = CallMetadata(door="mcp", session="s-2", bound=(OURS,)).to_pairs()
FREE = CallMetadata(door="mcp", session="s-1").to_pairs()
NOWHERE = "f" * 32
FINDINGS = "findings"
FINDING = f"{FINDINGS}.note_id"
EVENT_NOWHERE = 987_654
NUMBER = re.compile(r"[0-9a-f]{8,32}|\d{3,}|\b\d\b")


def every_method() -> dict[str, MethodDescriptor]:
    """Return every rpc of every service in the package's protos."""
    modules = [
        importlib.import_module(f"{graft.memory.v1.__name__}.{found.name}")
        for found in pkgutil.iter_modules(graft.memory.v1.__path__)
        if found.name.endswith("_service_pb2")
    ]
    return {
        f"/{service.full_name}/{method.name}": method
        for module in modules
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }


METHODS = every_method()
FILTERED = [
    name
    for name, method in METHODS.items()
    if (field := method.input_type.fields_by_name.get("scope")) is not None
    and field.message_type is not None
    and not PASSAGES.get(name, Passage(closed=True)).closed
]
BY_ID = [
    (name, field)
    for name, passage in PASSAGES.items()
    for field in (*passage.notes, passage.event, passage.receipt, passage.item)
    if field
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Two:
    """A note in each of two scopes, and an answer that looked at both."""

    stubs: Stubs
    ours: str
    theirs: str
    event: int
    receipt: str
    source: int
    item: int
    our_item: int

    def call(self, name: str, request: Message, *, bound: bool = True) -> Message:
        """Call any rpc."""
        replies = self.replies(name, request, metadata=BOUND if bound else FREE)
        return replies[-1]

    def replies(
        self, name: str, request: Message, *, metadata: tuple[tuple[str, str], ...]
    ) -> list[Message]:
        """Call any rpc, and return all that it answers."""
        method, channel = METHODS[name], self.stubs.channel
        open_call: Any = channel.unary_stream if method.server_streaming else channel.unary_unary
        made = open_call(
            name,
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        answered = made(request, timeout=WAIT_SECONDS, metadata=metadata)
        return list(answered) if method.server_streaming else [answered]

    def request(self, name: str, **fields: Any) -> Message:
        """Return a request that lacks nothing, with *fields*."""
        request = GetMessageClass(METHODS[name].input_type)()
        known = METHODS[name].input_type.fields_by_name
        usual = {
            "request_id": request_id(),
            "reason": "why",
            "text": f"{TITLE} 6432 {WORD}",
            "title": TITLE,
            "id": self.ours,
            "by": self.ours,
            "item": self.our_item,
            "decision": "keep-both",
        }
        for field, value in (usual | fields).items():
            if field == FINDING:
                found = getattr(request, FINDINGS).add(note_id=value)
                found.finding.source_id = self.source
            # Decisions are words of one service and numbers of another.
            if field not in known or (isinstance(value, str) and known[field].enum_type):
                continue
            if isinstance(value, Message):
                getattr(request, field).CopyFrom(value)
            else:
                setattr(request, field, value)
        return request

    def finds(self, name: str, request: Message) -> bool:
        """Tell whether a caller that is not bound is told of what *request* names."""
        try:
            return bool(self.call(name, request, bound=False))
        except grpc.RpcError as error:
            return read_refusal(error).code is not grpc.StatusCode.NOT_FOUND

    def refused(self, name: str, **fields: Any) -> Refusal:
        """Return how a call was refused."""
        with pytest.raises(grpc.RpcError) as raised:
            self.call(name, self.request(name, **fields))
        return read_refusal(raised.value)


def request_id() -> str:
    return str(uuid.UUID(int=uuid.uuid1().int))


def scopes(*names: str) -> note_pb2.ScopeFilter:
    return note_pb2.ScopeFilter(scopes=names)


def without_numbers(refusal: Refusal) -> tuple[object, ...]:
    return refusal.code, refusal.reason, NUMBER.sub("#", refusal.message), refusal.metadata


@pytest.fixture
def two(stubs: Stubs, room: Room) -> Two:
    """Two scopes that say nearly the same."""
    ours = room.insert(note=NewNote(title=f"{TITLE} 6432", scope=OURS, keywords=("pooler",)))
    theirs = room.insert(
        note=NewNote(title=f"{TITLE} 7117 {WORD}", scope=THEIRS, keywords=(WORD, "pooler"))
    )
    room.wait_until_joined()
    everywhere = recall_service_pb2.QueryRequest(
        text=f"{TITLE} 7117 {WORD}", scope=note_pb2.ScopeFilter(all=True)
    )
    answer = stubs.recall.Query(everywhere, timeout=WAIT_SECONDS, metadata=FREE)
    given = {each: add_source(stubs, each) for each in (ours.id, theirs.id)}
    # An event of theirs that could be undone.
    event = room.change(Verb.DISPUTE, theirs.id).event
    return Two(
        stubs=stubs,
        ours=ours.id,
        theirs=theirs.id,
        event=event,
        receipt=answer.receipt,
        source=given[theirs.id],
        item=report_gone(stubs, theirs.id, given[theirs.id]),
        our_item=report_gone(stubs, ours.id, given[ours.id]),
    )


def add_source(stubs: Stubs, note_id: str) -> int:
    """Give a note a source; return its number."""
    source = note_pb2.Source(kind=note_pb2.SOURCE_KIND_FILE, locator=f"{note_id}.py")
    request = sources_service_pb2.AddSourcesRequest(
        request_id=request_id(), id=note_id, sources=[source]
    )
    return stubs.sources.AddSources(request, timeout=WAIT_SECONDS).sources[0].id


def report_gone(stubs: Stubs, note_id: str, source: int) -> int:
    """Say that a source is gone; return the number of what waits because of that."""
    finding = note_pb2.SourceFinding(source_id=source, gone=True)
    request = sources_service_pb2.ReportSourcesRequest(
        request_id=request_id(),
        findings=[sources_service_pb2.NoteSourceFinding(note_id=note_id, finding=finding)],
    )
    assert stubs.sources.ReportSources(request, timeout=WAIT_SECONDS).waiting
    everything = review_service_pb2.ListReviewItemsRequest(scope=note_pb2.ScopeFilter(all=True))
    listed = stubs.review.ListReviewItems(everything, timeout=WAIT_SECONDS, metadata=FREE)
    return next(each.item for each in listed.items if each.note.id == note_id)


def test_every_rpc_of_every_service_has_a_passage_or_is_closed() -> None:
    assert PASSAGES.keys() == METHODS.keys()


@pytest.mark.parametrize(("name", "field"), BY_ID)
def test_what_lies_elsewhere_is_refused_as_what_is_nowhere(two: Two, name: str, field: str) -> None:
    passage = PASSAGES[name]
    if field in (passage.event, passage.item):
        theirs, nowhere = [two.event if field == passage.event else two.item], EVENT_NOWHERE
    else:
        whole = two.receipt if field == passage.receipt else two.theirs
        # Both ids begin alike: they were made in one millisecond.
        pieces = [whole, whole[-8:], whole[-20:].upper()]
        theirs, nowhere = pieces, NOWHERE  # type: ignore[assignment]  # texts

    refusals = [two.refused(name, **{field: each}) for each in theirs]

    missing = two.refused(name, **{field: nowhere})
    assert missing.code == grpc.StatusCode.NOT_FOUND
    for refusal in refusals:
        assert without_numbers(refusal) == without_numbers(missing)
    assert two.finds(name, two.request(name, **{field: theirs[0]}))


@pytest.mark.parametrize("name", FILTERED)
def test_no_filter_widens_what_is_seen(two: Two, name: str) -> None:
    wide = [note_pb2.ScopeFilter(all=True), scopes(THEIRS, OURS)]
    # What a scan finds is new to the first call alone.
    two.call(name, two.request(name, scope=scopes(OURS)))

    told = [two.call(name, two.request(name, scope=each)) for each in wide]

    ours_alone = _settled(two.call(name, two.request(name, scope=scopes(OURS))))
    assert [_settled(each) for each in told] == [ours_alone, ours_alone]
    assert two.theirs not in str(told)
    # A word of theirs that the question does not hold; an id may hold its figures.
    assert not re.search(r"\b7117\b", str(told))
    assert THEIRS not in str(told)


@pytest.mark.parametrize("name", FILTERED)
def test_another_scope_s_name_is_refused_whether_or_not_there_is_one(two: Two, name: str) -> None:
    there, nowhere = (two.refused(name, scope=scopes(each)) for each in (THEIRS, "project:nope"))

    assert (there.code, there.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")
    assert there.message.replace(THEIRS, "x") == nowhere.message.replace("project:nope", "x")
    assert two.refused(name, scope=scopes("*")).reason == "NOT_ALLOWED"
    assert two.refused(name, scope=scopes("")).reason == "BAD_FIELD"
    assert two.refused(name, scope=scopes()).reason == "BAD_FIELD"


def _settled(reply: Message) -> str:
    """Return a reply without what differs between two equal calls."""
    return re.sub(r"(receipt|service_ms|embed_ms): .*\n", "", str(reply))


def test_whoever_is_not_bound_sees_both(two: Two) -> None:
    everywhere = note_pb2.ScopeFilter(all=True)

    for name in ("Retrieve", "Explore"):
        path = f"/graft.memory.v1.RecallService/{name}"
        told = str(two.call(path, two.request(path, scope=everywhere), bound=False))
        assert two.theirs in told
        assert two.ours in told


def test_a_piece_that_only_a_note_elsewhere_shares_is_not_ambiguous(two: Two) -> None:
    name = "/graft.memory.v1.NotesService/GetNote"
    shared = two.ours[:12]
    assert two.theirs.startswith(shared)

    found = two.call(name, two.request(name, id=shared))

    assert isinstance(found, notes_service_pb2.GetNoteResponse)
    assert found.note.id == two.ours
    with pytest.raises(grpc.RpcError) as raised:
        two.call(name, two.request(name, id=shared), bound=False)
    assert read_refusal(raised.value).reason == "AMBIGUOUS_ID"


def test_counts_are_of_the_scope_alone(two: Two) -> None:
    name = "/graft.memory.v1.NotesService/GetStats"
    everywhere = note_pb2.ScopeFilter(all=True)

    told = two.call(name, two.request(name, scope=everywhere))
    known = two.call(name, two.request(name, scope=scopes(OURS)), bound=False)

    assert isinstance(told, notes_service_pb2.GetStatsResponse)
    assert isinstance(known, notes_service_pb2.GetStatsResponse)
    assert [(each.scope, each.notes) for each in told.scopes] == [(OURS, 1)]
    assert (told.notes, told.keywords, told.notes_elsewhere) == (1, 1, 0)
    assert (told.vectors, told.pending, told.events, told.file_bytes) == (0, 0, 0, 0)
    assert (known.notes_elsewhere, known.vectors) == (1, 2)


@pytest.mark.parametrize("name", [name for name, each in PASSAGES.items() if each.closed])
def test_what_is_about_the_whole_profile_is_closed(two: Two, name: str) -> None:
    refusal = two.refused(name)

    assert (refusal.code, refusal.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")


def insert(two: Two, *, bound: bool = True, **fields: Any) -> notes_service_pb2.InsertedNote:
    request = notes_service_pb2.InsertNoteRequest(
        request_id=request_id(), note=notes_service_pb2.NewNote(**fields)
    )
    reply = two.call("/graft.memory.v1.NotesService/InsertNote", request, bound=bound)
    assert isinstance(reply, notes_service_pb2.InsertNoteResponse)
    return reply.note


def insert_refused(two: Two, **fields: Any) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        insert(two, **fields)
    return read_refusal(raised.value)


def test_a_note_is_saved_inside_and_never_called_a_repetition_of_one_outside(two: Two) -> None:
    same = insert(two, title=f"{TITLE} 7117 {WORD}")

    assert (same.scope, same.duplicate) == (OURS, False)
    assert two.theirs not in str(same)
    assert insert(two, title=f"{TITLE} 6432").id == two.ours
    assert insert_refused(two, title="x", scope=THEIRS).reason == "NOT_ALLOWED"
    assert insert_refused(two, title="x", scope="user").reason == "NOT_ALLOWED"
    why = {"title": "x", "reason": "why"}
    elsewhere = insert_refused(two, supersedes=two.theirs, **why)
    nowhere = insert_refused(two, supersedes=NOWHERE, **why)
    assert without_numbers(elsewhere) == without_numbers(nowhere)


def test_a_successor_elsewhere_is_not_named(two: Two) -> None:
    change = lifecycle_service_pb2.SupersedeNoteRequest(
        request_id=request_id(), id=two.ours, by=two.theirs, reason="why"
    )
    undo = lifecycle_service_pb2.UndoEventRequest(
        request_id=request_id(), event=two.event, reason="why"
    )
    two.call("/graft.memory.v1.LifecycleService/UndoEvent", undo, bound=False)
    two.call("/graft.memory.v1.LifecycleService/SupersedeNote", change, bound=False)
    get = "/graft.memory.v1.NotesService/GetNote"

    seen, known = (two.call(get, two.request(get), bound=bound) for bound in (True, False))
    refusal = insert_refused(two, title=f"{TITLE} 6432")
    superseding = insert_refused(two, title="x", supersedes=two.ours, reason="why")

    assert isinstance(seen, notes_service_pb2.GetNoteResponse)
    assert isinstance(known, notes_service_pb2.GetNoteResponse)
    assert (known.note.superseded_by, seen.note.superseded_by) == (two.theirs, "")
    assert seen.note.lifecycle == note_pb2.LIFECYCLE_SUPERSEDED
    assert (refusal.reason, superseding.reason) == ("KNOWN_TEXT", "SUPERSEDED_ALREADY")
    for told in (refusal, superseding):
        assert two.theirs not in f"{told.message} {told.metadata}"
        assert two.ours in told.message


@pytest.mark.parametrize("bound", [[""], [" "], ["user", ""], [f"s{each}" for each in range(17)]])
def test_whoever_is_bound_to_no_scope_is_answered_nothing(two: Two, bound: list[str]) -> None:
    metadata = tuple((BOUND_SCOPE_KEY, each) for each in bound)
    request = notes_service_pb2.GetNoteRequest(id=two.ours)

    with pytest.raises(grpc.RpcError) as raised:
        two.stubs.notes.GetNote(request, timeout=WAIT_SECONDS, metadata=metadata)

    assert read_refusal(raised.value).reason == "BAD_FIELD"


def test_a_long_scope_is_bound_whole(two: Two, room: Room) -> None:
    scope = f"project:{'é' * 500}"
    note = room.insert(note=NewNote(title="far down", scope=scope))
    metadata = CallMetadata(bound=(scope,)).to_pairs()
    request = notes_service_pb2.GetNoteRequest(id=note.id)

    assert two.stubs.notes.GetNote(request, timeout=WAIT_SECONDS, metadata=metadata).note.id


def test_no_answer_tells_whether_a_word_stands_elsewhere(two: Two) -> None:
    query = "/graft.memory.v1.RecallService/Query"

    everywhere = note_pb2.ScopeFilter(all=True)
    # As long as the word of theirs, and as near to nothing that is ours.
    here, nowhere = (
        two.call(query, two.request(query, text=f"staging pooler port {word}", scope=everywhere))
        for word in (WORD, "tenast")
    )

    assert isinstance(here, recall_service_pb2.QueryResponse)
    assert isinstance(nowhere, recall_service_pb2.QueryResponse)
    told, control = (
        {each.name: each.value for each in answer.signals} for answer in (here, nowhere)
    )
    for name in ("coverage", "missing", "missing_rarest", "uncovered_rarest", "shared"):
        assert told[name] == pytest.approx(control[name]), name
    assert told["missing"] == 0.0


def test_what_others_were_given_is_not_recalled_for_whoever_is_bound(two: Two) -> None:
    get = "/graft.memory.v1.NotesService/GetNote"
    user = insert(two, bound=False, title="The dashboard shows the pool after a query")
    unbound = CallMetadata(door="mcp", session="s-2").to_pairs()
    request = two.request(get, id=user.id)
    assert isinstance(request, notes_service_pb2.GetNoteRequest)
    two.stubs.notes.GetNote(request, timeout=WAIT_SECONDS, metadata=unbound)

    saved = insert(two, title="The dashboard shows the pool")

    assert not saved.recalled
    assert user.id not in str(saved)
