"""Notes that would have been candidates, had their state allowed it, and where each stands.

What is asked here is the opposite of a search: only ids and states leave this module, and only of
the scopes that were asked.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from graft_memstore.lexical import COLUMN_WEIGHTS
from graft_memstore.model import Condition, ModelId, NoteId
from graft_memstore.signature import Traits
from graft_memstore.store.rows import select, select_one
from graft_memstore.store.vectors import matrix_of
from graft_memstore.visibility import CONDITION, MAY_HIDE, VISIBLE, View, timed

_IN_SCOPE = "(:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))"

# Reads note_states_hiding, and no further than the first that is hidden.
SELECT_HIDDEN_ONE = (
    "SELECT 1 FROM note_states AS state CROSS JOIN notes ON notes.id = state.note_id"  # noqa: S608 - joined at import, from constants alone
    " WHERE state.known_to IS NULL AND "
    + MAY_HIDE
    + " AND "
    + _IN_SCOPE
    + " AND "
    + CONDITION
    + "<> 'shown' LIMIT 1"
)

# FTS5 gives rows in the order of their rank, so what follows is looked up only until the LIMIT is
# full: the hidden ones take the places that they would have had.
SELECT_BY_WORDS = timed(
    "SELECT notes.id, "
    + CONDITION
    + """
FROM notes_fts
CROSS JOIN notes ON notes.seq = notes_fts.rowid
CROSS JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
WHERE notes_fts MATCH :match AND notes_fts.rank MATCH :weights AND """
    + _IN_SCOPE
    + """
ORDER BY notes_fts.rank
LIMIT :count_max
"""
)

SELECT_BY_PIECES = timed(
    "SELECT notes.id, "
    + CONDITION
    + """
FROM notes_pieces
CROSS JOIN notes ON notes.seq = notes_pieces.rowid
CROSS JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
WHERE notes_pieces MATCH :match AND """
    + _IN_SCOPE
    + """
ORDER BY notes_pieces.rank
LIMIT :count_max
"""
)

# By primary key, newest notes first; each digest by itself, as in a search.
SELECT_BY_DIGESTS = timed(
    """
SELECT wanted.value, (
    SELECT json_group_array(json_array(found.seq, found.traits, found.id, found.condition))
    FROM (
        SELECT held.seq, held.traits, notes.id, """  # noqa: S608 - joined at import, from constants alone
    + CONDITION
    + """ AS condition
        FROM note_signatures AS held
        CROSS JOIN notes ON notes.seq = held.seq
        CROSS JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
        WHERE held.digest = wanted.value AND """
    + _IN_SCOPE
    + """
        ORDER BY held.seq DESC
        LIMIT :count_max
    ) AS found
)
FROM json_each(:digests) AS wanted
"""
)

SELECT_BY_CHUNKS = timed(
    "SELECT notes.id, "
    + CONDITION
    + """, chunks.vector
