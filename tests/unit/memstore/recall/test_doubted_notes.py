"""Doubted notes are at most WEAK, say why, and stand below all others."""

import pytest
from tests.unit.memstore.recall.served import TITLE, USER, Served
from tests.unit.memstore.room import Room

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.lifecycle import Verb
from graft_memstore.write.change import Time, Times

SECONDS = 20
WHY = "the proxy was replaced"


def doubted(room: Room, verb: Verb) -> str:
    """Store a note, doubt it for a reason, and change it once more for another."""
    note_id = room.insert(TITLE, "Set HTTPS_PROXY for pip.").id
    room.change(verb, note_id, reason=WHY)
    times = Times(expires_at=Time(at_ms=room.clock.ms + 1_000))
    room.change(Verb.SET_TIMES, note_id, times=times, reason="a while only")
    return note_id


@pytest.mark.parametrize(
    ("verb", "trust"),
    [(Verb.DISPUTE, note_pb2.TRUST_DISPUTED), (Verb.MARK_STALE, note_pb2.TRUST_STALE)],
)
def test_every_read_says_why_a_note_is_doubted(
    served: Served, verb: Verb, trust: "note_pb2.Trust.ValueType"
) -> None:
    note_id = doubted(served.room, verb)

    answer = served.query(TITLE)
    (ranked,) = served.retrieve().results
    request = pb.ExploreRequest(text=TITLE, scope=USER)
    (node,) = served.recall.Explore(request, timeout=SECONDS).nodes

    assert (answer.hit, answer.note.id, answer.note.body) == (pb.HIT_WEAK, note_id, "")
    assert any(WHY in each for each in answer.missing)
    assert (ranked.trust, ranked.trust_reason) == (trust, WHY)
    assert (node.trust, node.trust_reason) == (trust, WHY)


def test_the_last_time_that_a_note_was_doubted_counts(served: Served) -> None:
    room = served.room
    note_id = doubted(room, Verb.DISPUTE)
    undone = room.insert("another note of pip and its proxy").id
    event = room.change(Verb.DISPUTE, undone, reason="first").event
    room.change(Verb.UNDO, event=event, reason="it was right")
    room.change(Verb.DISPUTE, undone, reason="second")

    reasons = {each.id: each.trust_reason for each in served.retrieve().results}

    assert reasons == {note_id: WHY, undone: "second"}


def test_a_note_that_is_not_doubted_gives_no_reason_and_comes_first(served: Served) -> None:
    doubted(served.room, Verb.DISPUTE)
    plain = served.room.insert("pip and its proxy").id

    first, second = served.retrieve().results

    assert (first.id, first.trust_reason) == (plain, "")
    assert second.score > first.score
