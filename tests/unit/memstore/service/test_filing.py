"""Keywords, sources and scopes of notes over a real socket, on record and taken back."""

import uuid
from typing import Any

import grpc
import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import lifecycle_service_pb2 as life
from graft.memory.v1 import (
    note_pb2,
    notes_service_pb2,
    recall_service_pb2,
    scopes_service_pb2,
    sources_service_pb2,
)
from graft.wire.errors import Refusal, read_refusal
from graft_memstore.lifecycle import Verb
from graft_memstore.model import USER_SCOPE, Caller, NewNote, Oracle, OracleKind
from graft_memstore.write.move_scope import MoveOrder, move_scope
from graft_memstore.write.state_change import Saying

KNOWN, OTHER = "blake3:" + "a" * 64, "blake3:" + "b" * 64
OLD, NEW = "project:/home/me/app", "project:example.org/app"
LATER_MS = 1_000


def request_id() -> str:
    return str(uuid.UUID(int=uuid.uuid1().int))


def refused(call: Any, request: Any) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        call(request, timeout=WAIT_SECONDS)
    return read_refusal(raised.value)


def get(stubs: Stubs, note_id: str, known_at_ms: int | None = None) -> note_pb2.Note:
    as_of = None if known_at_ms is None else note_pb2.AsOf(known_at_ms=known_at_ms)
    request = notes_service_pb2.GetNoteRequest(id=note_id, as_of=as_of)
    return stubs.notes.GetNote(request, timeout=WAIT_SECONDS).note


def keywords(note_id: str, add: list[str], remove: list[str]) -> life.SetNoteKeywordsRequest:
    return life.SetNoteKeywordsRequest(
        request_id=request_id(), id=note_id, reason="why", add=add, remove=remove
    )


def found_by(stubs: Stubs, keyword: str) -> list[str]:
    request = recall_service_pb2.RetrieveRequest(
        text=f"port {keyword}",
        scope=note_pb2.ScopeFilter(scopes=["user"]),
        keywords=[keyword],
    )
    reply = stubs.recall.Retrieve(request, timeout=WAIT_SECONDS)
    return [each.id for each in reply.results]


def test_keywords_are_set_on_record_and_taken_back(stubs: Stubs, room: Room) -> None:
    note = room.insert(note=NewNote(title="port 1", keywords=("mysql", "db")))
    before = room.clock.ms
    room.clock.ms += LATER_MS

    request = keywords(note.id, ["postgres", "db"], ["mysql"])
    changed = stubs.lifecycle.SetNoteKeywords(request, timeout=WAIT_SECONDS)

    assert list(changed.keywords) == ["db", "postgres"]
    assert stubs.lifecycle.SetNoteKeywords(request, timeout=WAIT_SECONDS) == changed
    assert list(get(stubs, note.id, before).keywords) == ["db", "mysql"]
    assert found_by(stubs, "postgres") == [note.id]
    assert found_by(stubs, "mysql") == []

    # In the very same millisecond.
    undo = life.UndoEventRequest(request_id=request_id(), event=changed.note.event, reason="why")
    undone = stubs.lifecycle.UndoEvent(undo, timeout=WAIT_SECONDS)

    assert list(get(stubs, note.id).keywords) == ["db", "mysql"]
    assert found_by(stubs, "mysql") == [note.id]
    assert found_by(stubs, "postgres") == []
    again = life.UndoEventRequest(request_id=request_id(), event=changed.note.event, reason="why")
    refusal = refused(stubs.lifecycle.UndoEvent, again)
    assert (refusal.reason, refusal.metadata["event"]) == (
        "NOT_LAST_CHANGE",
        str(undone.note.event),
    )
    redo = life.UndoEventRequest(request_id=request_id(), event=undone.note.event, reason="why")
    stubs.lifecycle.UndoEvent(redo, timeout=WAIT_SECONDS)
    assert list(get(stubs, note.id).keywords) == ["db", "postgres"]


