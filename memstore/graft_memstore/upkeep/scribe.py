"""The thread that writes down, after they have been given, what answers were made of.

With them it keeps the questions that nothing answered, unless it is told not to, counts which
notes were given out, and records what was refused.
"""

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from graft.wire.errors import AmbiguousIdError, ReceiptNotFoundError, ServiceError
from graft.wire.events import event
from graft.wire.metadata import HOOK_DOOR
from graft_memstore.gate import Hit
from graft_memstore.model import Caller, ModelRole, NoteId, ReceiptId
from graft_memstore.recall.answer import Question
from graft_memstore.recall.index import VectorIndex, index_of
from graft_memstore.recall.receipt import Receipt, decode_receipt, encode_receipt
from graft_memstore.recall.withheld import find_withheld
from graft_memstore.store.answers import ALL_SCOPES, GivenAnswer, insert_answers
from graft_memstore.store.database import Connection
from graft_memstore.store.misses import MissVector, delete_old_misses
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.receipts import delete_old_receipts, find_receipts, insert_receipt
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.uses import Uses
from graft_memstore.upkeep.back_off import BackOff
from graft_memstore.upkeep.confirmations import Confirmations, Confirmed, write_confirmed
from graft_memstore.upkeep.ledger import Given, Ledger, Page, write_page
from graft_memstore.upkeep.refusals import Refused
from graft_memstore.wall import Wall
from graft_memstore.write.identify import check_piece
from graft_memstore.write.misses import Missed, keep_misses

