"""Makes a retried call answer the same and change nothing, for a day."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from graft.wire.errors import RequestIdReusedError
from graft_memstore.store.database import Connection
from graft_memstore.store.notices import GivenTo
from graft_memstore.store.requests import Receipt, insert_receipt, read_receipt

# What json gives back for an object that we wrote ourselves.
Reply = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """What tells a retry from another request.

    Attributes:
        request_id: UUID that the caller made.
        method: name of the rpc.
        payload_hash: of the request without its id.
    """

    request_id: str
    method: str
    payload_hash: bytes


def recall_reply(connection: Connection, key: RequestKey, now_ms: int) -> Reply | None:
    """Return what this request was answered before, None when it is new.

    Raises:
        RequestIdReusedError: the id belongs to another request.
    """
    receipt = read_receipt(connection, key.request_id, now_ms)
    if receipt is None:
        return None
    if receipt.method != key.method or receipt.payload_hash != key.payload_hash:
        raise RequestIdReusedError(
            f"request_id {key.request_id} was used for another {receipt.method} before; "
            "make a new one for each change"
        )
    return cast("Reply", json.loads(receipt.reply))


def given_to_of(reply: Reply) -> GivenTo:
    """Read which sessions a remembered reply tells of; an earlier version's tells of none."""
    count, sessions = reply.get("given_to", [0, []])
    return GivenTo(count=count, sessions=tuple(sessions))


def remember_reply(connection: Connection, key: RequestKey, reply: Reply, at_ms: int) -> None:
    """Keep *reply*, which must hold ids, states and counts alone, with the change it tells of."""
    receipt = Receipt(
        request_id=key.request_id,
        method=key.method,
        payload_hash=key.payload_hash,
        reply=json.dumps(reply, separators=(",", ":")).encode(),
    )
    insert_receipt(connection, receipt, at_ms)
