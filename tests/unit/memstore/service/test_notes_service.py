"""NotesService as a client meets it."""

import os
from collections.abc import Callable
from contextlib import closing
from uuid import UUID

import apsw
import grpc
import pytest
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import note_pb2, profiles_service_pb2
from graft.memory.v1 import notes_service_pb2 as pb
from graft.wire.errors import Refusal, read_refusal
from graft.wire.metadata import CallMetadata

SECONDS = 20
HURRIED_SECONDS = 3.0
EVERYWHERE = note_pb2.ScopeFilter(all=True)
PERSON = CallMetadata(door="cli", session="s-1").to_pairs()
FULL = pb.NewNote(
    title="pip cannot see the proxy",
    body="Set `HTTPS_PROXY`.",
    keywords=["pip", "proxy"],
    kind=note_pb2.NOTE_KIND_DEAD_END,
    scope="project:a",
    author="me",
    sources=[note_pb2.Source(kind=note_pb2.SOURCE_KIND_URL, locator="https://example.org")],
    valid_from_ms=1,
    expires_at_ms=2**41,
    applies_to=["npm:react@^18", "os:linux|macos"],
)


def new_id() -> str:
    return str(UUID(bytes=os.urandom(16)))


def insert(stubs: Stubs, note: pb.NewNote = FULL, request_id: str = "") -> pb.InsertNoteResponse:
    request = pb.InsertNoteRequest(request_id=request_id or new_id(), note=note)
    return stubs.notes.InsertNote(request, timeout=SECONDS)


def refusal_of(call: Callable[[], object]) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return read_refusal(raised.value)


def test_what_is_stored_is_handed_out_whole(stubs: Stubs) -> None:
    reply = insert(stubs)

    note = stubs.notes.GetNote(pb.GetNoteRequest(id=reply.note.id[-8:]), timeout=SECONDS).note
    assert (note.title, note.body, note.kind) == (FULL.title, FULL.body, FULL.kind)
    assert list(note.keywords) == ["pip", "proxy"]
    assert note.sources[0].locator == "https://example.org"
    assert (note.valid_from_ms, note.HasField("valid_to_ms")) == (1, False)
    assert note.trust == note_pb2.TRUST_OBSERVED
    assert list(note.applies_to) == ["npm:react@^18", "os:linux|macos"]
    assert list(reply.degraded) == []


def test_a_hurried_change_hears_of_another_program_s_lock_and_reads_go_on(stubs: Stubs) -> None:
    note_id = insert(stubs).note.id
    stubs.room.wait_until_joined()
    path = stubs.room.profile.path
    new = pb.InsertNoteRequest(request_id=new_id(), note=pb.NewNote(title="another"))
    gone = pb.DeleteNoteRequest(request_id=new_id(), id=note_id, reason="wrong")
    moved = profiles_service_pb2.StartReindexRequest(model="new")

    with closing(apsw.Connection(str(path))) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        refusals = [
            refusal_of(lambda: stubs.notes.InsertNote(new, timeout=HURRIED_SECONDS)),
            refusal_of(
                lambda: stubs.notes.DeleteNote(gone, timeout=HURRIED_SECONDS, metadata=PERSON)
            ),
            refusal_of(lambda: stubs.profiles.StartReindex(moved, timeout=HURRIED_SECONDS)),
        ]
        read = stubs.notes.GetNote(pb.GetNoteRequest(id=note_id), timeout=HURRIED_SECONDS)

    assert [each.reason for each in refusals] == ["DATABASE_LOCKED"] * 3
    assert all(f"fuser {path}" in each.message for each in refusals)
    assert read.note.title == FULL.title
    assert stubs.notes.InsertNote(new, timeout=SECONDS).note.id != note_id


def test_a_retry_of_the_same_request_answers_the_same(stubs: Stubs) -> None:
    request_id = new_id()

    first = insert(stubs, request_id=request_id)
    again = insert(stubs, request_id=request_id.upper())

    assert again.note.id == first.note.id
    assert again.note.event == first.note.event
    assert not again.note.duplicate


def test_another_request_with_the_same_id_is_refused(stubs: Stubs) -> None:
    request_id = new_id()
    insert(stubs, request_id=request_id)

    refusal = refusal_of(lambda: insert(stubs, pb.NewNote(title="other"), request_id))

    assert (refusal.code, refusal.reason) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "REQUEST_ID_REUSED",
    )


def test_a_note_over_a_limit_is_refused_with_the_field_named(stubs: Stubs) -> None:
    refusal = refusal_of(lambda: insert(stubs, pb.NewNote(title="", body="x" * (1024**2 + 1))))

    assert refusal.reason == "BAD_FIELD"
    assert [each.field for each in refusal.violations] == ["note.title", "note.body"]
    assert "1,048,576" in refusal.message


def test_an_unknown_kind_is_refused(stubs: Stubs) -> None:
    source = note_pb2.Source(locator="x")

    refusal = refusal_of(lambda: insert(stubs, pb.NewNote(title="t", sources=[source])))

    assert refusal.violations[0].field == "note.sources"


def test_a_batch_answers_in_its_order(stubs: Stubs) -> None:
    notes = [pb.NewNote(title=f"note {number}") for number in range(3)]
    request = pb.InsertNotesRequest(request_id=new_id(), notes=notes, wait_for_passages=True)

    reply = stubs.notes.InsertNotes(request, timeout=SECONDS)

    listed = stubs.notes.ListNotes(pb.ListNotesRequest(scope=EVERYWHERE), timeout=SECONDS)
    assert [each.id for each in reversed(reply.notes)] == [each.id for each in listed.notes]


