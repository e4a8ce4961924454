"""Every refusal of a change is an event; the same again within a minute is one more, counted."""

import os
import threading
from pathlib import Path
from uuid import UUID

import grpc
import pytest
from tests.unit.memstore.room import AGENT, WAIT_SECONDS, open_room
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import (
    audit_service_pb2,
    lifecycle_service_pb2,
    note_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
)
from graft.wire.metadata import CallMetadata
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Caller, NoteId
from graft_memstore.upkeep.refusals import BESIDES, KINDS_MAX, WINDOW_SECONDS, Refusals, Refused

SECONDS = 20
HOOK = CallMetadata(door="hook", session="s-7").to_pairs()
NOBODY = "0" * 32
ALL = note_pb2.ScopeFilter(all=True)


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def new_id() -> str:
    return str(UUID(bytes=os.urandom(16)))


def retire(stubs: Stubs, note_id: str, request_id: str = "") -> None:
    request = lifecycle_service_pb2.RetireNoteRequest(
        request_id=request_id or new_id(), id=note_id, reason="r"
    )
    with pytest.raises(grpc.RpcError):
        stubs.lifecycle.RetireNote(request, timeout=SECONDS, metadata=HOOK)


def refusals(stubs: Stubs) -> list[tuple[str, str, int]]:
    """Return the reason, the note and the count of each refusal that is recorded, in order."""
    scribe = stubs.room.upkeep.scribe("default")
    assert scribe is not None
    assert scribe.settle(WAIT_SECONDS)
    request = audit_service_pb2.ListEventsRequest(action="refused")
    events = stubs.audit.ListEvents(request, timeout=SECONDS).events
    return [(each.reason, each.note_id, each.count) for each in reversed(events)]


def refused(what: str = "RetireNote: WRONG_STATE", note_id: str | None = None) -> Refused:
    return Refused(caller=AGENT, note_id=None if note_id is None else NoteId(note_id), what=what)


def test_a_refusal_is_recorded_with_its_reason_and_whoever_was_refused(stubs: Stubs) -> None:
    note = stubs.room.insert("the first note").id
    stubs.room.change(Verb.RETIRE, note)

    retire(stubs, note)
    retire(stubs, NOBODY)
    retire(stubs, note, request_id="no uuid")
    with pytest.raises(grpc.RpcError):
        stubs.notes.InsertNote(
            notes_service_pb2.InsertNoteRequest(
                request_id=new_id(), note=notes_service_pb2.NewNote(title="the first note")
            ),
            timeout=SECONDS,
        )
    with pytest.raises(grpc.RpcError):
        stubs.profiles.StartReindex(
            profiles_service_pb2.StartReindexRequest(model="nowhere"), timeout=SECONDS
        )

    assert refusals(stubs) == [
        ("RetireNote: WRONG_STATE", note, 1),
        ("RetireNote: NOTE_NOT_FOUND", NOBODY, 1),
        ("RetireNote: BAD_FIELD", note, 1),
        ("InsertNote: KNOWN_TEXT", note, 1),
        ("StartReindex: MODEL_NOT_FOUND", "", 1),
    ]
    (first,) = stubs.audit.ListEvents(
        audit_service_pb2.ListEventsRequest(action="refused", before=4), timeout=SECONDS
    ).events
    assert (first.actor, first.session, first.door) == ("agent", "s-7", "hook")


def test_a_read_that_is_refused_is_no_event(stubs: Stubs) -> None:
    stubs.room.insert("the first note")

    with pytest.raises(grpc.RpcError):
        stubs.notes.GetNote(notes_service_pb2.GetNoteRequest(id=NOBODY), timeout=SECONDS)
    with pytest.raises(grpc.RpcError):
        stubs.recall.Query(recall_service_pb2.QueryRequest(text=" ", scope=ALL), timeout=SECONDS)

    assert refusals(stubs) == []


def test_the_same_again_is_one_row_with_a_count_when_the_service_ends(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        room.insert("the first note")
        scribe = room.upkeep.scribe("default")
        assert scribe is not None
        for _ in range(50):
            scribe.refused(refused())
        assert scribe.settle(WAIT_SECONDS)
        counts = "SELECT count(*) FROM events WHERE action = 'refused'"
        running = room.count(counts)

    with open_room(tmp_path, watched=False) as again:
        assert (running, again.count(counts)) == (1, 2)
        assert again.count("SELECT max(count) FROM events") == 49


def test_each_minute_begins_with_a_refusal_and_ends_with_the_count_of_the_others() -> None:
    clock = Clock()
    counted = Refusals(clock)
    for _ in range(3):
        counted.add(refused())
    first = counted.take()
    within = counted.left()

    clock.seconds = WINDOW_SECONDS
    counted.close()
    ended = counted.take()
    counted.add(refused())

    assert (first, within) == ((refused(),), WINDOW_SECONDS)
    assert [each.count for each in ended] == [2]
    assert counted.take() == (refused(),)
    assert counted.left() is None


def test_of_very_many_kinds_the_later_ones_are_counted_together() -> None:
    counted = Refusals(Clock())
    for number in range(KINDS_MAX + 30):
        counted.add(refused(note_id=f"{number:032x}"))
    first = counted.take()
    counted.close(every=True)

    assert (len(first), first[-1].what, first[-1].note_id) == (KINDS_MAX + 1, BESIDES, None)
    assert [(each.what, each.count) for each in counted.take()] == [(BESIDES, 29)]
    assert first[-1].caller == Caller(door="mcp")


def test_what_cannot_be_written_now_waits_in_its_order() -> None:
    counted = Refusals(Clock())
    counted.add(refused("a"))
    taken = counted.take()
    counted.add(refused("b"))

    counted.put_back(taken)

    assert [each.what for each in counted.take()] == ["a", "b"]


def test_what_is_done_to_a_profile_is_an_event(stubs: Stubs) -> None:
    room = stubs.room
    room.insert("the first note", wait=True)
    stubs.recall.Query(
        recall_service_pb2.QueryRequest(text="rotate a picture", scope=ALL), timeout=SECONDS
    )
    stubs.recall.ClearMisses(
        recall_service_pb2.ClearMissesRequest(request_id=new_id(), scope=ALL),
        timeout=SECONDS,
        metadata=HOOK,
    )
    asked_twice = threading.Event()

    def hold_up(model: str) -> None:
        # Once the profile has moved, asking again is asking for another move.
        if model == "new":
            asked_twice.wait(WAIT_SECONDS)

    room.embedder.before = hold_up
    for _ in range(2):
        stubs.profiles.StartReindex(
            profiles_service_pb2.StartReindexRequest(model="new"), timeout=SECONDS
        )
    asked_twice.set()
    progress = profiles_service_pb2.GetReindexRequest()
    seen = room.profile.changes.count
    while stubs.profiles.GetReindex(progress, timeout=SECONDS).target_model:
        seen = room.profile.changes.wait(seen, WAIT_SECONDS)
    stubs.profiles.AddProfile(profiles_service_pb2.AddProfileRequest(name="other"), timeout=SECONDS)

    told = stubs.audit.ListEvents(audit_service_pb2.ListEventsRequest(), timeout=SECONDS).events
    assert [(each.action, each.reason, each.door) for each in reversed(told)][1:] == [
        ("clear-misses", "questions: 1, groups: 1", "hook"),
        ("reindex", "to new", "library"),
        ("switch-model", "to new", "upkeep"),
    ]
    other = audit_service_pb2.ListEventsRequest(profile="other")
    (added,) = stubs.audit.ListEvents(other, timeout=SECONDS).events
    assert (added.action, added.reason) == ("add-profile", "other")
