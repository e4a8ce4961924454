"""Whoever was given a note hears once what became of it."""

import os
import threading
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.memstore.room import PERSON, WAIT_SECONDS, Room, locked, open_room
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import (
    lifecycle_service_pb2,
    note_pb2,
    notes_service_pb2,
    recall_service_pb2,
)
from graft.wire.metadata import CallMetadata
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Caller, EventSeq, Happening, NewNote, NoteId
from graft_memstore.service.given import NOTICES_TOLD_MAX, Giving
from graft_memstore.store import notices as notices_table
from graft_memstore.store.notices import add_given, delete_old, read_notices
from graft_memstore.store.transaction import Transaction
from graft_memstore.upkeep.ledger import Given
from graft_memstore.upkeep.scribe import Scribe

SECONDS = 20
TITLE = "pip cannot see the proxy behind the company firewall"
USER = note_pb2.ScopeFilter(scopes=["user"])
Metadata = tuple[tuple[str, str], ...]
Told = list[tuple[str, str, str]]


def of(session: str) -> Metadata:
    return tuple(CallMetadata(door="cli", session=session).to_pairs())


def told(notices: object) -> Told:
    return [
        (each.id, note_pb2.Happening.Name(each.happened)[10:].lower(), each.successor)
        for each in notices  # type: ignore[attr-defined] # a repeated field
    ]


def get(stubs: Stubs, note_id: str, session: str) -> notes_service_pb2.GetNoteResponse:
    request = notes_service_pb2.GetNoteRequest(id=note_id)
    return stubs.notes.GetNote(request, timeout=SECONDS, metadata=of(session))


def query(stubs: Stubs, text: str, session: str) -> recall_service_pb2.QueryResponse:
    request = recall_service_pb2.QueryRequest(text=text, scope=USER)
    return stubs.recall.Query(request, timeout=SECONDS, metadata=of(session))


def retrieve(stubs: Stubs, text: str, session: str) -> recall_service_pb2.RetrieveResponse:
    request = recall_service_pb2.RetrieveRequest(text=text, scope=USER)
    return stubs.recall.Retrieve(request, timeout=SECONDS, metadata=of(session))


def retire(stubs: Stubs, note_id: str, session: str = "") -> lifecycle_service_pb2.ChangedNote:
    request = lifecycle_service_pb2.RetireNoteRequest(
        request_id=new_id(), id=note_id, reason="it moved"
    )
    return stubs.lifecycle.RetireNote(request, timeout=SECONDS, metadata=of(session)).note


def new_id() -> str:
    return str(UUID(bytes=os.urandom(16)))


def scribe_of(room: Room) -> Scribe:
    scribe = room.upkeep.scribe("default")
    assert scribe is not None
    return scribe


def given(room: Room, note_id: str, session: str) -> Given:
    seen = EventSeq(room.count("SELECT max(seq) FROM events"))
    return Given(note_id=NoteId(note_id), session=session, at_ms=1, strong=False, seen=seen)


def test_a_session_that_was_given_a_note_hears_once_that_it_was_retired(stubs: Stubs) -> None:
    note = stubs.room.insert(TITLE, "Set `HTTPS_PROXY`.", wait=True).id
    assert query(stubs, TITLE, "s-1").hit == recall_service_pb2.HIT_STRONG
    get(stubs, note, "s-2")
    retrieve(stubs, TITLE, "s-3")
    get(stubs, note, "")

    changed = retire(stubs, note, session="s-9")

    assert (changed.given_to.count, list(changed.given_to.sessions)) == (2, ["s-1", "s-2"])
    assert told(query(stubs, "rotate a picture", "s-1").notices) == [(note, "retired", "")]
    assert told(retrieve(stubs, "rotate a picture", "s-2").notices) == [(note, "retired", "")]
    for session in ("s-1", "s-2", "s-3", "s-9", ""):
        assert told(query(stubs, "rotate a picture", session).notices) == []
    assert scribe_of(stubs.room).settle(WAIT_SECONDS)
    assert told(query(stubs, "rotate a picture", "s-1").notices) == []
    assert stubs.room.count("SELECT count(*) FROM notices") == 0


