"""A receipt agrees with the answer that it is of, and comes back from the file as it went in."""

import math

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
)

from graft_memstore.gate import Hit
from graft_memstore.gate_model import GATE_MODEL
from graft_memstore.model import Condition, Model, ModelRole, NoteId, ReceiptId
from graft_memstore.recall.account import no_candidate
from graft_memstore.recall.answer import QueryAnswer
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.receipt import (
    NO_INDEX,
    Receipt,
    Snapshot,
    Withheld,
    decode_receipt,
    encode_receipt,
    receipt_of,
)

RECEIPT_ID = ReceiptId("ab" * 16)
SNAPSHOT = Snapshot(
    at_ms=NOW_MS,
    event=7,
    model=Model(
        model_id=MODEL,
        identity="hashed letters",
        name="letters",
        dimensions=DIMENSIONS,
        role=ModelRole.SERVING,
    ),
    index="bits",
)
TITLE = "pip fails behind the company proxy with a certificate error"
BODY = "Set PIP_CERT to the company's CA bundle; pip does not read the system store."
QUESTIONS = [TITLE, "pip certificate error behind a proxy", "pip proxy", "bread", "", "\ud800"]
STATES = [State(), State(trust="disputed"), State(trust="candidate")]


def asked(store: NoteStore, text: str, *, with_vector: bool = True) -> tuple[QueryAnswer, Receipt]:
    question = ask(text, with_vector=with_vector)
    answer = answer_query(store.connection, VectorIndex(MODEL, DIMENSIONS), question)
    return answer, receipt_of(RECEIPT_ID, answer, question.scope, SNAPSHOT)


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("with_vector", [True, False])
@pytest.mark.parametrize("embedded", [True, False])
def test_the_answer_follows_from_its_receipt(
    store: NoteStore, text: str, state: State, with_vector: bool, embedded: bool
) -> None:
    store.add(TITLE, BODY, state=state, vectors=None if embedded else ())
    store.add("Postgres sorts differently after a libc upgrade", "Reindex every text index.")

    answer, receipt = asked(store, text, with_vector=with_vector)

    account, rules = receipt.account, {each.name: each.kept for each in receipt.account.rules}
    strong, weak = (each.probability for each in account.thresholds)
    assert receipt.hit == answer.hit
    if not rules:
        assert receipt.hit is Hit.MISS
        return
    logit = account.bias + sum(each.contribution for each in account.signals)
    values = {each.name: each.value for each in account.signals}
    assert receipt.probability == pytest.approx(1 / (1 + math.exp(-logit)))
    assert dict(answer.signals).items() & values.items()
    assert all(values.get(name, value) == value for name, value in answer.signals)
    assert (receipt.hit is Hit.STRONG) == (receipt.probability >= strong and all(rules.values()))
    if rules["all_arms"]:
        assert (receipt.hit is Hit.MISS) == (receipt.probability < weak)


def test_every_hit_is_among_the_answers_above(store: NoteStore) -> None:
    store.add(TITLE, BODY)

    hits = {asked(store, text)[0].hit for text in (TITLE, "pip proxy error", "bread")}

    assert {Hit.STRONG, Hit.MISS} <= hits


@pytest.mark.parametrize(
    ("state", "with_vector", "lowered_by"),
    [
        (State(), True, []),
        (State(trust="disputed"), True, ["may_be_strong"]),
        (State(), False, ["all_arms", "has_vectors"]),
    ],
)
def test_the_rules_that_lowered_an_answer_are_named(
    store: NoteStore, state: State, with_vector: bool, lowered_by: list[str]
) -> None:
    store.add(TITLE, BODY, state=state)

    answer, receipt = asked(store, TITLE, with_vector=with_vector)

    strong_by_probability = receipt.probability >= receipt.account.thresholds[0].probability
    named = [each.name for each in receipt.account.rules if each.lowered]
    assert answer.hit == (Hit.WEAK if lowered_by else Hit.STRONG)
    assert named == (lowered_by if strong_by_probability else [])
    assert [each.name for each in receipt.account.rules if not each.kept] == lowered_by


