"""Explain as a client meets it: it agrees with the answer, and shows nothing hidden."""

import math

import pytest
from tests.unit.memstore.recall.served import SECONDS, TITLE, USER, Served, refusal_of
from tests.unit.memstore.room import AGENT, PERSON, WAIT_SECONDS, Room, locked

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.deadline import Deadline
from graft_memstore.model import NewNote

OTHER = "Postgres sorts differently after a libc upgrade"


def wait_until_indexed(room: Room) -> None:
    """Wait until the index in memory answers: the file's bits have another background."""
    deadline = Deadline(WAIT_SECONDS)
    while (index := room.profile.index) is None or index.state != "int8":
        assert deadline.left() > 0, "the index is not loaded"
        deadline.wait(0.01)


@pytest.mark.parametrize("text", [TITLE, "pip proxy firewall", "rotate a picture"])
def test_it_agrees_with_the_answer(served: Served, text: str) -> None:
    served.room.insert(TITLE, "Set HTTPS_PROXY.", wait=True)
    served.room.insert(OTHER, "Reindex every text index.", wait=True)

    answer = served.query(text)
    told = served.explain(answer.receipt)

    logit = told.bias + sum(each.contribution for each in told.signals)
    assert (told.receipt, told.hit, told.probability) == (
        answer.receipt,
        answer.hit,
        answer.probability,
    )
    # Behind the signals comes what the model makes of several of them.
    assert [(each.name, each.value) for each in told.signals][: len(answer.signals)] == [
        (each.name, each.value) for each in answer.signals
    ]
    assert told.probability == pytest.approx(1 / (1 + math.exp(-logit)))
    assert told.looked_at[0].probability == told.probability
    assert list(told.scopes) == ["user"]
    assert [each.hit for each in told.thresholds] == [pb.HIT_STRONG, pb.HIT_WEAK]
    for each in told.thresholds:
        assert each.distance == pytest.approx(told.probability - each.probability)


def test_it_tells_what_the_answer_was_read_from(served: Served) -> None:
    note_id = served.room.insert(TITLE, wait=True).id

    told = served.explain(served.query(TITLE).receipt[-8:])

    assert (told.hit, told.looked_at[0].id, told.looked_at[0].title) == (
        pb.HIT_STRONG,
        note_id,
        TITLE,
    )
    assert (list(told.arms), list(told.degraded)) == (["vector", "words", "pieces"], [])
    assert (told.model, told.model_identity, told.event) == ("fake", "file of fake", 1)
    assert told.index in ("bits", "int8")
    assert told.at_ms == served.room.clock.ms
    assert all(rule.kept and not rule.lowered for rule in told.rules)


def test_two_answers_to_one_question_have_two_receipts_that_say_the_same(served: Served) -> None:
    served.room.insert(TITLE, wait=True)
    wait_until_indexed(served.room)

    first, second = (served.explain(served.query(TITLE).receipt) for _ in range(2))

    assert first.receipt != second.receipt
    assert list(first.signals) == list(second.signals)
    assert first.probability == second.probability


def test_weak_says_what_was_missing_and_its_receipt_which_rule_lowered_it(
    served: Served,
) -> None:
    served.room.insert(TITLE, wait=True)
    served.room.embedder.away["fake"] = "it is being fetched"

    answer = served.query(TITLE)
    told = served.explain(answer.receipt)

    assert (answer.hit, list(answer.missing)) == (pb.HIT_WEAK, ["compared by words alone"])
    assert list(told.degraded) == ["vector"]
    assert "all_arms" in [rule.name for rule in told.rules if not rule.kept]


@pytest.mark.parametrize("text", [TITLE, "rotate a picture"])
def test_neither_strong_nor_miss_says_what_was_missing(served: Served, text: str) -> None:
    served.room.insert(TITLE, wait=True)

    answer = served.query(text)

    assert answer.hit != pb.HIT_WEAK
    assert list(answer.missing) == []


