"""Vectors of titles, by which notes are compared with one another, whatever their state."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from graft_memstore.model import ModelId, NoteId
from graft_memstore.store.rows import select
from graft_memstore.visibility import VISIBLE, View

# chunks_by_note
SELECT_TITLES_OF_NOTES = """
SELECT notes.seq, notes.id, notes.scope, chunks.vector
FROM json_each(:seqs) AS wanted
CROSS JOIN notes ON notes.seq = wanted.value
CROSS JOIN chunks ON chunks.note_id = notes.id AND chunks.model_id = :model_id
    AND chunks.part = 0
"""

# note_keywords_by_keyword backwards: ids of notes begin with their time.
SELECT_TITLES_WITH_KEYWORD = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT chunks.chunk_id
FROM (
    SELECT keyword.note_id
    FROM note_keywords AS keyword INDEXED BY note_keywords_by_keyword
    CROSS JOIN visible ON visible.note_id = keyword.note_id
    WHERE keyword.keyword_id = :keyword_id AND keyword.known_to IS NULL
    ORDER BY keyword.note_id DESC
    LIMIT :count_max
) AS carried
CROSS JOIN chunks ON chunks.note_id = carried.note_id AND chunks.model_id = :model_id
    AND chunks.part = 0
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """The title of a note as a vector of unit length."""

    seq: int
    note_id: NoteId
    scope: str
    vector: NDArray[np.float32]


def read_titles_of(
    connection: apsw.Connection, model_id: ModelId, seqs: Iterable[int]
) -> dict[int, Title]:
    """Return the titles of the notes listed that have a vector, by their seq."""
    rows = select(
        connection, SELECT_TITLES_OF_NOTES, {"model_id": model_id, "seqs": json.dumps(list(seqs))}
    )
    return {
        seq: Title(
            seq=seq,
            note_id=NoteId(note_id),
            scope=scope,
            vector=np.frombuffer(vector, dtype="<f4"),
        )
        for seq, note_id, scope, vector in rows
    }


def titles_with_keyword(
    connection: apsw.Connection, model_id: ModelId, keyword_id: int, view: View, count_max: int
) -> NDArray[np.int64]:
    """Return the chunks of the titles of the newest notes of *view* that carry a keyword."""
    wanted = view.parameters(model_id=model_id, keyword_id=keyword_id, count_max=count_max)
    rows = select(connection, SELECT_TITLES_WITH_KEYWORD, wanted)
    return np.fromiter((chunk_id for (chunk_id,) in rows), dtype=np.int64)