def test_keywords_that_cannot_be_set_are_refused(stubs: Stubs, room: Room) -> None:
    note = room.insert(note=NewNote(title="port 1", keywords=("db",)))
    call = stubs.lifecycle.SetNoteKeywords
    nothing = call(keywords(note.id, ["db"], []), timeout=WAIT_SECONDS)

    assert nothing.note.event == 0
    assert refused(call, keywords(note.id, [], [])).reason == "BAD_FIELD"
    assert refused(call, keywords(note.id, ["x"], ["x"])).reason == "BAD_FIELD"
    assert "it carries db" in refused(call, keywords(note.id, [], ["y"])).message
    many = [f"k{number}" for number in range(64)]
    assert "65 keywords" in refused(call, keywords(note.id, many, [])).message
    room.change(Verb.RETIRE, note.id)
    assert refused(call, keywords(note.id, ["x"], [])).reason == "WRONG_STATE"


def a_file(fingerprint: str) -> note_pb2.Source:
    return note_pb2.Source(
        kind=note_pb2.SOURCE_KIND_FILE, locator="a.py", project="p", fingerprint=fingerprint
    )


def finding(note_id: str, source_id: int, **found: Any) -> sources_service_pb2.NoteSourceFinding:
    return sources_service_pb2.NoteSourceFinding(
        note_id=note_id, finding=note_pb2.SourceFinding(source_id=source_id, **found)
    )


def waiting(room: Room) -> int:
    return room.count("SELECT count(*) FROM review_items WHERE decided_at IS NULL")


def test_a_changed_source_waits_for_the_reviewer_until_it_is_renewed(
    stubs: Stubs, room: Room
) -> None:
    note = room.insert(note=NewNote(title="port 1"))
    added = stubs.sources.AddSources(
        sources_service_pb2.AddSourcesRequest(
            request_id=request_id(), id=note.id, sources=[a_file(KNOWN)]
        ),
        timeout=WAIT_SECONDS,
    )
    source = added.sources[0].id
    before = room.clock.ms
    room.clock.ms += LATER_MS

    def report(**found: Any) -> sources_service_pb2.ReportSourcesResponse:
        request = sources_service_pb2.ReportSourcesRequest(
            request_id=request_id(), findings=[finding(note.id, source, **found)]
        )
        return stubs.sources.ReportSources(request, timeout=WAIT_SECONDS)

    assert report(fingerprint=KNOWN).states == [note_pb2.SOURCE_STATE_SAME]
    assert waiting(room) == 0
    assert report(fingerprint=OTHER).waiting == report(fingerprint=OTHER).waiting == 1
    assert waiting(room) == 1
    assert report(fingerprint=KNOWN).waiting == 0
    assert waiting(room) == 0
    report(fingerprint=OTHER)
    refresh = sources_service_pb2.RefreshSourcesRequest(
        request_id=request_id(),
        findings=[finding(note.id, source, fingerprint=OTHER)],
        reason="read it",
    )
    refreshed = stubs.sources.RefreshSources(refresh, timeout=WAIT_SECONDS)

    assert refreshed.states == [note_pb2.SOURCE_STATE_CHANGED]
    assert len(refreshed.events) == 1
    assert waiting(room) == 0
    assert [each.fingerprint for each in get(stubs, note.id).sources] == [OTHER]
    assert [each.fingerprint for each in get(stubs, note.id, before).sources] == [KNOWN]
    assert report(fingerprint=OTHER).states == [note_pb2.SOURCE_STATE_SAME]
    nowhere = sources_service_pb2.ReportSourcesRequest(
        request_id=request_id(), findings=[finding(note.id, 99, gone=True)]
    )
    assert refused(stubs.sources.ReportSources, nowhere).reason == "NOTE_NOT_FOUND"


def test_sources_are_listed_page_by_page_of_notes_that_are_shown(stubs: Stubs, room: Room) -> None:
    notes = [room.insert(note=NewNote(title=f"port {number}")) for number in range(3)]
    for note in notes:
        request = sources_service_pb2.AddSourcesRequest(
            request_id=request_id(), id=note.id, sources=[a_file(KNOWN)]
        )
        stubs.sources.AddSources(request, timeout=WAIT_SECONDS)
    room.change(Verb.RETIRE, notes[2].id)
    user = note_pb2.ScopeFilter(scopes=["user"])
    seen, token = [], ""
    while True:
        request = sources_service_pb2.ListSourcesRequest(scope=user, page_size=1, page_token=token)  # type: ignore[assignment]  # another request
        page = stubs.sources.ListSources(request, timeout=WAIT_SECONDS)  # type: ignore[arg-type]
        seen += [each.title for each in page.sources]
        token = page.next_page_token
        if not token:
            break

    assert sorted(seen) == ["port 0", "port 1"]
    hidden = sources_service_pb2.ListSourcesRequest(id=notes[2].id)
    assert len(stubs.sources.ListSources(hidden, timeout=WAIT_SECONDS).sources) == 1
    bad = sources_service_pb2.ListSourcesRequest(scope=user, page_token="x")  # noqa: S106 - none
    assert refused(stubs.sources.ListSources, bad).reason == "BAD_PAGE_TOKEN"


