"""A profile's own threshold: what a query goes by, and what explain says of it."""

from dataclasses import replace

import pytest
from tests.unit.memstore.recall.served import TITLE, Served
from tests.unit.memstore.recall.store_builder import DIMENSIONS, MODEL, NoteStore, ask
from tests.unit.memstore.room import Room

from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.gate_model import GATE_DIGEST, GATE_MODEL
from graft_memstore.recall.arms import gather
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.own_threshold import OwnThreshold, write_own_threshold


def set_strong(room: Room, strong: float, *, model: str | None = None) -> None:
    serving = room.profile.serving_model
    assert serving is not None
    own = OwnThreshold(strong=strong, gate=GATE_DIGEST, model=model or serving.identity)
    room.tampered = True
    room.profile.write(lambda change: write_own_threshold(change.connection, own))


def test_query_goes_by_it_and_explain_shows_it(served: Served) -> None:
    served.room.insert(TITLE, "Set HTTPS_PROXY.", wait=True)
    before = served.query(TITLE)

    set_strong(served.room, 1.0)
    after = served.query(TITLE)

    told = served.explain(after.receipt)
    assert (before.hit, after.hit) == (pb.HIT_STRONG, pb.HIT_WEAK)
    assert after.probability == pytest.approx(before.probability)
    assert [(each.probability, each.own) for each in told.thresholds] == [
        (1.0, True),
        (GATE_MODEL.weak, False),
    ]
    earlier = served.explain(before.receipt).thresholds[0]
    assert (earlier.probability, earlier.own) == (GATE_MODEL.strong, False)


def test_one_that_was_measured_with_another_model_is_passed_over(served: Served) -> None:
    served.room.insert(TITLE, wait=True)

    set_strong(served.room, 1.0, model="another file")

    assert served.query(TITLE).hit == pb.HIT_STRONG


def test_a_question_that_passes_over_a_note_finds_it_by_no_arm_and_counts_no_word_of_it(
    store: NoteStore,
) -> None:
    store.add(TITLE)
    store.add("the proxy of the company is new")
    index = VectorIndex(MODEL, DIMENSIONS)
    question = ask(TITLE)

    there = gather(store.connection, index, question, 16)
    hidden = gather(store.connection, index, replace(question, without=1), 16)

    assert {each.scores.seq for each in there.ranked} == {1, 2}
    assert {each.scores.seq for each in hidden.ranked} == {2}
    assert there.words.counts["proxy"] == 2
    assert (hidden.words.counts["proxy"], hidden.words.counts["firewall"]) == (1, 0)
