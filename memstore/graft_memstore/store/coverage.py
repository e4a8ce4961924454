"""How much of a profile's text has vectors."""

import apsw

from graft_memstore.model import ModelId, NoteId
from graft_memstore.store.rows import select_one

# chunks_by_note backwards.
SELECT_LAST_PART = """
SELECT part, end_char FROM chunks
WHERE note_id = :note_id AND model_id = :model_id
ORDER BY part DESC
LIMIT 1
"""

SELECT_VECTOR_COUNT = "SELECT count(*) FROM chunks WHERE model_id = :model_id"

# chunks_by_model, the titles among them.
SELECT_TITLE_COUNT = "SELECT count(*) FROM chunks WHERE model_id = :model_id AND part = 0"

# Reads notes by their smallest index and looks each up in chunks_by_note and pending_by_note.
SELECT_FORGOTTEN_COUNT = """
SELECT count(*)
FROM notes AS note
WHERE NOT EXISTS (
    SELECT 1 FROM chunks WHERE note_id = note.id AND model_id = :model_id AND part = 0
)
AND NOT EXISTS (
    SELECT 1 FROM pending WHERE note_id = note.id AND what = 'title' AND model_id IS NULL
)
"""


def read_last_part(
    connection: apsw.Connection, note_id: NoteId, model_id: ModelId
) -> tuple[int, int] | None:
    """Return number and end of a note's last window, None when it has no vector."""
    row = select_one(connection, SELECT_LAST_PART, {"note_id": note_id, "model_id": model_id})
    return None if row is None else (int(row[0]), int(row[1]))


def count_vectors(connection: apsw.Connection, model_id: ModelId) -> int:
    """Return how many vectors of a model there are."""
    row = select_one(connection, SELECT_VECTOR_COUNT, {"model_id": model_id})
    return 0 if row is None else int(row[0])


def count_titles(connection: apsw.Connection, model_id: ModelId) -> int:
    """Return how many notes have a vector of their title."""
    row = select_one(connection, SELECT_TITLE_COUNT, {"model_id": model_id})
    return 0 if row is None else int(row[0])


def count_forgotten(connection: apsw.Connection, model_id: ModelId) -> int:
    """Return how many notes have neither a vector of their title nor wait for one.

    A note whose title no model can embed is among them.
    """
    row = select_one(connection, SELECT_FORGOTTEN_COUNT, {"model_id": model_id})
    return 0 if row is None else int(row[0])