def move(source: str, target: str, *, dry_run: bool = False) -> scopes_service_pb2.MoveScopeRequest:
    request = scopes_service_pb2.MoveScopeRequest(
        request_id=request_id(), reason="why", dry_run=dry_run, to=target
    )
    setattr(request, "from", source)
    return request


def save(title: str, scope: str) -> notes_service_pb2.InsertNoteRequest:
    note = notes_service_pb2.NewNote(title=title, scope=scope)
    return notes_service_pb2.InsertNoteRequest(request_id=request_id(), note=note)


@pytest.mark.parametrize("scope", [OLD, USER_SCOPE])
def test_no_move_lifts_a_rejection(stubs: Stubs, room: Room, scope: str) -> None:
    wrong = room.insert(note=NewNote(title="the cache may be shared", scope=scope))
    room.change(Verb.REJECT, wrong.id)

    stubs.scopes.MoveScope(move(scope, NEW), timeout=WAIT_SECONDS)

    for each in (scope, NEW):
        told = refused(stubs.notes.InsertNote, save("THE cache may be shared", each))
        assert told.reason == "REJECTED_TEXT"
    assert room.verify().ok


def test_what_a_reviewer_verified_is_moved_by_a_reviewer_alone(stubs: Stubs, room: Room) -> None:
    reviewer = Caller(actor="reviewer", door="cli")
    port = room.insert(note=NewNote(title="the pooler has port 6432", scope=OLD)).id
    by_hand = Oracle(kind=OracleKind.REVIEWER)
    room.change(Verb.VERIFY, port, caller=reviewer, oracle=by_hand)
    seed = room.insert(note=NewNote(title="the seed script runs first", scope=OLD)).id

    counted = stubs.scopes.MoveScope(move(OLD, NEW, dry_run=True), timeout=WAIT_SECONDS)
    moved = stubs.scopes.MoveScope(move(OLD, NEW), timeout=WAIT_SECONDS)

    assert (counted.moved, counted.reviewed) == (moved.moved, moved.reviewed) == (1, 1)
    assert (moved.left, get(stubs, seed).scope, get(stubs, port).scope) == (0, NEW, OLD)

    saying = Saying(caller=reviewer, reason="why")
    order = MoveOrder(source=OLD, target=NEW, key=room.key(), saying=saying, dry_run=False)
    assert move_scope(room.profile, order, WAIT_SECONDS).moved == 1
    assert get(stubs, port).scope == NEW


def test_what_an_insert_would_not_let_in_stays_where_it_is(stubs: Stubs, room: Room) -> None:
    wrong = room.insert(note=NewNote(title="rows without address are skipped", scope=NEW))
    room.change(Verb.REJECT, wrong.id)
    worded = room.insert(note=NewNote(title="skipped are rows without address", scope=OLD)).id
    before = room.insert(note=NewNote(title="the pooler has port 6432", scope=NEW)).id
    after = room.insert(note=NewNote(title="the pooler has port 7000", scope=NEW)).id
    room.change(Verb.SUPERSEDE, before, by=after)
    again = room.insert(note=NewNote(title="the pooler has port 6432", scope=OLD)).id
    kept = room.insert(note=NewNote(title="the seed script runs first", scope=OLD)).id

    counted = stubs.scopes.MoveScope(move(OLD, NEW, dry_run=True), timeout=WAIT_SECONDS)
    moved = stubs.scopes.MoveScope(move(OLD, NEW), timeout=WAIT_SECONDS)

    assert (counted.moved, counted.left) == (moved.moved, moved.left) == (1, 2)
    assert [get(stubs, each).scope for each in (worded, again, kept)] == [OLD, OLD, NEW]


