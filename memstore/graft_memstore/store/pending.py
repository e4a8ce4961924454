"""Texts that still wait for their vectors: titles, and how far each note's passages are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelId, NoteId, PendingKind
from graft_memstore.store.rows import change, select, select_one

INSERT_PENDING = """
INSERT INTO pending (note_id, model_id, what) VALUES (:note_id, :model_id, :what)
ON CONFLICT DO NOTHING
"""

INSERT_ALL_TITLES = """
INSERT INTO pending (note_id, model_id, what)
SELECT id, :model_id, 'title' FROM notes ORDER BY seq
ON CONFLICT DO NOTHING
"""

INSERT_ALL_PASSAGES = """
INSERT INTO pending (note_id, model_id, what)
SELECT id, :model_id, 'passages' FROM notes
WHERE trim(body, char(9, 10, 11, 12, 13, 32)) <> '' OR length(title) > :title_chars
ORDER BY seq
ON CONFLICT DO NOTHING
"""

# A note without a vector of its title: it was left out, or lost its vectors.
INSERT_FORGOTTEN_TITLES = """
INSERT INTO pending (note_id, what)
SELECT id, 'title' FROM notes
WHERE NOT EXISTS (
    SELECT 1 FROM chunks WHERE note_id = notes.id AND model_id = :model_id AND part = 0
)
ORDER BY seq
ON CONFLICT DO NOTHING
"""

INSERT_FORGOTTEN_PASSAGES = """
INSERT INTO pending (note_id, what)
SELECT id, 'passages' FROM notes
WHERE (trim(body, char(9, 10, 11, 12, 13, 32)) <> '' OR length(title) > :title_chars)
AND NOT EXISTS (
    SELECT 1 FROM chunks WHERE note_id = notes.id AND model_id = :model_id AND part > 0
)
ORDER BY seq
ON CONFLICT DO NOTHING
"""

# pending_by_model; "IS" also finds the rows without a model.
SELECT_PENDING = """
SELECT pending_id, note_id, model_id, what, from_char, next_part
FROM pending
WHERE model_id IS :model_id AND what = :what
ORDER BY pending_id
LIMIT :count_max
"""

SELECT_PENDING_ROW = """
SELECT from_char, next_part FROM pending WHERE pending_id = :pending_id
"""

# What a reindex still wants does not count: the note is found by the model that serves.
# Left alone, the planner would walk all that waits, which pending_by_model gives sorted.
SELECT_COUNT_OF_NOTES = """
SELECT waits.note_id, count(*)
FROM json_each(:note_ids) AS wanted
CROSS JOIN pending AS waits INDEXED BY pending_by_note
WHERE waits.note_id = wanted.value AND waits.model_id IS NULL
GROUP BY waits.note_id
"""

SELECT_FIRST_FOR_MODEL = """
SELECT count(*) FROM (
    SELECT 1 FROM pending WHERE model_id IS :model_id LIMIT :count_max
)
"""

# Reads an index whole; the table holds only what waits.
SELECT_PENDING_COUNT = "SELECT count(*) FROM pending"

# One row of each kind, the first in pending_by_model; what a reindex wants does not count.
SELECT_WAITING_SINCE = """
SELECT min(note.recorded_at)
FROM json_each(:kinds) AS kind
CROSS JOIN pending AS waits ON waits.pending_id = (
    SELECT pending_id FROM pending
    WHERE model_id IS NULL AND what = kind.value
    ORDER BY pending_id
    LIMIT 1
)
CROSS JOIN notes AS note ON note.id = waits.note_id
"""

SELECT_NOTE_COUNT_FOR_MODEL = """
SELECT count(DISTINCT note_id) FROM pending WHERE model_id IS :model_id
"""

UPDATE_PROGRESS = """
UPDATE pending SET from_char = :from_char, next_part = :next_part WHERE pending_id = :pending_id
"""

DELETE_PENDING = "DELETE FROM pending WHERE pending_id = :pending_id"

DELETE_FOR_MODEL = "DELETE FROM pending WHERE model_id IS :model_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingText:
    """One text that waits.

    Attributes:
        model_id: the model that is moved to; None for the one that serves.
        from_char: where in `passage_text` the next window begins.
        next_part: number of the next passage.
    """

    pending_id: int
    note_id: NoteId
    model_id: ModelId | None
    what: PendingKind
    from_char: int
    next_part: int


def insert_pending(
    connection: apsw.Connection, note_id: NoteId, what: PendingKind, model_id: ModelId | None
) -> None:
    """Put a text of a note on the list, for *model_id* or for the serving model."""
    change(connection, INSERT_PENDING, {"note_id": note_id, "model_id": model_id, "what": what})


def insert_all_pending(connection: apsw.Connection, model_id: ModelId, title_chars: int) -> None:
    """Put every text of every note on the list for *model_id*.

    Args:
        connection: of the writer.
        model_id: model that is moved to.
        title_chars: a note without body has passages only when its title is longer than this.
    """
    change(connection, INSERT_ALL_TITLES, {"model_id": model_id})
    change(connection, INSERT_ALL_PASSAGES, {"model_id": model_id, "title_chars": title_chars})


def insert_forgotten_pending(
    connection: apsw.Connection, model_id: ModelId, title_chars: int
) -> None:
    """Put the texts of which the serving model has no vector on its list again.

    Args:
        connection: of the writer.
        model_id: model that serves.
        title_chars: see `insert_all_pending`.
    """
    change(connection, INSERT_FORGOTTEN_TITLES, {"model_id": model_id})
    change(
        connection,
        INSERT_FORGOTTEN_PASSAGES,
        {"model_id": model_id, "title_chars": title_chars},
    )


def read_pending(
    connection: apsw.Connection, model_id: ModelId | None, what: PendingKind, count_max: int
) -> list[PendingText]:
    """Return the texts that have waited longest."""
    rows = select(
        connection,
        SELECT_PENDING,
        {"model_id": model_id, "what": what, "count_max": count_max},
    )
    return [
        PendingText(
            pending_id=pending_id,
            note_id=NoteId(note_id),
            model_id=None if model is None else ModelId(model),
            what=PendingKind(kind),
            from_char=from_char,
            next_part=next_part,
        )
        for pending_id, note_id, model, kind, from_char, next_part in rows
    ]


def still_waits(connection: apsw.Connection, text: PendingText) -> bool:
    """Tell whether *text* waits as it did: its note is there and nobody has gone on with it."""
    row = select_one(connection, SELECT_PENDING_ROW, {"pending_id": text.pending_id})
    return row == (text.from_char, text.next_part)


def count_of_notes(connection: apsw.Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, int]:
    """Return how many texts of *note_ids* wait for the serving model, for those that have any."""
    rows = select(connection, SELECT_COUNT_OF_NOTES, {"note_ids": json.dumps(note_ids)})
    return {NoteId(note_id): int(count) for note_id, count in rows}


def count_pending(connection: apsw.Connection) -> int:
    """Return how many texts wait."""
    row = select_one(connection, SELECT_PENDING_COUNT, {})
    return 0 if row is None else int(row[0])


def waiting_since(connection: apsw.Connection) -> int | None:
    """Return when the note was recorded that waits longest for the serving model; None: none."""
    row = select_one(connection, SELECT_WAITING_SINCE, {"kinds": json.dumps(list(PendingKind))})
    return None if row is None or row[0] is None else int(row[0])


def more_wait(connection: apsw.Connection, model_id: ModelId | None, count: int) -> bool:
    """Tell whether more than *count* texts wait, without counting the rest of them."""
    wanted = {"model_id": model_id, "count_max": count + 1}
    row = select_one(connection, SELECT_FIRST_FOR_MODEL, wanted)
    return row is not None and int(row[0]) > count


def count_notes_for_model(connection: apsw.Connection, model_id: ModelId | None) -> int:
    """Return how many notes have a text that waits for *model_id*."""
    row = select_one(connection, SELECT_NOTE_COUNT_FOR_MODEL, {"model_id": model_id})
    return 0 if row is None else int(row[0])


def move_on(connection: apsw.Connection, text: PendingText, from_char: int, next_part: int) -> None:
    """Keep how far a note's passages are."""
    change(
        connection,
        UPDATE_PROGRESS,
        {"pending_id": text.pending_id, "from_char": from_char, "next_part": next_part},
    )


def delete_pending(connection: apsw.Connection, text: PendingText) -> None:
    """Take a text off the list."""
    change(connection, DELETE_PENDING, {"pending_id": text.pending_id})


def delete_for_model(connection: apsw.Connection, model_id: ModelId | None) -> None:
    """Take all texts off the list that wait for *model_id*, or for the serving model."""
    change(connection, DELETE_FOR_MODEL, {"model_id": model_id})
