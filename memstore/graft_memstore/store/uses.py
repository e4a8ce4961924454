"""How often notes were given out, whole: as the answer to a question, and by their id."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from graft_memstore.model import NoteId
from graft_memstore.store import meta
from graft_memstore.store.rows import Parameters, change, select, select_one

# Of a note that has been erased since nothing is kept.
UPSERT_USES = """
INSERT INTO note_uses (note_id, strong, got, last_at)
SELECT id, :strong, :got, :last_at FROM notes WHERE id = :note_id
ON CONFLICT (note_id) DO UPDATE SET
    strong = strong + excluded.strong,
    got = got + excluded.got,
    last_at = max(last_at, excluded.last_at)
"""

SELECT_USES = "SELECT strong, got, last_at FROM note_uses WHERE note_id = :note_id"

# notes_by_time from the oldest on; of notes that searches do not show nobody asks whether they
# are used.
SELECT_NEVER_USED = """
SELECT notes.id
FROM notes INDEXED BY notes_by_time
CROSS JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
WHERE notes.recorded_at < :before
  AND state.lifecycle = 'active' AND state.trust NOT IN ('held', 'rejected')
  AND NOT EXISTS (SELECT 1 FROM note_uses WHERE note_uses.note_id = notes.id)
ORDER BY notes.recorded_at, notes.id
LIMIT :count_max
"""

SELECT_UNUSED_AMONG = """
SELECT wanted.value
FROM json_each(:note_ids) AS wanted
WHERE NOT EXISTS (SELECT 1 FROM note_uses WHERE note_uses.note_id = wanted.value)
"""

USES_SINCE = "uses_since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """How often a note was given out.

    Attributes:
        strong: as the STRONG answer to a question.
        got: by its id.
        last_at_ms: when that last happened; None where it never did.
    """

    strong: int = 0
    got: int = 0
    last_at_ms: int | None = None

    def and_then(self, later: "Uses") -> "Uses":
        """Return both together."""
        times = [each for each in (self.last_at_ms, later.last_at_ms) if each is not None]
        return Uses(
            strong=self.strong + later.strong,
            got=self.got + later.got,
            last_at_ms=max(times, default=None),
        )


def add_uses(connection: apsw.Connection, note_id: NoteId, uses: Uses) -> None:
    """Count *uses*, which have a time, of a note that may be gone by now."""
    wanted: Parameters = {
        "note_id": note_id,
        "strong": uses.strong,
        "got": uses.got,
        "last_at": uses.last_at_ms,
    }
    change(connection, UPSERT_USES, wanted)


def read_uses(connection: apsw.Connection, note_id: NoteId) -> Uses:
    """Return how often a note was given out, so far as that is written down."""
    row = select_one(connection, SELECT_USES, {"note_id": note_id})
    return Uses() if row is None else Uses(strong=row[0], got=row[1], last_at_ms=row[2])


def read_never_used(connection: apsw.Connection, before_ms: int, limit: int) -> list[NoteId]:
    """Return notes in force that were stored before an instant and never given out, oldest first.

    None where uses have not been counted for so long: nothing is known of these notes then.
    """
    if int(meta.read(connection, USES_SINCE) or 0) >= before_ms:
        return []
    rows = select(connection, SELECT_NEVER_USED, {"before": before_ms, "count_max": limit})
    return [NoteId(row[0]) for row in rows]


def never_used_of(
    connection: apsw.Connection, note_ids: Sequence[NoteId], before_ms: int
) -> frozenset[NoteId]:
    """Return those of some notes, stored before an instant, that were never given out.

    None where uses have not been counted for so long: nothing is known of these notes then.
    """
    if int(meta.read(connection, USES_SINCE) or 0) > before_ms:
        return frozenset()
    rows = select(connection, SELECT_UNUSED_AMONG, {"note_ids": json.dumps(note_ids)})
    return frozenset(NoteId(row[0]) for row in rows)