def test_pages_follow_one_another(stubs: Stubs) -> None:
    for number in range(5):
        insert(stubs, pb.NewNote(title=f"note {number}"))
    request = pb.ListNotesRequest(scope=EVERYWHERE, page_size=2)
    titles: list[str] = []
    while True:
        page = stubs.notes.ListNotes(request, timeout=SECONDS)
        titles += [note.title for note in page.notes]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token

    assert titles == ["note 4", "note 3", "note 2", "note 1", "note 0"]


def test_a_page_has_a_largest_size(stubs: Stubs) -> None:
    request = pb.ListNotesRequest(scope=EVERYWHERE, page_size=257)

    refusal = refusal_of(lambda: stubs.notes.ListNotes(request, timeout=SECONDS))

    assert refusal.violations[0].field == "page_size"


def test_a_listing_must_say_where_it_looks(stubs: Stubs) -> None:
    refusal = refusal_of(lambda: stubs.notes.ListNotes(pb.ListNotesRequest(), timeout=SECONDS))

    assert refusal.violations[0].field == "scope"


def test_an_unknown_id_is_not_found(stubs: Stubs) -> None:
    request = pb.GetNoteRequest(id="f" * 32)

    refusal = refusal_of(lambda: stubs.notes.GetNote(request, timeout=SECONDS))

    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "NOTE_NOT_FOUND")


@pytest.mark.parametrize(
    ("metadata", "outcome"),
    [
        (PERSON, pb.DELETE_OUTCOME_ERASED),
        (CallMetadata(door="mcp").to_pairs(), pb.DELETE_OUTCOME_RETIRED),
        ((), pb.DELETE_OUTCOME_RETIRED),
    ],
)
def test_the_door_decides_how_a_note_goes(
    stubs: Stubs, metadata: tuple[tuple[str, str], ...], outcome: pb.DeleteOutcome.ValueType
) -> None:
    stored = insert(stubs).note.id
    request = pb.DeleteNoteRequest(request_id=new_id(), id=stored, reason="wrong")

    reply = stubs.notes.DeleteNote(request, metadata=metadata, timeout=SECONDS)

    assert (reply.id, reply.outcome, reply.event) == (stored, outcome, 2)


def test_an_event_tells_session_and_door(stubs: Stubs) -> None:
    request = pb.InsertNoteRequest(request_id=new_id(), note=FULL)
    stubs.notes.InsertNote(request, metadata=PERSON, timeout=SECONDS)

    with stubs.room.profile.snapshot() as connection:
        rows = connection.execute("SELECT actor, channel, door, action FROM events").fetchall()

    assert rows == [("agent", "s-1", "cli", "insert")]


def test_counts_are_of_the_scopes_asked_for(stubs: Stubs) -> None:
    insert(stubs)
    insert(stubs, pb.NewNote(title="elsewhere"))
    scope = note_pb2.ScopeFilter(scopes=["project:a"])

    stats = stubs.notes.GetStats(pb.GetStatsRequest(scope=scope), timeout=SECONDS)

    assert (stats.notes, stats.notes_elsewhere, stats.events) == (1, 1, 2)
    assert stats.model == "fake"
    assert stats.file_bytes > 0


def test_a_model_that_is_away_degrades_an_insert_and_no_more(stubs: Stubs) -> None:
    stubs.room.embedder.away["fake"] = "no file"

    reply = insert(stubs)

    assert list(reply.degraded) == ["vector"]
    assert reply.note.pending == 2


def test_an_unknown_profile_names_the_command_that_makes_it(stubs: Stubs) -> None:
    request = pb.GetNoteRequest(profile="work", id="f" * 32)

    refusal = refusal_of(lambda: stubs.notes.GetNote(request, timeout=SECONDS))

    assert refusal.reason == "PROFILE_NOT_FOUND"
    assert "graft profile add work" in refusal.message


def test_a_copy_of_all_notes_has_their_bodies_and_counts_as_no_use(stubs: Stubs) -> None:
    for number in range(5):
        insert(stubs, pb.NewNote(title=f"note {number}", body=f"body {number}"))
    request = pb.ListNotesRequest(scope=EVERYWHERE, page_size=3, with_bodies=True)

    first = stubs.notes.ListNotes(request, timeout=SECONDS)
    request.page_token = first.next_page_token
    second = stubs.notes.ListNotes(request, timeout=SECONDS)

    bodies = [note.body for page in (first, second) for note in page.notes]
    got = stubs.notes.GetNote(pb.GetNoteRequest(id=first.notes[0].id), timeout=SECONDS)
    assert bodies == [f"body {number}" for number in reversed(range(5))]
    assert second.next_page_token == ""
    assert (got.uses.got, got.uses.strong) == (0, 0)


def test_a_page_with_bodies_has_at_most_32_notes(stubs: Stubs) -> None:
    request = pb.ListNotesRequest(scope=EVERYWHERE, page_size=33, with_bodies=True)

    refusal = refusal_of(lambda: stubs.notes.ListNotes(request, timeout=SECONDS))

    assert refusal.violations[0].field == "page_size"
    assert "32 at most" in refusal.message
