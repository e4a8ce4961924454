"""AuditService as a client meets it."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from tests.unit.memstore.room import START_MS
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import audit_service_pb2 as pb
from graft.wire.errors import Refusal, read_refusal
from graft_memstore.lifecycle import Verb
from graft_memstore.store.rows import change

SECONDS = 20


def events(stubs: Stubs, **wanted: Any) -> list[int]:
    """Return the numbers of all events that are wanted, two in a page."""
    found: list[int] = []
    before = 0
    while True:
        request = pb.ListEventsRequest(page_size=2, before=before, **wanted)
        page = stubs.audit.ListEvents(request, timeout=SECONDS)
        found += [event.seq for event in page.events]
        before = page.next_before
        if not before:
            return found


def verify(stubs: Stubs, head: pb.TrailHead | None = None) -> pb.VerifyTrailResponse:
    return stubs.audit.VerifyTrail(pb.VerifyTrailRequest(expected=head), timeout=SECONDS)


def head_of(stubs: Stubs) -> pb.TrailHead:
    return stubs.audit.GetTrailHead(pb.GetTrailHeadRequest(), timeout=SECONDS).head


def refusal_of(call: Callable[[], object]) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return read_refusal(raised.value)


def test_events_are_listed_newest_first_and_narrowed(stubs: Stubs) -> None:
    room = stubs.room
    first, second = room.insert("the first note").id, room.insert("the second note").id
    room.clock.ms += 10
    room.change(Verb.DISPUTE, second, reason="could not reproduce it")
    room.change(Verb.RETIRE, first)
    room.delete(first)

    assert events(stubs) == [5, 4, 3, 2, 1]
    assert events(stubs, note_id=first) == [5, 4, 1]
    assert events(stubs, note_id=second[-8:]) == [3, 2]
    assert events(stubs, action="retire") == [4]
    assert events(stubs, since_ms=START_MS + 10) == [5, 4, 3]
    assert events(stubs, since_ms=START_MS + 10, note_id=second) == [3]
    assert events(stubs, since_ms=START_MS + 11) == []
    (disputed,) = stubs.audit.ListEvents(
        pb.ListEventsRequest(action="dispute"), timeout=SECONDS
    ).events
    assert (disputed.actor, disputed.session, disputed.door) == ("agent", "s-1", "mcp")
    assert (disputed.reason, disputed.count) == ("could not reproduce it", 1)


def test_a_head_that_was_kept_is_found_again_until_the_trail_is_another(stubs: Stubs) -> None:
    stubs.room.insert("the first note")
    kept = head_of(stubs)
    stubs.room.insert("the second note")

    forged = pb.TrailHead(profile_id=kept.profile_id, count=kept.count, hash="0" * 64)
    assert (kept.count, len(kept.profile_id)) == (1, 32)
    assert verify(stubs, kept).ok
    assert [flaw.table for flaw in verify(stubs, forged).flaws] == ["expected head"]
    assert verify(stubs).events == 2


def test_a_row_that_was_changed_is_told(stubs: Stubs) -> None:
    note = stubs.room.insert("the first note").id
    stubs.room.tampered = True
    stubs.room.profile.run(
        lambda connection: change(connection, "UPDATE notes SET title = 'x'", {})
    )

    reply = verify(stubs)

    assert (reply.ok, reply.notes) == (False, 1)
    assert [(flaw.table, flaw.row) for flaw in reply.flaws] == [("notes", note)]


@pytest.mark.parametrize(
    "head",
    [
        pb.TrailHead(count=1, hash="x"),
        pb.TrailHead(count=0, hash="0" * 64),
        pb.TrailHead(count=2**63, hash="0" * 64),
        pb.TrailHead(count=1, hash="0" * 64, profile_id="p" * 33),
    ],
    ids=["no hash", "of nothing", "too far", "no profile"],
)
def test_what_cannot_be_a_head_is_refused(stubs: Stubs, head: pb.TrailHead) -> None:
    assert refusal_of(lambda: verify(stubs, head)).reason == "BAD_FIELD"


def test_a_page_that_is_too_large_is_refused(stubs: Stubs) -> None:
    request = pb.ListEventsRequest(page_size=257)

    refusal = refusal_of(lambda: stubs.audit.ListEvents(request, timeout=SECONDS))

    assert (refusal.reason, refusal.violations[0].field) == ("BAD_FIELD", "page_size")


def test_pieces_of_an_id_that_fit_nothing_are_refused(stubs: Stubs) -> None:
    request = pb.ListEventsRequest(note_id="12345678")

    refusal = refusal_of(lambda: stubs.audit.ListEvents(request, timeout=SECONDS))

    assert refusal.reason == "NOTE_NOT_FOUND"
