"""Reads of the past give what was recorded then, whatever was changed since."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
import pytest
from tests.unit.memstore.recall.served import USER, Served, refusal_of
from tests.unit.memstore.room import PERSON, Room

from graft.memory.v1 import note_pb2, notes_service_pb2, notes_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.server import Activity, build_server
from graft_memstore.lifecycle import Verb
from graft_memstore.model import EdgeKind, NewNote, ScopeFilter
from graft_memstore.service.given import Giving
from graft_memstore.service.notes import NotesServicer
from graft_memstore.store.edges import heaviest_edges
from graft_memstore.visibility import View
from graft_memstore.write.change import Time, Times

SECONDS = 20
TITLE = "the staging pooler listens on port 6432"
STEP_MS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Every read that can look back, as ids alone."""

    served: Served
    notes: notes_service_pb2_grpc.NotesServiceStub

    def query(self, as_of: note_pb2.AsOf) -> list[str]:
        request = pb.QueryRequest(text=TITLE, scope=USER, as_of=as_of)
        reply = self.served.recall.Query(request, timeout=SECONDS)
        return [reply.note.id] if reply.HasField("note") else []

    def retrieve(self, as_of: note_pb2.AsOf, keywords: tuple[str, ...] = ()) -> list[str]:
        request = pb.RetrieveRequest(text=TITLE, scope=USER, as_of=as_of, keywords=keywords)
        reply = self.served.recall.Retrieve(request, timeout=SECONDS)
        return sorted(each.id for each in reply.results)

    def explore(self, as_of: note_pb2.AsOf) -> list[str]:
        request = pb.ExploreRequest(text=TITLE, scope=USER, as_of=as_of)
        reply = self.served.recall.Explore(request, timeout=SECONDS)
        return sorted(each.id for each in reply.nodes)

    def list(self, as_of: note_pb2.AsOf, keywords: tuple[str, ...] = ()) -> list[str]:
        request = notes_service_pb2.ListNotesRequest(scope=USER, as_of=as_of, keywords=keywords)
        reply = self.notes.ListNotes(request, timeout=SECONDS)
        return sorted(each.id for each in reply.notes)

    def get(self, note_id: str, as_of: note_pb2.AsOf | None = None) -> note_pb2.Note:
        request = notes_service_pb2.GetNoteRequest(id=note_id, as_of=as_of)
        return self.notes.GetNote(request, timeout=SECONDS).note