FROM json_each(:chunk_ids) AS wanted
CROSS JOIN chunks ON chunks.chunk_id = wanted.value
CROSS JOIN notes ON notes.id = chunks.note_id
CROSS JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
WHERE chunks.model_id = :model_id AND """
    + _IN_SCOPE
)

# chunks_by_model
SELECT_NEWER_CHUNK_IDS = """
SELECT chunk_id FROM chunks WHERE model_id = :model_id AND chunk_id > :after
ORDER BY chunk_id
LIMIT :count_max
"""

# The title is looked up through `VISIBLE` for each note by itself.
SELECT_PRESENT = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT wanted.value, CASE WHEN state.note_id IS NULL THEN 'deleted' ELSE """
    + CONDITION
    + """ END, (SELECT visible.title FROM visible WHERE visible.note_id = wanted.value)
FROM json_each(:note_ids) AS wanted
LEFT JOIN note_states AS state ON state.note_id = wanted.value AND state.known_to IS NULL
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentNote:
    """How a note stands now; *title* is empty unless a search from the scopes shows it."""

    condition: Condition
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedHolders:
    """Notes of the scopes that tell of errors, whatever their state, by their seqs.

    Attributes:
        held: by digest, what is known of the error in each note that has it.
    """

    held: Mapping[int, Mapping[int, Traits]]
    notes: Mapping[int, tuple[NoteId, Condition]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedVectors:
    """Vectors of notes of the scopes, whatever their state, a row each."""

    notes: tuple[tuple[NoteId, Condition], ...]
    vectors: NDArray[np.float32]


def any_hidden(connection: apsw.Connection, asked: View) -> bool:
    """Tell whether the scopes hold any note that a search does not show.

    Of the past no index tells that, and there it may always be so.
    """
    if asked.known_at_ms is not None:
        return True
    return select_one(connection, SELECT_HIDDEN_ONE, asked.parameters()) is not None


def notes_by_words(
    connection: apsw.Connection, match: str, asked: View, count: int
) -> list[tuple[NoteId, Condition]]:
    """Return the best notes of the scopes for an expression, whatever their state."""
    wanted = asked.parameters(match=match, weights=COLUMN_WEIGHTS, count_max=count)
    return _conditions(select(connection, SELECT_BY_WORDS.at(asked.known_at_ms), wanted))


def notes_by_pieces(
    connection: apsw.Connection, match: str, asked: View, count: int
) -> list[tuple[NoteId, Condition]]:
    """Return the best notes of the scopes that hold a run of letters, whatever their state."""
    wanted = asked.parameters(match=match, count_max=count)
    return _conditions(select(connection, SELECT_BY_PIECES.at(asked.known_at_ms), wanted))


def notes_by_digests(
    connection: apsw.Connection, digests: Sequence[int], asked: View, count: int
) -> ScopedHolders:
    """Return the newest *count* notes of the scopes that have each digest."""
    wanted = asked.parameters(digests=json.dumps(digests), count_max=count)
    held: dict[int, dict[int, Traits]] = {}
    notes: dict[int, tuple[NoteId, Condition]] = {}
    for digest, found in select(connection, SELECT_BY_DIGESTS.at(asked.known_at_ms), wanted):
        for seq, traits, note_id, condition in json.loads(found):
            held.setdefault(digest, {})[seq] = Traits(traits)
            notes[seq] = NoteId(note_id), Condition(condition)
    return ScopedHolders(held=held, notes=notes)


def newer_chunk_ids(
    connection: apsw.Connection, model_id: ModelId, after: int, count: int
) -> list[int]:
    """Return the first *count* chunks after an id."""
    wanted = {"model_id": model_id, "after": after, "count_max": count}
    return [chunk_id for (chunk_id,) in select(connection, SELECT_NEWER_CHUNK_IDS, wanted)]


def vectors_by_id(
    connection: apsw.Connection, model_id: ModelId, chunk_ids: Sequence[int], asked: View
) -> ScopedVectors:
    """Return those of the chunks listed that belong to notes of the scopes."""
    wanted = asked.parameters(model_id=model_id, chunk_ids=json.dumps(chunk_ids))
    rows = list(select(connection, SELECT_BY_CHUNKS.at(asked.known_at_ms), wanted))
    return ScopedVectors(
        notes=tuple(_conditions(row[:2] for row in rows)),
        vectors=matrix_of([row[2] for row in rows]) if rows else np.empty((0, 0), dtype=np.float32),
    )


def present_notes(
    connection: apsw.Connection, note_ids: Sequence[NoteId], asked: View
) -> dict[NoteId, PresentNote]:
    """Return how the notes listed stand, those that are gone among them."""
    wanted = asked.parameters(note_ids=json.dumps(note_ids))
    return {
        NoteId(note_id): PresentNote(condition=Condition(condition), title=title or "")
        for note_id, condition, title in select(connection, SELECT_PRESENT, wanted)
    }


def _conditions(rows: Iterable[tuple[str, ...]]) -> list[tuple[NoteId, Condition]]:
    return [(NoteId(note_id), Condition(condition)) for note_id, condition in rows]
