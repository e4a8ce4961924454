"""What callers found of the sources of answers, on its way into their receipts and the queue."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from graft_memstore.model import ReceiptId
from graft_memstore.provenance import Finding, SourceCheck
from graft_memstore.recall.receipt import Receipt, decode_receipt, encode_receipt
from graft_memstore.store.notes import read_stored
from graft_memstore.store.receipts import find_receipts, update_receipt
from graft_memstore.store.sources import fingerprint_of
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.source_changes import tell_reviewer
from graft_memstore.write.state_change import read_present

CONFIRMED_MAX = 512
"""Confirmations that may wait to be written down; one more pushes the oldest out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """An answer whose sources were looked at, and what was found of each."""

    receipt: Receipt
    findings: tuple[Finding, ...]


class Confirmations:
    """Keeps the first that is said of each answer, until it is written."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[ReceiptId, Confirmed] = {}
        self._writing: dict[ReceiptId, Confirmed] = {}

    @property
    def waits(self) -> bool:
        """Whether something is to be written."""
        return bool(self._waiting or self._writing)

    def keep(self, confirmed: Confirmed) -> Receipt:
        """Keep what was found unless the answer has been confirmed; return what is kept."""
        receipt_id = confirmed.receipt.receipt_id
        with self._lock:
            known = self._waiting.get(receipt_id) or self._writing.get(receipt_id)
            if known is not None:
                return known.receipt
            self._waiting[receipt_id] = confirmed
            while len(self._waiting) > CONFIRMED_MAX:
                del self._waiting[next(iter(self._waiting))]
            return confirmed.receipt

    def brought_up(self, receipt: Receipt) -> Receipt:
        """Return *receipt* with what was found since it was written."""
        with self._lock:
            known = self._waiting.get(receipt.receipt_id) or self._writing.get(receipt.receipt_id)
        return receipt if known is None else _with_findings(receipt, known.receipt)

    def take(self, but_of: Collection[ReceiptId]) -> Sequence[Confirmed]:
        """Return what waits; it is written by now when `done` is called, else `put_back`.

        What is *but_of* receipts that are not in the file yet goes on waiting.
        """
        with self._lock:
            waiting = self._waiting.items()
            self._writing = {key: each for key, each in waiting if key not in but_of}
            self._waiting = {key: each for key, each in waiting if key in but_of}
            return list(self._writing.values())

    def done(self) -> None:
        """Forget what was taken."""
        with self._lock:
            self._writing = {}

    def put_back(self) -> None:
        """Let what was taken wait again."""
        with self._lock:
            self._waiting = self._writing | self._waiting
            self._writing = {}


def write_confirmed(transaction: Transaction, confirmed: Sequence[Confirmed]) -> None:
    """Put what was found into receipts, which are in the file, and before the reviewer."""
    connection = transaction.connection
    for each in confirmed:
        receipt_id = each.receipt.receipt_id
        content = find_receipts(connection, receipt_id).get(receipt_id)
        known = None if content is None else decode_receipt(content)
        if known is not None and known.check is SourceCheck.WAITING:
            told = _with_findings(known, each.receipt)
            update_receipt(connection, receipt_id, encode_receipt(told))
        note_id = each.receipt.looked_at[0].note_id
        if read_stored(connection, note_id) is None:
            continue
        present = read_present(connection, note_id)
        for finding in each.findings:
            fingerprint = fingerprint_of(connection, note_id, finding.source_id)
            if fingerprint is not None:
                tell_reviewer(transaction, present, fingerprint, finding)


def _with_findings(receipt: Receipt, confirmed: Receipt) -> Receipt:
    return replace(receipt, hit=confirmed.hit, sources=confirmed.sources, check=confirmed.check)
