"""Receipts on their way into the file: nobody waits for them, and they are found from the first."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, WAIT_SECONDS, Room, locked, open_room

from graft.wire.errors import AmbiguousIdError, BadFieldError, ReceiptNotFoundError
from graft_memstore.deadline import Deadline
from graft_memstore.gate import Hit
from graft_memstore.gate_model import GATE_MODEL
from graft_memstore.model import Background, Condition, ReceiptId, ScopeFilter
from graft_memstore.recall.account import no_candidate
from graft_memstore.recall.answer import Question
from graft_memstore.recall.receipt import Receipt
from graft_memstore.signature import understand
from graft_memstore.store import receipts
from graft_memstore.store.transaction import Transaction
from graft_memstore.upkeep.scribe import BATCH_MAX, WAITING_MAX, Answered, Scribe

NOTHING = Background(mean=0.0, deviation=0.0, count=0.0)
USER = ScopeFilter(scopes=("user",))


def receipt_id_of(number: int) -> ReceiptId:
    return ReceiptId(f"{number:032x}")


def answered(receipt_id: str, *, text: str = "q", probability: float = 0.5) -> Answered:
    receipt = Receipt(
        receipt_id=ReceiptId(receipt_id),
        at_ms=1,
        event=0,
        scope=USER,
        hit=Hit.MISS,
        probability=probability,
        account=no_candidate(GATE_MODEL),
        arms=(),
        degraded=(),
        background=NOTHING,
        index="none",
        model="",
        model_identity="",
        looked_at=(),
    )
    question = Question(said=understand(text), vector=None, prior=NOTHING, scope=USER, now_ms=1)
    return Answered(
        receipt=receipt,
        question=question,
        vector_model="",
        caller=AGENT,
        service_ms=3.0,
        embed_ms=1.0,
    )


@pytest.fixture
def scribe(still_room: Room) -> Iterator[Scribe]:
    """A scribe whose profile has no other thread."""
    writing = Scribe(still_room.profile, keep_misses=True)
    yield writing
    writing.stop()


def count_written(room: Room) -> int:
    return room.count("SELECT count(*) FROM receipts")


def test_a_receipt_is_found_before_it_is_written_and_after(
    still_room: Room, scribe: Scribe
) -> None:
    given = answered(receipt_id_of(7))

    with locked(still_room.profile.path):
        scribe.take(given)
        before = scribe.find(given.receipt.receipt_id)
        written_before = count_written(still_room)
    settled = scribe.settle(WAIT_SECONDS)

    assert (before, written_before) == (given.receipt, 0)
    assert settled
    assert count_written(still_room) == 1
    assert scribe.find(given.receipt.receipt_id) == given.receipt


def test_it_is_written_by_itself_and_then_nothing_is_left_to_do(
    still_room: Room, scribe: Scribe
) -> None:
    scribe.take(answered(receipt_id_of(7)))
    busy = scribe.busy
    deadline = Deadline(WAIT_SECONDS)
    while scribe.busy:
        assert deadline.left() > 0, "the receipt still waits"
        deadline.wait(0.01)

    assert busy
    assert count_written(still_room) == 1


@pytest.mark.parametrize("piece", [slice(0, 32), slice(0, 8), slice(-8, None), slice(3, 32)])
@pytest.mark.parametrize("written", [True, False])
def test_a_piece_of_its_id_is_enough(
    still_room: Room, scribe: Scribe, piece: slice, written: bool
) -> None:
    given = answered("0123456789abcdef" * 2)
    scribe.take(answered("f" * 32))

    with locked(still_room.profile.path):
        scribe.take(given)
        found = None if written else scribe.find(given.receipt.receipt_id[piece].upper())
    if written:
        assert scribe.settle(WAIT_SECONDS)
        found = scribe.find(f" {given.receipt.receipt_id[piece].upper()}\n")

    assert found == given.receipt


def test_a_piece_that_fits_two_is_ambiguous_wherever_they_are(
    still_room: Room, scribe: Scribe
) -> None:
    scribe.take(answered("a" * 8 + "1" * 24))
    assert scribe.settle(WAIT_SECONDS)

    with locked(still_room.profile.path):
        scribe.take(answered("a" * 8 + "2" * 24))
        with pytest.raises(AmbiguousIdError):
            scribe.find("a" * 8)
    assert scribe.settle(WAIT_SECONDS)
    with pytest.raises(AmbiguousIdError):
        scribe.find("a" * 8)

    assert scribe.find("a" * 8 + "1").receipt_id == "a" * 8 + "1" * 24


@pytest.mark.parametrize(
    "piece", ["", "1234567", "x" * 32, "0" * 33, "%" * 8, "________", "\x00" * 8, "\ud800" * 8]
)
def test_what_is_no_id_is_refused(scribe: Scribe, piece: str) -> None:
    with pytest.raises(BadFieldError, match="is no id"):
        scribe.find(piece)


def test_an_unknown_receipt_is_not_found(scribe: Scribe) -> None:
    scribe.take(answered("0" * 32))

    with pytest.raises(ReceiptNotFoundError, match="ask the question again"):
        scribe.find("f" * 32)


def test_where_too_much_waits_the_oldest_is_lost_and_counted(
    still_room: Room, scribe: Scribe
) -> None:
    taken = 2 * (WAITING_MAX + BATCH_MAX)
    newest = receipt_id_of(taken - 1)
    with locked(still_room.profile.path):
        for number in range(taken):
            scribe.take(answered(receipt_id_of(number)))
        found = scribe.find(newest)
    settled = scribe.settle(WAIT_SECONDS)

    assert found.receipt_id == newest
    assert settled
    assert scribe.dropped >= taken - WAITING_MAX - BATCH_MAX
    assert count_written(still_room) == taken - scribe.dropped
    assert scribe.find(newest).receipt_id == newest


def test_the_file_keeps_the_newest_alone(still_room: Room, scribe: Scribe) -> None:
    kept = receipts.RECEIPTS_MAX

    def fill(transaction: Transaction) -> None:
        for number in range(kept):
            receipts.insert_receipt(transaction.connection, receipt_id_of(number), "{}", 1)

    still_room.profile.write(fill)

    scribe.take(answered(receipt_id_of(kept)))
    assert scribe.settle(WAIT_SECONDS)

    assert count_written(still_room) == kept
    assert still_room.count("SELECT min(seq) FROM receipts") == 2
    with pytest.raises(ReceiptNotFoundError):
        scribe.find(receipt_id_of(0))


def test_stopping_writes_what_waits(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        assert room.profile.name == "default"
        scribe = room.upkeep.scribe("default")
        assert scribe is not None
        for number in range(BATCH_MAX + 1):
            scribe.take(answered(receipt_id_of(number)))

    with open_room(tmp_path, watched=False) as again:
        assert count_written(again) == BATCH_MAX + 1


def test_a_profile_that_is_closed_for_want_of_use_has_written_what_waited(room: Room) -> None:
    profile = room.profile
    scribe = room.upkeep.scribe(profile.name)
    assert scribe is not None
    scribe.take(answered(receipt_id_of(1)))

    room.upkeep.forget(profile)

    assert room.upkeep.scribe(profile.name) is None
    assert count_written(room) == 1


def test_one_that_cannot_be_written_for_a_bug_does_not_hold_up_the_others(
    still_room: Room, scribe: Scribe
) -> None:
    scribe.take(answered(receipt_id_of(1), probability=float("nan")))
    assert scribe.settle(WAIT_SECONDS)

    scribe.take(answered(receipt_id_of(2)))

    assert scribe.settle(WAIT_SECONDS)
    assert scribe.dropped == 1
    assert count_written(still_room) == 1


def test_a_receipt_that_was_written_already_is_no_error(still_room: Room, scribe: Scribe) -> None:
    for _ in range(2):
        scribe.take(answered(receipt_id_of(1)))
        assert scribe.settle(WAIT_SECONDS)

    assert scribe.dropped == 0
    assert count_written(still_room) == 1


def test_what_was_withheld_is_told_before_it_is_written_and_after(
    still_room: Room, scribe: Scribe
) -> None:
    hidden = still_room.insert("the port of the staging proxy")
    still_room.delete(hidden.id, caller=AGENT)
    given = answered(receipt_id_of(1), text="port of the staging proxy")

    with locked(still_room.profile.path):
        scribe.take(given)
        before = scribe.find(receipt_id_of(1)).withheld
    assert scribe.settle(WAIT_SECONDS)
    after = scribe.find(receipt_id_of(1)).withheld

    assert [(each.note_id, each.condition) for each in before] == [(hidden.id, Condition.RETIRED)]
    assert after == before
