"""Receipts: what the last answers were made of, each found by its id or a piece of it."""

from collections.abc import Mapping

import apsw

from graft_memstore.model import ReceiptId
from graft_memstore.store.rows import Parameters, change, select

RECEIPTS_MAX = 5_000
"""Receipts that are kept; the oldest make room for new ones."""

# One that was written before, its writer not having heard of it, stays.
INSERT_RECEIPT = """
INSERT INTO receipts (receipt_id, at, content) VALUES (:receipt_id, :at, :content)
ON CONFLICT (receipt_id) DO NOTHING
"""

UPDATE_RECEIPT = "UPDATE receipts SET content = :content WHERE receipt_id = :receipt_id"

DELETE_OLD_RECEIPTS = """
DELETE FROM receipts WHERE seq <= (SELECT max(seq) FROM receipts) - :count_max
"""

# The first half runs over the index of ids, the second over receipts_by_suffix.
SELECT_RECEIPTS_BY_PIECE = """
SELECT receipt_id, content FROM (
    SELECT receipt_id, content FROM receipts
    WHERE receipt_id >= :piece AND receipt_id < :after_piece
    UNION
    SELECT receipt_id, content FROM receipts
    WHERE substr(receipt_id, 25) = substr(:piece, -8)
      AND substr(receipt_id, -length(:piece)) = :piece
)
LIMIT :count_max
"""

FITTING_MAX = 16
"""Receipts that a piece of an id is followed to: two are enough to know that it is ambiguous, and
some may be none that their asker may see."""

AFTER_EVERY_DIGIT = "g"


def insert_receipt(
    connection: apsw.Connection, receipt_id: ReceiptId, content: str, at_ms: int
) -> None:
    """Keep a receipt."""
    change(connection, INSERT_RECEIPT, {"receipt_id": receipt_id, "content": content, "at": at_ms})


def update_receipt(connection: apsw.Connection, receipt_id: ReceiptId, content: str) -> None:
    """Say more in a receipt that is kept."""
    change(connection, UPDATE_RECEIPT, {"receipt_id": receipt_id, "content": content})


def delete_old_receipts(connection: apsw.Connection) -> None:
    """Forget all but the newest `RECEIPTS_MAX`."""
    change(connection, DELETE_OLD_RECEIPTS, {"count_max": RECEIPTS_MAX})


def find_receipts(connection: apsw.Connection, piece: str) -> Mapping[ReceiptId, str]:
    """Return receipts whose ids begin or end with *piece*, 8 to 32 lower-case digits."""
    wanted: Parameters = {
        "piece": piece,
        "after_piece": piece + AFTER_EVERY_DIGIT,
        "count_max": FITTING_MAX,
    }
    rows = select(connection, SELECT_RECEIPTS_BY_PIECE, wanted)
    return {ReceiptId(receipt_id): content for receipt_id, content in rows}
