"""What was rejected: digests of what notes said, which no door lets in again."""

from dataclasses import dataclass
from typing import Protocol

import apsw

from graft_memstore.canonical import encode_fields
from graft_memstore.model import USER_SCOPE, EventSeq
from graft_memstore.store.rows import Parameters, Row, select, select_one

# Two notes of one scope may say the same; the first rejection counts.
INSERT_TOMBSTONE = """
INSERT INTO tombstones (value_hash, words_hash, scope, reason, actor, at)
VALUES (:value_hash, :words_hash, :scope, :reason, :actor, :at)
ON CONFLICT (value_hash, scope) WHERE lifted_at IS NULL DO NOTHING
RETURNING tombstone_id
"""

# tombstones_by_value
SELECT_TOMBSTONE_BY_VALUE = """
SELECT tombstone_id, value_hash, scope FROM tombstones
WHERE value_hash = :value_hash AND scope IN (:scope, :user_scope) AND lifted_at IS NULL
LIMIT 1
"""

# tombstones_by_words
SELECT_TOMBSTONE_BY_WORDS = """
SELECT tombstone_id, value_hash, scope FROM tombstones
WHERE words_hash = :words_hash AND scope IN (:scope, :user_scope) AND lifted_at IS NULL
LIMIT 1
"""

# tombstones_by_words, read whole: there are few rejections.
SELECT_WORDS_REJECTED = """
SELECT 1 FROM tombstones INDEXED BY tombstones_by_words
WHERE words_hash IS NOT NULL AND lifted_at IS NULL AND scope = :scope
LIMIT 1
"""

SELECT_TOMBSTONE = """
SELECT tombstone_id, value_hash, scope FROM tombstones
WHERE tombstone_id = :tombstone_id AND lifted_at IS NULL
"""

# tombstones_by_value
UPDATE_LIFTED = """
UPDATE tombstones SET lifted_at = :lifted_at, lifted_by = :lifted_by
WHERE value_hash = :value_hash AND scope = :scope AND lifted_at IS NULL
RETURNING tombstone_id
"""

SELECT_WHOLE_TOMBSTONE = """
SELECT value_hash, words_hash, scope, reason, actor, at, lifted_at, lifted_by
FROM tombstones
WHERE tombstone_id = :tombstone_id
"""

# By primary key, a page at a time.
SELECT_TOMBSTONES_AFTER = """
SELECT tombstone_id, scope, reason, actor, at
FROM tombstones
WHERE tombstone_id > :after
ORDER BY tombstone_id
LIMIT :count_max
"""

# By primary key, a page at a time.
SELECT_BINDING_AFTER = """
SELECT tombstone_id, value_hash, words_hash, scope, reason, actor, at
FROM tombstones
WHERE tombstone_id > :after AND lifted_at IS NULL
ORDER BY tombstone_id
LIMIT :count_max
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A rejection that binds: its number, what was rejected, and the scope that it binds."""

    tombstone_id: int
    value_hash: bytes
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A rejection.

    Attributes:
        words_hash: of the words that say something; None where there are none.
        scope: that it binds; one of `USER_SCOPE` binds every scope.
    """

    value_hash: bytes
    words_hash: bytes | None
    scope: str
    reason: str
    actor: str
    at_ms: int


class Sealing(Protocol):
    """A change whose last event seals rejections; see `Transaction`."""

    connection: apsw.Connection

    def seal_tombstone(self, tombstone_id: int) -> None:
        """Have a rejection sealed as it is when the change is done."""


def insert_tombstone(transaction: Sealing, tombstone: Tombstone) -> None:
    """Remember a rejection, unless the scope has one of this value."""
    row = select_one(
        transaction.connection,
        INSERT_TOMBSTONE,
        {
            "value_hash": tombstone.value_hash,
            "words_hash": tombstone.words_hash,
            "scope": tombstone.scope,
            "reason": tombstone.reason,
            "actor": tombstone.actor,
            "at": tombstone.at_ms,
        },
    )
    if row is not None:
        transaction.seal_tombstone(row[0])


def find_rejected_value(
    connection: apsw.Connection, value_hash: bytes, scope: str
) -> Rejection | None:
    """Return what rejected a value for *scope*, None where nothing did."""
    wanted: Parameters = {"value_hash": value_hash, "scope": scope, "user_scope": USER_SCOPE}
    return _rejection(select_one(connection, SELECT_TOMBSTONE_BY_VALUE, wanted))


def find_rejected_words(
    connection: apsw.Connection, words_hash: bytes, scope: str
) -> Rejection | None:
    """Return what rejected something of just these words for *scope*, None where nothing did."""
    wanted: Parameters = {"words_hash": words_hash, "scope": scope, "user_scope": USER_SCOPE}
    return _rejection(select_one(connection, SELECT_TOMBSTONE_BY_WORDS, wanted))


def rejects_words(connection: apsw.Connection, scope: str) -> bool:
    """Tell whether a rejection of *scope* itself goes by words."""
    return select_one(connection, SELECT_WORDS_REJECTED, {"scope": scope}) is not None


def read_rejection(connection: apsw.Connection, tombstone_id: int) -> Rejection | None:
    """Return a rejection that binds, None where it was lifted."""
    return _rejection(select_one(connection, SELECT_TOMBSTONE, {"tombstone_id": tombstone_id}))


def lift_tombstone(
    transaction: Sealing, value_hash: bytes, scope: str, *, event: EventSeq, at_ms: int
) -> bool:
    """Let a value be said again in *scope*, as *event* records; tell whether it was rejected."""
    wanted: Parameters = {
        "value_hash": value_hash,
        "scope": scope,
        "lifted_by": event,
        "lifted_at": at_ms,
    }
    row = select_one(transaction.connection, UPDATE_LIFTED, wanted)
    if row is not None:
        transaction.seal_tombstone(row[0])
    return row is not None


def encode_tombstone(connection: apsw.Connection, tombstone_id: int) -> bytes:
    """Return what an event seals of a rejection: its whole row, lifted or not."""
    row = select_one(connection, SELECT_WHOLE_TOMBSTONE, {"tombstone_id": tombstone_id})
    return encode_fields(tombstone_id, *(row or ()))


def read_tombstones_after(
    connection: apsw.Connection, after: int, count_max: int
) -> list[tuple[int, str, str, str, int]]:
    """Return a page of all rejections: number, scope, reason, actor, time."""
    rows = select(connection, SELECT_TOMBSTONES_AFTER, {"after": after, "count_max": count_max})
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def read_binding_after(
    connection: apsw.Connection, after: int, count_max: int
) -> list[tuple[int, Tombstone]]:
    """Return a page of the rejections that bind, each with its number."""
    rows = select(connection, SELECT_BINDING_AFTER, {"after": after, "count_max": count_max})
    return [
        (
            row[0],
            Tombstone(
                value_hash=row[1],
                words_hash=row[2],
                scope=row[3],
                reason=row[4],
                actor=row[5],
                at_ms=row[6],
            ),
        )
        for row in rows
    ]


def _rejection(row: Row | None) -> Rejection | None:
    if row is None:
        return None
    tombstone_id, value_hash, scope = row
    return Rejection(tombstone_id=tombstone_id, value_hash=value_hash, scope=scope)
