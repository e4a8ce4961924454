"""Asking why: what an answer says of it, and what `graft explain` shows."""

from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import RECORDED_MS, FakeState

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import ReceiptNotFoundError

RECEIPT = "0123456789abcdef" + "fedcba9876543210"
NOTE = "0193a7a0" + "0" * 16 + "89abcdef"
GONE = "0193a7a0" + "0" * 16 + "01234567"


def told() -> pb.ExplainResponse:
    return pb.ExplainResponse(
        receipt=RECEIPT,
        hit=pb.HIT_WEAK,
        probability=0.88,
        bias=-6.5,
        signals=[
            pb.Contribution(name="title", value=4.0, weight=2.0, contribution=8.0),
            pb.Contribution(name="coverage", value=0.5, weight=1.0, contribution=0.5),
            pb.Contribution(name="named", value=1.0),
        ],
        thresholds=[
            pb.Threshold(hit=pb.HIT_STRONG, probability=0.95, distance=-0.07, own=True),
            pb.Threshold(hit=pb.HIT_WEAK, probability=0.25, distance=0.63),
        ],
        rules=[
            pb.Rule(name="all_arms", kept=True),
            pb.Rule(name="may_be_strong", kept=False, lowered=True),
            pb.Rule(name="words_agree", kept=False),
        ],
        arms=["words"],
        degraded=["vector"],
        looked_at=[
            pb.LookedAtNote(
                id=NOTE, probability=0.88, now=note_pb2.NOTE_CONDITION_SHOWN, title="a \x1b title"
            ),
            pb.LookedAtNote(id=GONE, probability=0.01, now=note_pb2.NOTE_CONDITION_DELETED),
        ],
        withheld=[
            pb.WithheldNote(
                id=NOTE,
                condition=note_pb2.NOTE_CONDITION_NO_LONGER_VALID,
                now=note_pb2.NOTE_CONDITION_NO_LONGER_VALID,
            ),
            pb.WithheldNote(
                id=GONE,
                condition=note_pb2.NOTE_CONDITION_RETIRED,
                now=note_pb2.NOTE_CONDITION_DELETED,
            ),
        ],
        scopes=["project:host/o/n", "user"],
        background_mean=0.8014,
        background_deviation=0.024,
        index="int8",
        model="starter",
        model_identity="f" * 64,
        at_ms=RECORDED_MS,
        event=1234,
    )


def test_every_answer_says_how_to_ask_why(command: Command, memstore: FakeState) -> None:
    for hit in (pb.HIT_STRONG, pb.HIT_WEAK, pb.HIT_MISS):
        memstore.query_reply = pb.QueryResponse(
            hit=hit, note=None if hit == pb.HIT_MISS else note_pb2.Note(id=NOTE), receipt=RECEIPT
        )

        done = command("query", "x")

        assert "graft: why so: graft explain 76543210\n" in done.err
        assert RECEIPT[-8:] not in done.out
        assert command("query", "x", "--json").json()["receipt"] == RECEIPT


def test_weak_is_title_id_probability_and_what_was_missing(
    command: Command, memstore: FakeState
) -> None:
    memstore.query_reply = pb.QueryResponse(
        hit=pb.HIT_WEAK,
        probability=0.31,
        note=note_pb2.Note(id=NOTE, title="Use Node 20", scope="user", trust=note_pb2.TRUST_STALE),
        missing=["has 1 of the question's 4 words", "its trust is stale"],
    )

    done = command("query", "x")
    reply = command("query", "x", "--json").json()

    assert done.out == (
        "WEAK 31%\n    Use Node 20\n89abcdef · user · stale\n"
        "what was missing: has 1 of the question's 4 words; its trust is stale\n"
        "open it with: graft get 89abcdef\n"
    )
    assert reply["missing"] == ["has 1 of the question's 4 words", "its trust is stale"]
    assert reply["receipt"] is None


def test_explain_shows_people_what_each_signal_added_and_what_lowered_the_answer(
    command: Command, memstore: FakeState
) -> None:
    memstore.explain_reply = told()

    lines = command("explain", RECEIPT[-8:]).out.splitlines()

    assert lines[0].startswith("WEAK 88%, answered 202")
    assert "title\t4.00\t2.00\t+8.00" in lines
    assert "named\t1.00\tby rule\t" in lines
    assert "without any\t\t\t-6.50" in lines
    assert "together\t\t\t+2.00 = 88%" in lines
    assert "STRONG:     from 95% on, the profile's own; 7 points below" in lines
    assert "WEAK:       from 25% on; 63 points above" in lines
    assert "rule:       all_arms: kept" in lines
    assert "rule:       may_be_strong: broken, and lowered the answer" in lines
    assert "rule:       words_agree: broken" in lines
    assert "looked at:  89abcdef  88%  a \\x1b title" in lines
    assert "looked at:  01234567  1%  (deleted now)" in lines
    assert "withheld:   89abcdef  no longer valid" in lines
    assert "withheld:   01234567  retired, deleted now" in lines
    assert "without:    vector" in lines
    assert "scopes:     project:host/o/n, user" in lines
    assert "model:      starter (ffffffffffff), index int8" in lines
    assert "log:        up to event 1,234" in lines
    assert memstore.requests("Explain")[0].receipt == RECEIPT[-8:]  # type: ignore[attr-defined] # the fake keeps all kinds


def test_explain_prints_the_documented_object(command: Command, memstore: FakeState) -> None:
    memstore.explain_reply = told()

    reply = command("explain", RECEIPT, "--json").json()

    assert set(reply) >= {"receipt", "hit", "signals", "thresholds", "arms", "withheld"}
    assert (reply["receipt"], reply["hit"], reply["at"]) == (
        RECEIPT,
        "WEAK",
        "2026-01-01T00:00:00.000Z",
    )
    assert reply["signals"][0] == {
        "name": "title",
        "value": 4.0,
        "weight": 2.0,
        "contribution": 8.0,
    }
    assert reply["thresholds"][0] == {
        "hit": "STRONG",
        "probability": 0.95,
        "distance": -0.07,
        "own": True,
    }
    assert reply["withheld"][1] == {"id": GONE, "state": "retired", "now": "deleted"}
    assert reply["looked_at"][1]["title"] is None


def test_an_answer_without_candidates_is_explained_without_signals(
    command: Command, memstore: FakeState
) -> None:
    memstore.explain_reply = pb.ExplainResponse(
        receipt=RECEIPT, hit=pb.HIT_MISS, arms=["words", "pieces"], all_scopes=True
    )

    shown = command("explain", RECEIPT).out

    assert shown.startswith("MISS 0%")
    assert "together" not in shown
    assert "scopes:     every one" in shown
    assert "model:      none yet" in shown


def test_a_receipt_that_is_not_kept_is_told_with_its_reason(
    command: Command, memstore: FakeState
) -> None:
    memstore.failures.append(ReceiptNotFoundError("no receipt has the id ffffffff"))

    done = command("explain", "ffffffff", "--json")

    assert done.code == 1
    assert done.error()["reason"] == "RECEIPT_NOT_FOUND"