def test_it_names_what_was_looked_at_with_what(store: NoteStore) -> None:
    note_id = store.add(TITLE, BODY)

    answer, receipt = asked(store, TITLE)

    assert [each.note_id for each in receipt.looked_at] == [note_id]
    assert receipt.looked_at[0].probability == answer.probability == receipt.probability
    assert receipt.arms == ("vector", "words", "pieces")
    assert (receipt.degraded, receipt.index, receipt.model) == ((), "bits", "letters")
    assert (receipt.model_identity, receipt.at_ms, receipt.event) == ("hashed letters", NOW_MS, 7)
    assert receipt.background.deviation > 0


def test_an_arm_that_was_down_is_among_the_degraded_and_not_among_the_arms(
    store: NoteStore,
) -> None:
    store.add(TITLE, BODY)

    _, receipt = asked(store, TITLE, with_vector=False)

    assert (receipt.arms, receipt.degraded) == (("words", "pieces"), ("vector",))


def test_an_error_is_asked_of_an_arm_of_its_own_and_one_that_does_not_fit_is_named(
    store: NoteStore,
) -> None:
    store.add("Orders fail at night", "shop.OrderError: till 7 does not open")

    _, receipt = asked(store, "shop.OrderError: till 7 does not open")
    _, of_another = asked(store, "shop.errors.PriceError: no price for item 4")

    assert receipt.arms == ("vector", "words", "pieces", "signature")
    assert all(each.kept for each in receipt.account.rules if each.name == "error_fits")
    assert "error_fits" in [each.name for each in of_another.account.rules if not each.kept]


def test_a_note_with_another_number_is_never_handed_out_and_says_which(store: NoteStore) -> None:
    store.add(
        "The import worker ends with exit code 137", "It had no memory left: raise the limit."
    )

    right, _ = asked(store, "The import worker ends with exit code 137")
    other, receipt = asked(store, "The import worker ends with exit code 143")

    assert (right.hit, other.hit) == (Hit.STRONG, Hit.WEAK)
    assert other.missing[0] == "tells of another one than code 143"
    assert "numbers_fit" in [each.name for each in receipt.account.rules if each.lowered]


def test_no_word_of_question_or_note_is_in_it(store: NoteStore) -> None:
    store.add("xylophone strings", "zebracrossing", keywords=["quarkkeyword"])

    _, receipt = asked(store, "xylophone vortexquestion")

    content = encode_receipt(receipt)
    for word in ("xylophone", "zebracrossing", "quarkkeyword", "vortexquestion"):
        assert word not in content


@pytest.mark.parametrize("text", QUESTIONS)
def test_it_comes_back_from_json_as_it_was(store: NoteStore, text: str) -> None:
    store.add(TITLE, BODY)
    _, receipt = asked(store, text)
    whole = Receipt(
        **{name: getattr(receipt, name) for name in Receipt.__slots__ if name != "withheld"},
        withheld=(Withheld(note_id=NoteId("f" * 32), condition=Condition.NOT_YET_VALID),),
    )

    assert decode_receipt(encode_receipt(whole)) == whole


def test_an_empty_store_has_a_receipt_without_candidates(store: NoteStore) -> None:
    question = ask("anything")
    answer = answer_query(store.connection, None, question)

    receipt = receipt_of(
        RECEIPT_ID,
        answer,
        question.scope,
        Snapshot(at_ms=NOW_MS, event=0, model=None, index=NO_INDEX),
    )

    assert (receipt.hit, receipt.account, receipt.looked_at) == (
        Hit.MISS,
        no_candidate(GATE_MODEL),
        (),
    )
    assert (receipt.arms, receipt.model, receipt.index) == (("words", "pieces"), "", "none")
    assert decode_receipt(encode_receipt(receipt)) == receipt