@pytest.mark.parametrize("how", ["superseded", "rejected", "disputed", "deleted"])
def test_every_way_that_a_note_stops_to_hold_is_told(stubs: Stubs, how: str) -> None:
    room = stubs.room
    note = room.insert(TITLE).id
    other = room.insert("the proxy is set in pip.conf").id
    get(stubs, note, "s-1")
    scribe_of(room).flush(WAIT_SECONDS)

    if how == "superseded":
        given_to = room.change(Verb.SUPERSEDE, note, by=other).given_to
    elif how == "rejected":
        given_to = room.change(Verb.REJECT, note).given_to
    elif how == "disputed":
        given_to = room.change(Verb.DISPUTE, note).given_to
    else:
        given_to = room.delete(note, caller=PERSON).given_to

    assert (given_to.count, given_to.sessions) == (1, ("s-1",))
    reply = get(stubs, other, "s-1")
    assert told(reply.notices) == [(note, how, other if how == "superseded" else "")]
    # Searches show what is disputed; of all else no title is told.
    assert reply.notices[0].title == (TITLE if how == "disputed" else "")
    assert told(get(stubs, other, "s-1").notices) == []


def test_a_correction_tells_whom_the_old_note_was_given(stubs: Stubs) -> None:
    note = stubs.room.insert(TITLE).id
    get(stubs, note, "s-1")

    request = notes_service_pb2.InsertNoteRequest(
        request_id=new_id(),
        note=notes_service_pb2.NewNote(title="it is in pip.conf", supersedes=note, reason="r"),
    )
    stored = stubs.notes.InsertNote(request, timeout=SECONDS).note
    again = stubs.notes.InsertNote(request, timeout=SECONDS).note

    assert list(stored.given_to.sessions) == list(again.given_to.sessions) == ["s-1"]
    assert told(get(stubs, note, "s-1").notices) == [(note, "superseded", stored.id)]


def test_of_a_note_that_holds_again_nobody_is_told(stubs: Stubs) -> None:
    room = stubs.room
    note, other = room.insert(TITLE).id, room.insert("another note").id
    get(stubs, note, "s-1")
    get(stubs, other, "s-1")
    retire(stubs, note)
    undone = retire(stubs, other)

    room.change(Verb.RESTORE, note)
    room.change(Verb.UNDO, event=undone.event)

    assert told(get(stubs, other, "s-1").notices) == []
    assert list(retire(stubs, note).given_to.sessions) == ["s-1"]


def test_of_one_note_the_last_thing_is_told_alone(stubs: Stubs) -> None:
    note = stubs.room.insert(TITLE).id
    get(stubs, note, "s-1")
    scribe_of(stubs.room).flush(WAIT_SECONDS)
    stubs.room.change(Verb.DISPUTE, note)
    stubs.room.change(Verb.RETIRE, note)

    assert told(get(stubs, note, "s-1").notices) == [(note, "retired", "")]


def test_notices_outlive_the_process_and_are_told_before_anything_can_be_written(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path) as room:
        note = room.insert(TITLE).id
        scribe_of(room).gave(given(room, note, "s-1"))
        assert scribe_of(room).settle(WAIT_SECONDS)
        room.change(Verb.RETIRE, note)

    with open_room(tmp_path) as again:
        giving, caller = Giving(again.upkeep.scribe), Caller(session="s-1")
        with again.profile.snapshot() as connection:
            with locked(again.profile.path):
                first = giving.notices("default", connection, caller, again.clock.ms)
                second = giving.notices("default", connection, caller, again.clock.ms)
            assert scribe_of(again).settle(WAIT_SECONDS)
            # The same snapshot still holds the notice when it has gone from the file.
            third = giving.notices("default", connection, caller, again.clock.ms)

    assert told(first) == [(note, "retired", "")]
    assert (second, third) == ([], [])
    with open_room(tmp_path, watched=False) as last, last.profile.snapshot() as connection:
        assert read_notices(connection, "s-1", 10) == []