@pytest.mark.parametrize("moved", [OLD, NEW])
def test_what_was_rejected_meanwhile_does_not_come_back_by_restoring_or_undoing(
    stubs: Stubs, room: Room, moved: str
) -> None:
    retired = room.insert(note=NewNote(title="the cache may be shared", scope=OLD)).id
    room.change(Verb.RETIRE, retired)
    port = room.insert(note=NewNote(title="the pooler has port 6432", scope=OLD)).id
    other = room.insert(note=NewNote(title="the pooler has port 7000", scope=OLD)).id
    replaced = room.change(Verb.SUPERSEDE, port, by=other).event
    for title in ("the cache may be shared", "the pooler has port 6432"):
        wrong = room.insert(note=NewNote(title=title, scope=NEW))
        room.change(Verb.REJECT, wrong.id)
    stubs.scopes.MoveScope(move(moved, NEW if moved == OLD else OLD), timeout=WAIT_SECONDS)

    restore = life.RestoreNoteRequest(request_id=request_id(), id=retired, reason="why")
    undo = life.UndoEventRequest(request_id=request_id(), event=replaced, reason="why")

    assert refused(stubs.lifecycle.RestoreNote, restore).reason == "REJECTED_TEXT"
    assert refused(stubs.lifecycle.UndoEvent, undo).reason == "REJECTED_TEXT"
    assert get(stubs, retired).condition == note_pb2.NOTE_CONDITION_RETIRED
    assert get(stubs, port).condition == note_pb2.NOTE_CONDITION_SUPERSEDED


def test_a_scope_is_moved_and_its_rejections_bind_both_but_brings_none_back(
    stubs: Stubs, room: Room
) -> None:
    kept = room.insert(note=NewNote(title="the seed script runs first", scope=OLD))
    back = room.insert(note=NewNote(title="the cache may be shared", scope=OLD))
    wrong = room.insert(note=NewNote(title="the cache may be shared", scope=NEW))
    room.change(Verb.REJECT, wrong.id)
    gone = room.insert(note=NewNote(title="ports are below 1024", scope=OLD))
    room.change(Verb.REJECT, gone.id)
    room.wait_until_joined()
    events = room.count("SELECT count(*) FROM events")

    counted = stubs.scopes.MoveScope(move(OLD, NEW, dry_run=True), timeout=WAIT_SECONDS)
    assert room.count("SELECT count(*) FROM events") == events
    moved = stubs.scopes.MoveScope(move(OLD, NEW), timeout=WAIT_SECONDS)

    assert (counted.moved, counted.left, counted.rejections) == (2, 1, 1)
    assert (moved.moved, moved.left, moved.rejections) == (2, 1, 1)
    assert room.count("SELECT count(*) FROM events") == events + 2
    assert [get(stubs, each.id).scope for each in (kept, back, gone)] == [NEW, OLD, NEW]
    question = recall_service_pb2.RetrieveRequest(
        text="the seed script runs first", scope=note_pb2.ScopeFilter(scopes=[NEW])
    )
    found = stubs.recall.Retrieve(question, timeout=WAIT_SECONDS).results
    # The vectors in memory know the new scope.
    assert [(each.id, "vector" in [arm.arm for arm in each.arms]) for each in found] == [
        (kept.id, True)
    ]
    restated = notes_service_pb2.InsertNoteRequest(
        request_id=request_id(),
        note=notes_service_pb2.NewNote(title="ports are below 1024", scope=NEW),
    )
    assert refused(stubs.notes.InsertNote, restated).reason == "REJECTED_TEXT"
    assert refused(stubs.scopes.MoveScope, move("nope", NEW)).reason == ("WRONG_STATE")
    assert refused(stubs.scopes.MoveScope, move(NEW, NEW)).reason == "BAD_FIELD"
    scopes = scopes_service_pb2.ListScopesRequest(scope=note_pb2.ScopeFilter(all=True))
    listed = stubs.scopes.ListScopes(scopes, timeout=WAIT_SECONDS).scopes
    assert [(each.scope, each.notes, each.hidden_notes) for each in listed] == [
        (OLD, 1, 0),
        (NEW, 1, 2),
    ]