@contextmanager
def notes_of(room: Room) -> Iterator[notes_service_pb2_grpc.NotesServiceStub]:
    server = build_server("graft.memory", Activity(()))
    notes_service_pb2_grpc.add_NotesServiceServicer_to_server(
        NotesServicer(room.profiles, room.inserter, room.reviewer, Giving(room.upkeep.scribe)),
        server,
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield notes_service_pb2_grpc.NotesServiceStub(channel)
    server.stop(None).wait()


@pytest.fixture
def reader(served: Served) -> Iterator[Reader]:
    with notes_of(served.room) as notes:
        yield Reader(served=served, notes=notes)


def known(at_ms: int) -> note_pb2.AsOf:
    return note_pb2.AsOf(known_at_ms=at_ms)


def valid(at_ms: int) -> note_pb2.AsOf:
    return note_pb2.AsOf(valid_at_ms=at_ms)


def test_a_look_back_between_any_two_changes_gives_what_was_given_then(reader: Reader) -> None:
    room = reader.served.room
    first = room.insert(note=NewNote(title=TITLE, keywords=("port",))).id
    other = room.insert("the staging cache listens on port 6379").id

    def superseded() -> None:
        room.insert(note=NewNote(title=f"{TITLE} no more", supersedes=first, reason="moved"))

    changes: list[Callable[[], object]] = [
        superseded,
        lambda: room.change(Verb.DISPUTE, other),
        lambda: room.change(Verb.UNDO, event=room.note(first).event),
        lambda: room.change(Verb.SET_TIMES, first, times=Times(valid_to=Time(at_ms=1))),
        lambda: room.change(Verb.RETIRE, other),
        lambda: room.insert("one more port of staging"),
        lambda: room.change(Verb.REJECT, first),
    ]
    room.wait_until_joined()

    def now(as_of: note_pb2.AsOf) -> tuple[object, ...]:
        states = [
            (each.lifecycle, each.trust, each.superseded_by, each.state_event, each.keywords)
            for each in (reader.get(first, as_of), reader.get(other, as_of))
        ]
        return reader.query(as_of), reader.retrieve(as_of), reader.list(as_of), states

    told = {}
    for change in changes:
        told[room.clock.ms] = now(note_pb2.AsOf())
        room.clock.ms += STEP_MS
        change()
        room.clock.ms += STEP_MS
    room.wait_until_embedded()

    for at_ms, then in told.items():
        assert now(known(at_ms)) == then
        assert now(known(at_ms + STEP_MS - 1)) == then
    assert len({str(each) for each in told.values()}) == len(changes)


def test_keywords_and_edges_are_those_of_then(reader: Reader) -> None:
    room = reader.served.room
    first = room.insert(note=NewNote(title=TITLE)).id
    second = room.insert(note=NewNote(title=f"{TITLE} too", keywords=("port",))).id
    before = room.clock.ms
    room.clock.ms += STEP_MS
    room.insert(note=NewNote(title=TITLE, keywords=("port",)))
    room.wait_until_joined()

    assert reader.list(note_pb2.AsOf(), ("port",)) == sorted([first, second])
    assert reader.list(known(before), ("port",)) == [second]
    assert reader.retrieve(known(before), ("port",)) == [second]
    assert reader.get(first, known(before)).keywords == []
    assert reader.get(first).keywords == ["port"]
    edges = {at_ms: edge_kinds(room, at_ms) for at_ms in (None, before)}
    assert edges == {None: {EdgeKind.KEYWORD}, before: set()}


def edge_kinds(room: Room, known_at_ms: int | None) -> set[EdgeKind]:
    view = View(scope=ScopeFilter(all=True), now_ms=room.clock.ms, known_at_ms=known_at_ms)
    with room.profile.snapshot() as connection:
        return {each.kind for each in heaviest_edges(connection, 1, view, 9)}


def test_what_was_true_then_is_shown_by_its_validity(reader: Reader) -> None:
    room = reader.served.room
    noon = room.clock.ms
    old = room.insert(note=NewNote(title=TITLE, valid_to_ms=noon - 100)).id
    new = room.insert(note=NewNote(title=f"{TITLE} since", valid_from_ms=noon - 100)).id

    for read in (reader.query, reader.retrieve, reader.explore, reader.list):
        assert read(note_pb2.AsOf()) == [new]
        assert read(valid(noon - 101)) == [old]
        assert read(valid(noon - 100)) == [new]
    assert reader.get(old).condition == note_pb2.NOTE_CONDITION_NO_LONGER_VALID
    assert reader.get(old, valid(noon - 101)).condition == note_pb2.NOTE_CONDITION_SHOWN


def test_a_corrected_validity_keeps_its_history(reader: Reader) -> None:
    room = reader.served.room
    noon = room.clock.ms
    note_id = room.insert(note=NewNote(title=TITLE, valid_from_ms=noon - 500)).id
    room.clock.ms += STEP_MS
    room.change(Verb.SET_TIMES, note_id, times=Times(valid_from=Time(at_ms=noon - 100)))

    both = note_pb2.AsOf(valid_at_ms=noon - 300, known_at_ms=noon)
    assert reader.retrieve(both) == [note_id]
    assert reader.retrieve(valid(noon - 300)) == []
    assert reader.get(note_id, known(noon)).valid_from_ms == noon - 500
    assert reader.get(note_id).valid_from_ms == noon - 100


def test_what_had_not_expired_then_is_shown_then(reader: Reader) -> None:
    room = reader.served.room
    before = room.clock.ms
    note_id = room.insert(note=NewNote(title=TITLE, expires_at_ms=before + 5)).id
    room.clock.ms += STEP_MS

    assert reader.retrieve(note_pb2.AsOf()) == []
    assert reader.get(note_id).condition == note_pb2.NOTE_CONDITION_EXPIRED
    assert reader.retrieve(known(before)) == [note_id]


def test_an_erased_note_is_gone_at_every_instant(reader: Reader) -> None:
    room = reader.served.room
    note_id = room.insert(TITLE).id
    before = room.clock.ms
    room.clock.ms += STEP_MS
    room.delete(note_id, caller=PERSON)

    assert reader.retrieve(known(before)) == []
    assert refusal_of(lambda: reader.get(note_id, known(before))).reason == "NOTE_NOT_FOUND"


def test_a_note_is_not_known_before_it_was_stored(reader: Reader) -> None:
    room = reader.served.room
    before = room.clock.ms
    room.clock.ms += STEP_MS
    note_id = room.insert(TITLE).id

    assert refusal_of(lambda: reader.get(note_id, known(before))).reason == "NOTE_NOT_FOUND"
    assert reader.list(known(before)) == []


def test_what_is_to_come_is_what_is_known_now(reader: Reader) -> None:
    note_id = reader.served.room.insert(TITLE).id

    assert reader.retrieve(known(reader.served.room.clock.ms + 10**6)) == [note_id]


def test_an_instant_beyond_all_calendars_is_refused(reader: Reader) -> None:
    for as_of in (known(10**15), valid(-(10**15))):
        for read in (reader.query, reader.retrieve, reader.explore, reader.list):
            assert refusal_of(lambda read=read, as_of=as_of: read(as_of)).reason == "BAD_FIELD"  # type: ignore[misc]


def test_a_question_to_the_past_is_no_miss(reader: Reader) -> None:
    reader.query(known(1))
    reader.query(note_pb2.AsOf())

    misses = reader.served.recall.ListMisses(pb.ListMissesRequest(scope=USER), timeout=SECONDS)

    assert [each.count for each in misses.groups] == [1]