def test_a_note_that_is_hidden_since_is_its_id_and_state_alone(served: Served) -> None:
    retired = served.room.insert(TITLE, wait=True).id
    deleted = served.room.insert(TITLE + " twice", wait=True).id
    shown = served.room.insert(TITLE + " thrice", wait=True).id
    receipt = served.query(TITLE).receipt
    before = {each.id: each.title for each in served.explain(receipt).looked_at}

    served.room.delete(retired, caller=AGENT)
    served.room.delete(deleted, caller=PERSON)

    told = {each.id: (each.now, each.title) for each in served.explain(receipt).looked_at}
    assert before == {
        retired: TITLE,
        deleted: TITLE + " twice",
        shown: TITLE + " thrice",
    }
    assert told == {
        retired: (note_pb2.NOTE_CONDITION_RETIRED, ""),
        deleted: (note_pb2.NOTE_CONDITION_DELETED, ""),
        shown: (note_pb2.NOTE_CONDITION_SHOWN, TITLE + " thrice"),
    }


def test_withheld_notes_of_the_asked_scopes_are_named_and_no_others(served: Served) -> None:
    room = served.room
    retired = room.insert(TITLE, wait=True).id
    elsewhere = room.insert(note=NewNote(title=TITLE, scope="project:b"), wait=True).id
    for note_id in (retired, elsewhere):
        room.delete(note_id, caller=AGENT)

    here = served.explain(served.query(TITLE).receipt)
    everywhere = served.recall.Query(
        pb.QueryRequest(text=TITLE, scope=note_pb2.ScopeFilter(all=True)), timeout=SECONDS
    )
    told = served.explain(everywhere.receipt)

    assert [(each.id, each.condition) for each in here.withheld] == [
        (retired, note_pb2.NOTE_CONDITION_RETIRED)
    ]
    assert elsewhere not in str(here)
    assert {each.id for each in told.withheld} == {retired, elsewhere}
    assert told.all_scopes
    assert list(told.scopes) == []


def test_a_withheld_note_that_is_deleted_since_is_said_to_be(served: Served) -> None:
    note_id = served.room.insert(TITLE, wait=True).id
    served.room.delete(note_id, caller=AGENT)
    receipt = served.query(TITLE).receipt
    scribe = served.room.upkeep.scribe("default")
    assert scribe is not None
    assert scribe.settle(WAIT_SECONDS)

    served.room.delete(note_id, caller=PERSON)

    (withheld,) = served.explain(receipt).withheld
    assert (withheld.id, withheld.condition, withheld.now) == (
        note_id,
        note_pb2.NOTE_CONDITION_RETIRED,
        note_pb2.NOTE_CONDITION_DELETED,
    )


def test_an_answer_waits_for_nobody_who_writes(served: Served) -> None:
    served.room.insert(TITLE, wait=True)
    with locked(served.room.profile.path):
        answer = served.query(TITLE)
        told = served.explain(answer.receipt)

        written = served.room.count("SELECT count(*) FROM receipts")
    assert (answer.hit, told.hit, written) == (pb.HIT_STRONG, pb.HIT_STRONG, 0)


def test_a_profile_without_notes_has_receipts_too(served: Served) -> None:
    told = served.explain(served.query("anything").receipt)

    assert (told.hit, told.index, told.model, told.event) == (pb.HIT_MISS, "none", "", 0)
    assert (list(told.signals), list(told.looked_at), list(told.withheld)) == ([], [], [])


def test_a_receipt_belongs_to_its_profile(served: Served) -> None:
    served.room.profiles.add("other")
    receipt = served.query("anything").receipt

    refusal = refusal_of(lambda: served.explain(receipt, profile="other"))

    assert refusal.reason == "RECEIPT_NOT_FOUND"
    assert served.explain(receipt).receipt == receipt


def test_what_is_no_receipt_is_refused_and_the_field_named(served: Served) -> None:
    refusal = refusal_of(lambda: served.explain("no id"))

    assert (refusal.reason, [each.field for each in refusal.violations]) == (
        "BAD_FIELD",
        ["receipt"],
    )


def test_a_ranked_search_leaves_no_receipt(served: Served) -> None:
    served.room.insert(TITLE, wait=True)
    served.recall.Retrieve(pb.RetrieveRequest(text=TITLE, scope=USER), timeout=SECONDS)
    scribe = served.room.upkeep.scribe("default")
    assert scribe is not None

    assert not scribe.busy
    assert served.room.count("SELECT count(*) FROM receipts") == 0
