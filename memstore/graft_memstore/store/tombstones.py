"""What was rejected: digests of what notes said, which no door lets in again."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import USER_SCOPE, EventSeq
from graft_memstore.store.rows import Parameters, Row, change, select_one

# Two notes of one scope may say the same; the first rejection counts.
INSERT_TOMBSTONE = """
INSERT INTO tombstones (value_hash, words_hash, scope, reason, actor, at)
VALUES (:value_hash, :words_hash, :scope, :reason, :actor, :at)
ON CONFLICT (value_hash, scope) WHERE lifted_at IS NULL DO NOTHING
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

SELECT_TOMBSTONE = """
SELECT tombstone_id, value_hash, scope FROM tombstones
WHERE tombstone_id = :tombstone_id AND lifted_at IS NULL
"""

# tombstones_by_value
UPDATE_LIFTED = """
UPDATE tombstones SET lifted_at = :lifted_at, lifted_by = :lifted_by
WHERE value_hash = :value_hash AND scope = :scope AND lifted_at IS NULL
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


def insert_tombstone(connection: apsw.Connection, tombstone: Tombstone) -> None:
    """Remember a rejection, unless the scope has one of this value."""
    change(
        connection,
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


def read_rejection(connection: apsw.Connection, tombstone_id: int) -> Rejection | None:
    """Return a rejection that binds, None where it was lifted."""
    return _rejection(select_one(connection, SELECT_TOMBSTONE, {"tombstone_id": tombstone_id}))


def lift_tombstone(
    connection: apsw.Connection, value_hash: bytes, scope: str, *, event: EventSeq, at_ms: int
) -> bool:
    """Let a value be said again in *scope*, as *event* records; tell whether it was rejected."""
    wanted: Parameters = {
        "value_hash": value_hash,
        "scope": scope,
        "lifted_by": event,
        "lifted_at": at_ms,
    }
    return change(connection, UPDATE_LIFTED, wanted) > 0


def _rejection(row: Row | None) -> Rejection | None:
    if row is None:
        return None
    tombstone_id, value_hash, scope = row
    return Rejection(tombstone_id=tombstone_id, value_hash=value_hash, scope=scope)
