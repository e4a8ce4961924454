"""What becomes of an answer whose files the caller is to look at, over a real socket."""

import uuid
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import lifecycle_service_pb2, note_pb2, notes_service_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import Refusal, read_refusal
from graft.wire.metadata import CallMetadata
from graft_memstore.service.confirming import CONFIRM_MS

TITLE = "pip cannot see the proxy behind the company firewall"
BODY = "Set HTTPS_PROXY before the first call."
OURS = "example.org/ours"
KNOWN, OTHER = "blake3:" + "a" * 64, "blake3:" + "b" * 64
MINE = CallMetadata(door="mcp", session="s-1").to_pairs()
THEIRS = CallMetadata(door="mcp", session="s-2").to_pairs()
USER = note_pb2.ScopeFilter(scopes=["user"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A note that rests on a file of ours and one of somebody else, and its answer."""

    stubs: Stubs
    note_id: str
    answer: pb.QueryResponse

    def query(self, **fields: Any) -> pb.QueryResponse:
        wanted: dict[str, Any] = {"text": TITLE, "can_confirm": True, "projects": [OURS]}
        request = pb.QueryRequest(scope=USER, **(wanted | fields))
        return self.stubs.recall.Query(request, timeout=WAIT_SECONDS, metadata=MINE)

    def confirm(
        self, *, metadata: Any = MINE, receipt: str = "", **found: Any
    ) -> pb.ConfirmAnswerResponse:
        source = self.answer.to_confirm[0].id if self.answer.to_confirm else 1
        request = pb.ConfirmAnswerRequest(
            receipt=receipt or self.answer.receipt,
            findings=[note_pb2.SourceFinding(**({"source_id": source} | found))],
        )
        return self.stubs.recall.ConfirmAnswer(request, timeout=WAIT_SECONDS, metadata=metadata)

    def refused(self, **fields: Any) -> Refusal:
        with pytest.raises(grpc.RpcError) as raised:
            self.confirm(**fields)
        return read_refusal(raised.value)

    def explained(self) -> pb.ExplainResponse:
        request = pb.ExplainRequest(receipt=self.answer.receipt)
        return self.stubs.recall.Explain(request, timeout=WAIT_SECONDS)


def request_id() -> str:
    return str(uuid.UUID(int=uuid.uuid1().int))


def save(stubs: Stubs, **fields: Any) -> str:
    request = notes_service_pb2.InsertNoteRequest(
        request_id=request_id(), note=notes_service_pb2.NewNote(**fields)
    )
    reply = stubs.notes.InsertNote(request, timeout=WAIT_SECONDS, metadata=THEIRS)
    assert not reply.note.recalled
    return reply.note.id


def file(locator: str, project: str, fingerprint: str = KNOWN) -> note_pb2.Source:
    return note_pb2.Source(
        kind=note_pb2.SOURCE_KIND_FILE, locator=locator, project=project, fingerprint=fingerprint
    )


@pytest.fixture
def asked(stubs: Stubs, room: Room) -> Asked:
    sources = [file("net.py", OURS), file("x.py", "example.org/theirs")]
    note_id = save(stubs, title=TITLE, body=BODY, sources=sources)
    room.wait_until_joined()
    first = Asked(stubs=stubs, note_id=note_id, answer=pb.QueryResponse())
    return Asked(stubs=stubs, note_id=note_id, answer=first.query())


def waiting_items(room: Room) -> int:
    return room.count("SELECT count(*) FROM review_items WHERE kind LIKE '%-source'")


def test_the_text_is_held_back_until_the_files_have_been_looked_at(asked: Asked) -> None:
    assert asked.answer.hit == pb.HIT_STRONG
    assert asked.answer.source_check == pb.SOURCE_CHECK_WAITING
    assert asked.answer.note.title == TITLE
    assert asked.answer.note.body == ""
    assert [(each.locator, each.fingerprint) for each in asked.answer.to_confirm] == [
        ("net.py", KNOWN)
    ]
    assert BODY not in str(asked.answer)

    ended = asked.confirm(fingerprint=KNOWN)

    assert (ended.hit, ended.source_check) == (pb.HIT_STRONG, pb.SOURCE_CHECK_SAME)
    assert ended.note.body == BODY
    assert asked.explained().source_check == pb.SOURCE_CHECK_SAME


@pytest.mark.parametrize(
    ("found", "check", "why", "state"),
    [
        (
            {"fingerprint": OTHER},
            pb.SOURCE_CHECK_CHANGED,
            "its source changed: net.py",
            note_pb2.SOURCE_STATE_CHANGED,
        ),
        (
            {"gone": True},
            pb.SOURCE_CHECK_GONE,
            "its source is gone: net.py",
            note_pb2.SOURCE_STATE_GONE,
        ),
    ],
)
def test_what_is_not_as_it_was_makes_a_weak_answer_and_waits_for_the_reviewer(
    asked: Asked, room: Room, found: dict[str, Any], check: int, why: str, state: int
) -> None:
    ended = asked.confirm(**found)

    assert (ended.hit, ended.source_check) == (pb.HIT_WEAK, check)
    assert (ended.note.title, ended.note.body) == (TITLE, "")
    assert list(ended.missing) == [why]
    assert BODY not in str(ended)
    told = asked.explained()
    assert (told.hit, told.source_check) == (pb.HIT_WEAK, check)
    assert [(each.source.locator, each.state) for each in told.sources] == [("net.py", state)]
    scribe = room.upkeep.scribe("default")
    assert scribe is not None
    scribe.stop()
    assert waiting_items(room) == 1
    # From the file it is the same.
    assert scribe.find(asked.answer.receipt).hit == "WEAK"


def test_what_could_not_be_looked_at_is_handed_out_and_says_so(asked: Asked) -> None:
    ended = asked.confirm()

    assert (ended.hit, ended.source_check) == (pb.HIT_STRONG, pb.SOURCE_CHECK_UNCHECKED)
    assert ended.note.body == BODY


@pytest.mark.parametrize(
    "fields",
    [
        {"can_confirm": False},
        {"projects": []},
        {"projects": ["example.org/elsewhere"]},
        {"as_of": note_pb2.AsOf(valid_at_ms=1_800_000_000_000)},
    ],
)
def test_whoever_cannot_look_is_given_the_note_unchecked(
    asked: Asked, fields: dict[str, Any]
) -> None:
    answer = asked.query(**fields)

    assert (answer.hit, answer.source_check) == (pb.HIT_STRONG, pb.SOURCE_CHECK_UNCHECKED)
    assert answer.note.body == BODY
    assert not answer.to_confirm


def test_a_note_without_files_waits_for_nobody(asked: Asked, room: Room) -> None:
    save(asked.stubs, title="the licence server answers on the host lic-2")
    room.wait_until_joined()

    answer = asked.query(text="the licence server answers on the host lic-2")

    assert answer.hit == pb.HIT_STRONG
    assert answer.source_check == pb.SOURCE_CHECK_UNSPECIFIED
    assert asked.refused(receipt=answer.receipt).metadata["state"] == "nothing to confirm"


def test_another_session_s_receipt_is_none(asked: Asked) -> None:
    theirs = asked.refused(metadata=THEIRS, fingerprint=KNOWN)
    nowhere = asked.refused(receipt="f" * 32, fingerprint=KNOWN)

    assert (theirs.code, theirs.reason) == (nowhere.code, nowhere.reason)
    assert theirs.reason == "RECEIPT_NOT_FOUND"
    assert asked.confirm(fingerprint=KNOWN).hit == pb.HIT_STRONG


def test_the_same_again_is_answered_the_same_and_anything_else_refused(asked: Asked) -> None:
    first = asked.confirm(fingerprint=OTHER)

    assert asked.confirm(fingerprint=OTHER) == first
    again = asked.refused(fingerprint=KNOWN)
    assert (again.reason, again.metadata["state"]) == ("WRONG_STATE", "confirmed")


def test_it_is_too_late_after_a_minute(asked: Asked, room: Room) -> None:
    room.clock.ms += CONFIRM_MS + 1

    late = asked.refused(fingerprint=KNOWN)

    assert (late.reason, late.metadata["state"]) == ("WRONG_STATE", "expired")


@pytest.mark.parametrize(
    "found",
    [
        {"fingerprint": "blake3:short"},
        {"fingerprint": "x"},
        {"fingerprint": KNOWN, "gone": True},
        {"source_id": 999, "fingerprint": KNOWN},
    ],
)
def test_what_nobody_can_have_found_is_refused(asked: Asked, found: dict[str, Any]) -> None:
    assert asked.refused(**found).reason == "BAD_FIELD"
    assert asked.confirm(fingerprint=KNOWN).hit == pb.HIT_STRONG


def test_a_note_that_was_hidden_meanwhile_is_not_handed_out(asked: Asked) -> None:
    retire = lifecycle_service_pb2.RetireNoteRequest(
        request_id=request_id(), id=asked.note_id, reason="why"
    )
    asked.stubs.lifecycle.RetireNote(retire, timeout=WAIT_SECONDS)

    ended = asked.confirm(fingerprint=KNOWN)

    assert ended.hit == pb.HIT_MISS
    assert not ended.HasField("note")
    assert TITLE not in str(ended)


def test_a_piece_of_what_a_session_was_given_is_not_saved_again(asked: Asked) -> None:
    def insert(metadata: Any, body: str, **fields: Any) -> notes_service_pb2.InsertedNote:
        request = notes_service_pb2.InsertNoteRequest(
            request_id=request_id(),
            note=notes_service_pb2.NewNote(title=TITLE, body=body, **fields),
        )
        reply = asked.stubs.notes.InsertNote(request, timeout=WAIT_SECONDS, metadata=metadata)
        return reply.note

    asked.confirm(fingerprint=KNOWN)
    piece = insert(MINE, "", keywords=["proxy"])
    other = insert(MINE, BODY.replace("HTTPS_PROXY", "HTTP_PROXY"))
    unknowing = insert(THEIRS, "")

    assert (piece.recalled, piece.duplicate, piece.id) == (True, True, asked.note_id)
    assert (other.recalled, other.duplicate) == (False, False)
    assert other.similar[0].id == asked.note_id
    assert 0.6 <= other.similar[0].similarity < 1
    assert not unknowing.recalled
    get = notes_service_pb2.GetNoteRequest(id=asked.note_id)
    assert asked.stubs.notes.GetNote(get, timeout=WAIT_SECONDS).note.keywords == ["proxy"]