WAITING_MAX = 512
"""Answers that may wait to be written down; one more pushes the oldest out."""
BATCH_MAX = 128
"""Answers that are written in one transaction."""
WRITE_SECONDS = 0.5
"""How long an answer waits for others to be written with it."""
STOP_SECONDS = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer that has been given, on its way into the file.

    Attributes:
        question: as it was asked, with its vector and its time.
        vector_model: identity of the model that made the vector; empty without one.
        caller: who asked. What a person types to an agent, which its hook asks about, is no
            question that a note should answer, so that none is missed where there is none.
        service_ms: milliseconds that the answer took, *embed_ms* of them in the embedder.
    """

    receipt: Receipt
    question: Question
    vector_model: str
    caller: Caller
    service_ms: float
    embed_ms: float


class Scribe:
    """Takes answers without making anybody wait, and writes them in batches.

    What it has taken is found at once; what a killed process had not written yet, the last second
    at most, is lost.

    Args:
        profile: the profile.
        keep_misses: keep questions that nothing answered; otherwise their text goes nowhere.
    """

    def __init__(self, profile: Profile[VectorIndex], *, keep_misses: bool) -> None:
        self.keeps_misses = keep_misses
        self._profile = profile
        self._changed = threading.Condition()
        self._waiting: dict[ReceiptId, Answered] = {}
        self._writing: dict[ReceiptId, Answered] = {}
        self._confirmations = Confirmations()
        self._ledger = Ledger(time.monotonic)
        self._dropped = 0
        self._hurry = False
        self._stopping = False
        self._back_off = BackOff(time.monotonic)
        self._thread = threading.Thread(
            target=self._work, name=f"scribe-{profile.name}", daemon=True
        )
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether something is to be written; what cannot be written now does not count."""
        return (self._waits() or bool(self._writing)) and not self._back_off.problem

    @property
    def dropped(self) -> int:
        """How many answers were pushed out before they were written."""
        return self._dropped

    def take(self, answered: Answered) -> None:
        """Write *answered* down soon; where too much waits, the oldest is lost."""
        with self._changed:
            self._waiting[answered.receipt.receipt_id] = answered
            self._make_room()
            self._changed.notify_all()

    def gave(self, given: Given) -> None:
        """Count soon that a note was given out."""
        with self._changed:
            self._ledger.add(given)
            self._changed.notify_all()

    def claim(self, notice_ids: Iterable[int], count_max: int) -> set[int]:
        """Return the first of *notice_ids* that no answer has told yet; they count as told now."""
        with self._changed:
            fresh = self._ledger.claim(notice_ids, count_max)
            self._changed.notify_all()
            return fresh

    def flush(self, seconds: float) -> None:
        """Write at once what waits, if anything does, as far as that goes within *seconds*."""
        if self._waits() or self._writing:
            self.settle(seconds)

    def refused(self, refused: Refused) -> None:
        """Record soon that something was refused; the same again is counted for a minute."""
        with self._changed:
            self._ledger.add_refused(refused)
            self._changed.notify_all()

    def uses_waiting(self, note_id: NoteId) -> Uses:
        """Return the uses of a note that are not in the file yet."""
        with self._changed:
            return self._ledger.uses_of(note_id)

    def confirm(self, confirmed: Confirmed) -> Receipt:
        """Write down soon what was found of an answer's sources; return what is kept.

        That is what was found first, where two callers say so at once.
        """
        with self._changed:
            kept = self._confirmations.keep(confirmed)
            self._changed.notify_all()
            return kept

    def find(self, piece: str, wall: Wall | None = None) -> Receipt:
        """Return the receipt whose id *piece* is, or begins or ends, written or not.

        With a *wall*, one of an answer that looked beyond it is as one that is nowhere.

        Raises:
            BadFieldError: *piece* is neither 32 hex digits nor 8 or more of them.
            AmbiguousIdError: it fits several receipts.
            ReceiptNotFoundError: it fits none.
            ServiceError: see `Profile.snapshot`.
        """
        wanted = check_piece(piece, "receipt")
        # What has left the queue when it is looked at is in the file by now.
        waiting = {each.receipt.receipt_id: each for each in self._fitting(wanted)}
        with self._profile.snapshot() as connection:
            found = {
                receipt_id: decode_receipt(content)
                for receipt_id, content in find_receipts(connection, wanted).items()
            }
            for receipt_id in waiting.keys() - found.keys():
                found[receipt_id] = self._completed(connection, [waiting[receipt_id]])[0]
        fitting = [
            self._confirmations.brought_up(each)
            for each in found.values()
            if wall is None or wall.holds_all(each.scope)
        ]
        if len(fitting) > 1:
            raise AmbiguousIdError(f"{wanted} fits several receipts; give more digits of the id")
        if fitting:
            return fitting[0]
        raise receipt_not_found(wanted)

    def settle(self, seconds: float) -> bool:
        """Write at once what waits; tell whether that was done within *seconds*."""
        with self._changed:
            mine = self._waiting.keys() | self._writing.keys()
            added = self._ledger.added
            self._hurry = True
            self._changed.notify_all()
            return self._changed.wait_for(
                lambda: (
                    self._ledger.has_written(added)
                    and mine.isdisjoint(self._waiting.keys() | self._writing.keys())
                ),
                seconds,
            )

    def stop(self) -> None:
        """Write what waits, if that can be done, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(STOP_SECONDS)

    def _fitting(self, piece: str) -> list[Answered]:
        with self._changed:
            return [
                answered
                for receipt_id, answered in (self._writing | self._waiting).items()
                if receipt_id.startswith(piece) or receipt_id.endswith(piece)
            ]

    def _work(self) -> None:
        while not self._stopping:
            self._wait()
            self._write()
        with self._changed:
            self._ledger.refusals.close(every=True)
        while self._waits() and self._write():
            pass

    def _waits(self) -> bool:
        return bool(self._waiting) or self._confirmations.waits or self._ledger.waits

    def _wait(self) -> None:
        """Return when there is a batch to write."""
        with self._changed:
            while not (self._waits() or self._stopping):
                self._changed.wait(self._ledger.refusals.left())
                self._ledger.refusals.close()
            failed = bool(self._back_off.problem)
            pause = self._back_off.left() if failed else WRITE_SECONDS
            self._changed.wait_for(lambda: self._is_time(failed=failed), pause)
            self._hurry = False

    def _is_time(self, *, failed: bool) -> bool:
        full = len(self._waiting) >= BATCH_MAX and not failed
        return full or self._hurry or self._stopping

    def _write(self) -> bool:
        """Write a batch; tell whether it could be done."""
        batch, page = self._take_batch()

        def write(transaction: Transaction) -> None:
            _store(transaction, receipts, missed, confirmed)
            insert_answers(transaction.connection, given)
            write_page(transaction, page)

        try:
            with self._profile.snapshot() as connection:
                receipts = self._completed(connection, batch)
            given = [_given_answer(each) for each in batch]
            missed = [each for each in batch if self.keeps_misses and _missed(each)]
            confirmed = self._confirmations.take(but_of=set(self._waiting))
            self._profile.write(write)
        except ServiceError as error:
            self._back_off.failed(error.message)
            log.info(event("receipts wait", profile=self._profile.name, because=error.message))
            self._put_back()
            self._confirmations.put_back()
            return False
        except Exception:
            # The thread's root: what cannot be written for a bug must not hold up the rest.
            log.exception(event("bug in writing receipts", profile=self._profile.name))
            self._dropped += len(batch)
        self._confirmations.done()
        self._back_off.succeeded()
        with self._changed:
            self._writing = {}
            self._ledger.done()
            self._changed.notify_all()
        return True

    def _take_batch(self) -> tuple[list[Answered], Page]:
        with self._changed:
            self._writing = dict(islice(self._waiting.items(), BATCH_MAX))
            for receipt_id in self._writing:
                del self._waiting[receipt_id]
            return list(self._writing.values()), self._ledger.take()

    def _put_back(self) -> None:
        with self._changed:
            self._waiting = self._writing | self._waiting
            self._writing = {}
            self._ledger.put_back()
            self._make_room()

    def _make_room(self) -> None:
        while len(self._waiting) > WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]
            self._dropped += 1

    def _completed(self, connection: Connection, batch: Sequence[Answered]) -> list[Receipt]:
        """Return the receipts with the notes that were withheld from their answers."""
        serving = read_model(connection, ModelRole.SERVING)
        index = index_of(serving, self._profile.index)
        receipts = []
        for each in batch:
            same = serving is not None and serving.identity == each.vector_model
            withheld = find_withheld(connection, index if same else None, each.question)
            seen = {looked.note_id for looked in each.receipt.looked_at}
            # A note that has been hidden since was none that the answer had to do without.
            kept_back = tuple(found for found in withheld if found.note_id not in seen)
            receipts.append(replace(each.receipt, withheld=kept_back))
        return receipts


def receipt_not_found(piece: str) -> ReceiptNotFoundError:
    """Return the refusal of a receipt that is not there."""
    return ReceiptNotFoundError(
        f"no receipt has the id {piece}; those of the last answers alone are kept, so ask the "
        "question again"
    )


def _missed(answered: Answered) -> bool:
    missed = answered.receipt.hit is Hit.MISS and not answered.question.looks_back
    return missed and answered.caller.door != HOOK_DOOR


def _given_answer(answered: Answered) -> GivenAnswer:
    receipt, scopes = answered.receipt, answered.question.scope.scopes
    best = next(iter(receipt.looked_at), None)
    return GivenAnswer(
        at_ms=receipt.at_ms,
        scope=scopes[0] if scopes else ALL_SCOPES,
        door=answered.caller.door,
        agent=answered.caller.agent,
        hit=receipt.hit,
        note_id=best.note_id if best is not None and receipt.hit is not Hit.MISS else None,
        degraded=bool(receipt.degraded),
        service_ms=answered.service_ms,
        embed_ms=answered.embed_ms,
    )


def _store(
    transaction: Transaction,
    receipts: Sequence[Receipt],
    missed: Sequence[Answered],
    confirmed: Sequence[Confirmed],
) -> None:
    connection = transaction.connection
    for receipt in receipts:
        insert_receipt(connection, receipt.receipt_id, encode_receipt(receipt), receipt.at_ms)
    write_confirmed(transaction, confirmed)
    if receipts:
        delete_old_receipts(connection)
    if missed:
        keep_misses(connection, (_as_missed(each) for each in missed))
        delete_old_misses(connection)


def _as_missed(answered: Answered) -> Missed:
    question = answered.question
    return Missed(
        text=question.said.focus,
        scope=question.scope,
        vector=_vector_of(answered),
        at_ms=question.now_ms,
    )


def _vector_of(answered: Answered) -> MissVector | None:
    vector, background = answered.question.vector, answered.receipt.background
    if vector is None:
        return None
    return MissVector(
        model=answered.vector_model,
        mean=background.mean,
        deviation=background.deviation,
        values=vector.tobytes(),
    )