def test_two_answers_at_once_tell_a_notice_once(stubs: Stubs) -> None:
    note = stubs.room.insert(TITLE).id
    get(stubs, note, "s-1")
    retire(stubs, note)
    found: list[Told] = []
    threads = [
        threading.Thread(target=lambda: found.append(told(get(stubs, note, "s-1").notices)))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert max(found) == [(note, "retired", "")]
    assert sum(len(each) for each in found) == 1


def test_what_happened_between_an_answer_and_its_writing_is_told(room: Room) -> None:
    retired, erased = room.insert("the first note").id, room.insert("the second note").id
    late = [given(room, each, "s-1") for each in (retired, erased)]
    room.change(Verb.RETIRE, retired)
    room.delete(erased)

    for each in late:
        scribe_of(room).gave(each)
    # Whoever asked for a note as it is, or was, knows that it is out of use.
    scribe_of(room).gave(given(room, retired, "s-2"))
    assert scribe_of(room).settle(WAIT_SECONDS)

    with room.profile.snapshot() as connection:
        waiting = read_notices(connection, "s-1", 10)
        others = read_notices(connection, "s-2", 10)
    assert [(each.note_id, each.happened) for each in waiting] == [
        (retired, Happening.RETIRED),
        (erased, Happening.DELETED),
    ]
    assert others == []


def test_many_notices_come_with_several_answers(stubs: Stubs) -> None:
    notes = [NewNote(title=f"note {number}") for number in range(NOTICES_TOLD_MAX + 3)]
    ids = [each.id for each in stubs.room.insert_all(notes).notes]
    for each in ids:
        get(stubs, each, "s-1")
    for each in ids:
        retire(stubs, each)

    first, second = get(stubs, ids[0], "s-1").notices, get(stubs, ids[0], "s-1").notices

    assert [each.id for each in (*first, *second)] == ids
    assert (len(first), len(second)) == (NOTICES_TOLD_MAX, 3)


def test_only_the_newest_are_remembered(still_room: Room) -> None:
    kept = notices_table.GIVEN_NOTES_MAX

    def fill(transaction: Transaction) -> None:
        for number in range(kept + 5):
            add_given(transaction.connection, f"s-{number}", NoteId("0" * 32), 1)
        delete_old(transaction.connection)

    still_room.profile.write(fill)

    assert still_room.count("SELECT count(*) FROM given_notes") == kept
    assert still_room.count("SELECT min(given_id) FROM given_notes") == 6


def test_whoever_is_bound_hears_of_its_scopes_alone_whatever_session_it_names(
    stubs: Stubs, room: Room
) -> None:
    ours, theirs = "project:ours", "project:theirs"
    inside = room.insert(note=NewNote(title="port 6432", scope=ours)).id
    outside = room.insert(note=NewNote(title="port 7117", scope=theirs)).id
    newer = room.insert(note=NewNote(title="port 7118", scope=theirs)).id
    for note_id in (inside, outside):
        get(stubs, note_id, "s-1")
    scribe_of(room).settle(WAIT_SECONDS)
    room.change(Verb.SUPERSEDE, inside, by=newer)
    room.change(Verb.RETIRE, outside)
    bound = CallMetadata(door="mcp", session="s-1", bound=(ours,)).to_pairs()
    request = notes_service_pb2.GetNoteRequest(id=inside)

    reply = stubs.notes.GetNote(request, timeout=SECONDS, metadata=bound)

    assert told(reply.notices) == [(inside, "superseded", "")]
    # The other one waits for whoever may hear it.
    assert told(get(stubs, inside, "s-1").notices) == [(outside, "retired", "")]
