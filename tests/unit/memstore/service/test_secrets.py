"""Secrets in new notes, as a client in any language meets them."""

import os
from uuid import UUID

import grpc
import pytest
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import audit_service_pb2, note_pb2
from graft.memory.v1 import notes_service_pb2 as pb
from graft.wire.errors import Refusal, read_refusal
from graft_memstore.leaks.scan import FINDINGS_MAX

SECONDS = 20
WAIT_SECONDS = 20.0
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MASKED = f"{TOKEN[:4]}…{TOKEN[-4:]}"
LEAKING = pb.NewNote(title="how to clone", body=f"one\nuse {TOKEN}\n")
CLEAN = pb.NewNote(title="how to build", body="make")
FINDING = pb.SecretFinding(kind="GitHub Token", field="body", line=2, column=5, excerpt=MASKED)


def new_id() -> str:
    return str(UUID(bytes=os.urandom(16)))


def insert(stubs: Stubs, note: pb.NewNote = LEAKING, **asked: object) -> pb.InsertedNote:
    fields = {"request_id": new_id(), **asked}
    request = pb.InsertNoteRequest(note=note, **fields)  # type: ignore[arg-type]  # by name
    return stubs.notes.InsertNote(request, timeout=SECONDS).note


def insert_all(stubs: Stubs, *notes: pb.NewNote, **asked: bool) -> pb.InsertNotesResponse:
    request = pb.InsertNotesRequest(
        request_id=new_id(),
        notes=notes,
        strict_secrets=asked.get("strict_secrets", False),
        allow_secret=asked.get("allow_secret", False),
    )
    return stubs.notes.InsertNotes(request, timeout=SECONDS)


def refusal(stubs: Stubs, *notes: pb.NewNote, **asked: bool) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        insert_all(stubs, *notes, **asked)
    return read_refusal(raised.value)


def events(stubs: Stubs, action: str) -> list[str]:
    scribe = stubs.room.upkeep.scribe("default")
    assert scribe is not None
    assert scribe.settle(WAIT_SECONDS)
    request = audit_service_pb2.ListEventsRequest(action=action)
    return [each.reason for each in stubs.audit.ListEvents(request, timeout=SECONDS).events]


def test_the_reply_tells_what_and_where_masked(stubs: Stubs) -> None:
    assert list(insert(stubs).findings) == [FINDING]
    assert not insert(stubs, CLEAN).findings


def test_more_than_a_reply_holds_are_counted(stubs: Stubs) -> None:
    inserted = insert(stubs, pb.NewNote(title="many", body=f"{TOKEN} " * (FINDINGS_MAX + 7)))

    assert (len(inserted.findings), inserted.findings_more) == (FINDINGS_MAX, 7)


def test_of_a_batch_each_note_has_its_own(stubs: Stubs) -> None:
    reply = insert_all(stubs, CLEAN, LEAKING)

    assert [list(each.findings) for each in reply.notes] == [[], [FINDING]]


def test_a_strict_call_stores_nothing_and_is_told_why_without_the_secret(stubs: Stubs) -> None:
    told = refusal(stubs, CLEAN, LEAKING, strict_secrets=True)

    assert (told.code, told.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "SECRET_FOUND")
    assert (told.metadata["note"], told.metadata["excerpt"]) == ("1", MASKED)
    assert TOKEN not in repr(told)
    everywhere = pb.ListNotesRequest(scope=note_pb2.ScopeFilter(all=True))
    assert not stubs.notes.ListNotes(everywhere, timeout=SECONDS).notes
    assert events(stubs, "refused") == ["InsertNotes: SECRET_FOUND"]


def test_both_wishes_at_once_are_a_mistake(stubs: Stubs) -> None:
    told = refusal(stubs, CLEAN, strict_secrets=True, allow_secret=True)

    assert (told.code, told.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "BAD_FIELD")


def test_what_is_meant_is_in_the_log_of_its_note_without_the_text(stubs: Stubs) -> None:
    inserted = insert(stubs, allow_secret=True)

    assert events(stubs, "allow-secret") == ["meant: GitHub Token in body, line 2, column 5"]
    request = audit_service_pb2.ListEventsRequest(note_id=inserted.id)
    told = stubs.audit.ListEvents(request, timeout=SECONDS)
    assert [each.action for each in told.events] == ["allow-secret", "insert"]
    assert TOKEN[:8] not in str(told)


def test_a_repeated_request_is_told_the_same(stubs: Stubs) -> None:
    request_id = new_id()
    first = insert(stubs, request_id=request_id)

    assert insert(stubs, request_id=request_id) == first
    with pytest.raises(grpc.RpcError) as raised:
        insert(stubs, request_id=request_id, allow_secret=True)
    assert read_refusal(raised.value).reason == "REQUEST_ID_REUSED"
