"""LifecycleService over a real socket: every verb, every refusal with its reason and facts."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
import pytest
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import lifecycle_service_pb2 as pb
from graft.memory.v1 import note_pb2, notes_service_pb2
from graft.wire.errors import read_refusal

SECONDS = 20


def request_id() -> str:
    return str(uuid.UUID(int=uuid.uuid1().int))


def insert(stubs: Stubs, title: str, **fields: Any) -> notes_service_pb2.InsertedNote:
    request = notes_service_pb2.InsertNoteRequest(
        request_id=request_id(), note=notes_service_pb2.NewNote(title=title, **fields)
    )
    return stubs.notes.InsertNote(request, timeout=SECONDS).note


def get(stubs: Stubs, note_id: str) -> note_pb2.Note:
    request = notes_service_pb2.GetNoteRequest(id=note_id)
    return stubs.notes.GetNote(request, timeout=SECONDS).note


def refused(call: Callable[[], object]) -> tuple[str, grpc.StatusCode, dict[str, str]]:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    refusal = read_refusal(raised.value)
    return refusal.reason, refusal.code, dict(refusal.metadata)


def test_every_verb_answers_with_the_note_as_it_is(stubs: Stubs) -> None:
    life = stubs.lifecycle
    ids = [insert(stubs, f"port {number}").id for number in range(6)]
    why = {"request_id": request_id(), "reason": "why"}

    def fresh() -> dict[str, Any]:
        return {**why, "request_id": request_id()}

    superseded = life.SupersedeNote(pb.SupersedeNoteRequest(id=ids[0], by=ids[1], **fresh()))
    retired = life.RetireNote(pb.RetireNoteRequest(id=ids[2], **fresh()))
    restored = life.RestoreNote(pb.RestoreNoteRequest(id=ids[2], **fresh()))
    rejected = life.RejectNote(pb.RejectNoteRequest(id=ids[3], **fresh()))
    disputed = life.DisputeNote(pb.DisputeNoteRequest(id=ids[4], **fresh()))
    stale = life.MarkNoteStale(pb.MarkNoteStaleRequest(id=ids[5], **fresh()))
    times = life.SetNoteTimes(
        pb.SetNoteTimesRequest(id=ids[1], valid_from=pb.NoteTime(at_ms=5), **fresh())
    )
    cleared = life.SetNoteTimes(
        pb.SetNoteTimesRequest(id=ids[1], valid_from=pb.NoteTime(), **fresh())
    )
    undone = life.UndoEvent(pb.UndoEventRequest(event=disputed.note.event, **fresh()))

    assert superseded.note.lifecycle == note_pb2.LIFECYCLE_SUPERSEDED
    assert superseded.superseded_by == ids[1]
    assert retired.note.lifecycle == note_pb2.LIFECYCLE_RETIRED
    assert restored.note.lifecycle == note_pb2.LIFECYCLE_ACTIVE
    assert (rejected.note.trust, rejected.others) == (note_pb2.TRUST_REJECTED, 0)
    assert disputed.note.trust == note_pb2.TRUST_DISPUTED
    assert stale.note.trust == note_pb2.TRUST_STALE
    assert times.note.valid_from_ms == 5
    assert not cleared.note.HasField("valid_from_ms")
    assert undone.note.trust == note_pb2.TRUST_OBSERVED
    assert get(stubs, ids[0]).superseded_by == ids[1]
    assert get(stubs, ids[0]).state_reason == "why"
    assert get(stubs, ids[0]).state_event == superseded.note.event


def test_a_retry_answers_the_same(stubs: Stubs) -> None:
    note_id = insert(stubs, "port 1").id
    request = pb.RetireNoteRequest(id=note_id, request_id=request_id(), reason="why")

    first = stubs.lifecycle.RetireNote(request, timeout=SECONDS)
    again = stubs.lifecycle.RetireNote(request, timeout=SECONDS)

    assert first == again
    assert stubs.room.count("SELECT count(*) FROM events") == 2


def test_every_refusal_has_its_own_reason_and_the_state_as_it_is(stubs: Stubs) -> None:
    first = insert(stubs, "port 1").id
    second = insert(stubs, "port 2", supersedes=first, reason="moved").id
    third = insert(stubs, "port 3").id
    why: dict[str, Any] = {"request_id": request_id(), "reason": "why"}

    def supersede(old: str, new: str) -> tuple[str, grpc.StatusCode, dict[str, str]]:
        request = pb.SupersedeNoteRequest(id=old, by=new, **why)
        return refused(lambda: stubs.lifecycle.SupersedeNote(request, timeout=SECONDS))

    not_now, never = grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.INVALID_ARGUMENT
    reason, code, facts = supersede(first, third)
    assert (reason, code) == ("SUPERSEDED_ALREADY", not_now)
    assert (facts["state"], facts["head"]) == ("superseded", second)
    reason, code, facts = supersede(second, first)
    assert (reason, code, facts["head"]) == ("SUPERSEDING_CYCLE", not_now, second)
    assert supersede(third, third)[:2] == ("SELF_REFERENCE", never)
    assert supersede(third, "f" * 32)[:2] == ("NOTE_NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    assert supersede(third, "xyz")[:2] == ("BAD_FIELD", never)
    assert supersede(third[:8], second)[:2] == ("AMBIGUOUS_ID", never)
    known = refused(lambda: insert(stubs, "port 1"))
    assert known[:2] == ("KNOWN_TEXT", not_now)
    assert known[2] == {"state": "superseded", "note_id": first, "head": second}
    for number in (0, 999, 2**63, 2**64 - 1):
        no_event = pb.UndoEventRequest(event=number, **why)
        told = refused(partial(stubs.lifecycle.UndoEvent, no_event, timeout=SECONDS))
        assert told[:2] == ("EVENT_NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    first_event = pb.UndoEventRequest(event=1, **why)
    last = refused(lambda: stubs.lifecycle.UndoEvent(first_event, timeout=SECONDS))
    assert last[0] == "NOT_LAST_CHANGE"
    assert last[2] == {"note_id": first, "event": "3"}
    no_times = pb.SetNoteTimesRequest(id=third, **why)
    assert refused(lambda: stubs.lifecycle.SetNoteTimes(no_times, timeout=SECONDS))[0] == (
        "BAD_FIELD"
    )


def test_a_rejected_text_is_refused_in_a_batch_as_well(stubs: Stubs) -> None:
    note_id = insert(stubs, "port 1").id
    why = {"request_id": request_id(), "reason": "why"}
    stubs.lifecycle.RejectNote(pb.RejectNoteRequest(id=note_id, **why), timeout=SECONDS)
    batch = notes_service_pb2.InsertNotesRequest(
        request_id=request_id(),
        notes=[notes_service_pb2.NewNote(title=title) for title in ("port 2", "PORT 1")],
    )

    reason, code, facts = refused(lambda: stubs.notes.InsertNotes(batch, timeout=SECONDS))

    assert (reason, code) == ("REJECTED_TEXT", grpc.StatusCode.FAILED_PRECONDITION)
    assert facts == {"state": "rejected"}
    assert stubs.room.count("SELECT count(*) FROM notes") == 1


def test_superseding_needs_a_reason(stubs: Stubs) -> None:
    note_id = insert(stubs, "port 1").id

    assert refused(lambda: insert(stubs, "port 2", supersedes=note_id))[0] == "BAD_FIELD"
    assert refused(lambda: insert(stubs, "port 2", restore=True))[0] == "BAD_FIELD"
