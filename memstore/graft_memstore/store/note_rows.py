"""The rows of all notes as they stand, also where somebody has put into one what no note holds."""

from dataclasses import dataclass

import apsw

from graft_memstore.model import NoteId, StoredNote
from graft_memstore.store.notes import COLUMNS, stored_from
from graft_memstore.store.rows import Row, select

# By primary key, a page at a time; each is looked up in the index of words by its number.
SELECT_NOTE_ROWS = (
    "SELECT EXISTS (SELECT 1 FROM notes_fts WHERE notes_fts.rowid = note.seq),"  # noqa: S608 - joined at import, from constants alone
    + COLUMNS
    + """
FROM notes AS note
WHERE note.seq > :after
ORDER BY note.seq
LIMIT :count_max
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """A row of the table; *note* None: it is none.

    Attributes:
        indexed: whether its words stand under its number.
    """

    seq: int
    id: NoteId
    note: StoredNote | None
    indexed: bool


def read_note_rows(connection: apsw.Connection, after: int, count_max: int) -> list[NoteRow]:
    """Return a page of all rows in the order of their numbers."""
    rows = select(connection, SELECT_NOTE_ROWS, {"after": after, "count_max": count_max})
    return [
        NoteRow(
            seq=row[1],
            id=NoteId(row[2]),
            note=_note_or_none(row[1:]),
            indexed=bool(row[0]),
        )
        for row in rows
    ]


def _note_or_none(row: Row) -> StoredNote | None:
    try:
        return stored_from(row)
    except ValueError:
        return None
