"""Replies of the last day, so that a retried call answers the same and changes nothing."""

from dataclasses import dataclass

import apsw

from graft_memstore.store.rows import change, select_one

RECEIPT_MS = 24 * 60 * 60 * 1000
"""How long a reply is remembered."""

SELECT_REQUEST = """
SELECT method, payload_hash, reply FROM requests WHERE request_id = :request_id AND at > :oldest
"""

INSERT_REQUEST = """
INSERT INTO requests (request_id, method, payload_hash, reply, at)
VALUES (:request_id, :method, :payload_hash, :reply, :at)
ON CONFLICT (request_id) DO UPDATE SET
    method = excluded.method, payload_hash = excluded.payload_hash,
    reply = excluded.reply, at = excluded.at
WHERE requests.at <= :oldest
"""

DELETE_OLD_REQUESTS = """
DELETE FROM requests WHERE request_id IN (
    SELECT request_id FROM requests WHERE at <= :oldest ORDER BY at LIMIT :count_max
)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a call was answered; never holds text.

    Attributes:
        payload_hash: of the request without its id.
        reply: JSON, in the form that its method gives it.
    """

    request_id: str
    method: str
    payload_hash: bytes
    reply: bytes


def read_receipt(connection: apsw.Connection, request_id: str, now_ms: int) -> Receipt | None:
    """Return what *request_id* was answered within the last day, None when it is new."""
    row = select_one(
        connection, SELECT_REQUEST, {"request_id": request_id, "oldest": now_ms - RECEIPT_MS}
    )
    if row is None:
        return None
    method, payload_hash, reply = row
    return Receipt(request_id=request_id, method=method, payload_hash=payload_hash, reply=reply)


def insert_receipt(connection: apsw.Connection, receipt: Receipt, at_ms: int) -> None:
    """Remember a reply; one that is older than a day makes room for it."""
    changed = change(
        connection,
        INSERT_REQUEST,
        {
            "request_id": receipt.request_id,
            "method": receipt.method,
            "payload_hash": receipt.payload_hash,
            "reply": receipt.reply,
            "at": at_ms,
            "oldest": at_ms - RECEIPT_MS,
        },
    )
    assert changed == 1, "the request was looked up in this transaction before"


def prune(connection: apsw.Connection, now_ms: int, count_max: int) -> int:
    """Forget up to *count_max* replies older than a day and return how many."""
    return change(
        connection,
        DELETE_OLD_REQUESTS,
        {"oldest": now_ms - RECEIPT_MS, "count_max": count_max},
    )
