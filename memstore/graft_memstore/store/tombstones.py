"""What was rejected: digests of what notes said, which no door lets in again."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import USER_SCOPE
from graft_memstore.store.rows import Parameters, change, select_one

# Two notes of one scope may say the same; the first rejection counts.
INSERT_TOMBSTONE = """
INSERT INTO tombstones (value_hash, words_hash, scope, reason, actor, at)
VALUES (:value_hash, :words_hash, :scope, :reason, :actor, :at)
ON CONFLICT (value_hash, scope) WHERE lifted_at IS NULL DO NOTHING
"""

# tombstones_by_value
SELECT_TOMBSTONE_BY_VALUE = """
SELECT 1 FROM tombstones
WHERE value_hash = :value_hash AND scope IN (:scope, :user_scope) AND lifted_at IS NULL
LIMIT 1
"""

# tombstones_by_words
SELECT_TOMBSTONE_BY_WORDS = """
SELECT 1 FROM tombstones
WHERE words_hash = :words_hash AND scope IN (:scope, :user_scope) AND lifted_at IS NULL
LIMIT 1
"""


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


def is_rejected(connection: apsw.Connection, value_hash: bytes, scope: str) -> bool:
    """Tell whether a value was rejected for *scope*."""
    wanted: Parameters = {"value_hash": value_hash, "scope": scope, "user_scope": USER_SCOPE}
    return select_one(connection, SELECT_TOMBSTONE_BY_VALUE, wanted) is not None


def has_rejected_words(connection: apsw.Connection, words_hash: bytes, scope: str) -> bool:
    """Tell whether something of just these words was rejected for *scope*."""
    wanted: Parameters = {"words_hash": words_hash, "scope": scope, "user_scope": USER_SCOPE}
    return select_one(connection, SELECT_TOMBSTONE_BY_WORDS, wanted) is not None
