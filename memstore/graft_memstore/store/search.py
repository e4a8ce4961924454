"""What a search reads: words, vectors and the notes behind them, each arm cut after `VISIBLE`.

Every statement that lists candidates joins the notes that may be seen inside the arm, before its
LIMIT, so that nothing hidden can push out what is seen.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from graft_memstore.lexical import COLUMN_WEIGHTS
from graft_memstore.model import ModelId, NoteId, Trust
from graft_memstore.store.rows import Row, select, select_one
from graft_memstore.store.vectors import matrix_of
from graft_memstore.visibility import MAY_HIDE, VISIBLE, Parameters, View, timed

PART_MAX = 1_000_000
"""No note has so many parts."""

# A search may also ask for :keywords_min of the keywords listed, and pass over the note :without.
ELIGIBLE = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """,
eligible AS NOT MATERIALIZED (
    SELECT visible.*
    FROM visible
    WHERE visible.seq <> :without AND (:keywords_min = 0 OR :keywords_min <= (
        SELECT count(*)
        FROM json_each(:keywords) AS wanted
        JOIN keywords ON keywords.keyword = wanted.value
        JOIN note_keywords AS carried
          ON carried.keyword_id = keywords.keyword_id AND carried.note_id = visible.note_id
        WHERE carried.known_to IS NULL
    ))
)
"""
)

# FTS5 itself gives the rows in the order of their rank, so what follows is looked up only until
# the LIMIT is full.
SELECT_WORDS = timed(
    ELIGIBLE
    + """
SELECT eligible.seq, -notes_fts.rank AS score
FROM notes_fts
CROSS JOIN eligible ON eligible.seq = notes_fts.rowid
WHERE notes_fts MATCH :match AND notes_fts.rank MATCH :weights
ORDER BY notes_fts.rank
LIMIT :count_max
"""
)

SELECT_PIECES = timed(
    ELIGIBLE
    + """
SELECT eligible.seq, -notes_pieces.rank AS score
FROM notes_pieces
CROSS JOIN eligible ON eligible.seq = notes_pieces.rowid
WHERE notes_pieces MATCH :match
ORDER BY notes_pieces.rank
LIMIT :count_max
"""
)

SELECT_LAST_SEQ = "SELECT ifnull(max(seq), 0) FROM notes"

SELECT_CHUNKS = timed(
    ELIGIBLE
    + """
SELECT chunks.chunk_id, eligible.seq, chunks.part, chunks.vector
FROM json_each(:chunk_ids) AS wanted
CROSS JOIN chunks ON chunks.chunk_id = wanted.value
CROSS JOIN eligible ON eligible.note_id = chunks.note_id
WHERE chunks.model_id = :model_id
"""
)

# chunks_by_model
SELECT_NEWER_CHUNKS = timed(
    ELIGIBLE
    + """
SELECT chunks.chunk_id, eligible.seq, chunks.part, chunks.vector
FROM chunks
CROSS JOIN eligible ON eligible.note_id = chunks.note_id
WHERE chunks.model_id = :model_id AND chunks.chunk_id > :after
ORDER BY chunks.chunk_id
LIMIT :count_max
"""
)

# chunks_by_note
SELECT_CHUNKS_OF_NOTES = timed(
    ELIGIBLE
    + """
SELECT chunks.chunk_id, eligible.seq, chunks.part, chunks.vector
FROM json_each(:seqs) AS wanted
CROSS JOIN eligible ON eligible.seq = wanted.value
CROSS JOIN chunks ON chunks.note_id = eligible.note_id AND chunks.model_id = :model_id
    AND chunks.part <= :part_max
ORDER BY eligible.seq, chunks.part
LIMIT :count_max
"""
)

# notes_by_scope, then chunks_by_note.
SELECT_ALLOWED_CHUNKS = timed(
    ELIGIBLE  # noqa: S608 - joined at import, from constants alone
    + """
SELECT chunks.chunk_id
FROM (
    SELECT value AS scope FROM json_each(:scopes)
    UNION
    SELECT scope FROM notes WHERE :all_scopes
) AS asked
CROSS JOIN notes AS held ON held.scope = asked.scope
CROSS JOIN eligible ON eligible.seq = held.seq
CROSS JOIN chunks ON chunks.note_id = eligible.note_id AND chunks.model_id = :model_id
"""
)

# keywords by name, note_keywords_by_keyword, then chunks_by_note.
SELECT_CHUNKS_WITH_KEYWORDS = timed(
    ELIGIBLE
    + """
SELECT DISTINCT chunks.chunk_id
FROM json_each(:keywords) AS asked
CROSS JOIN keywords ON keywords.keyword = asked.value
CROSS JOIN note_keywords ON note_keywords.keyword_id = keywords.keyword_id
CROSS JOIN eligible ON eligible.note_id = note_keywords.note_id
CROSS JOIN chunks ON chunks.note_id = eligible.note_id AND chunks.model_id = :model_id
WHERE note_keywords.known_to IS NULL
"""
)

SELECT_FOUND = timed(
    ELIGIBLE  # noqa: S608 - joined at import, from constants alone
    + """
SELECT eligible.seq, eligible.note_id, eligible.title, eligible.scope, eligible.trust, CASE
    WHEN eligible.trust IN ('candidate', 'disputed', 'stale') THEN (
        SELECT became.reason
        FROM note_states AS became
        WHERE became.note_id = eligible.note_id AND became.state_id <= eligible.state_id
          AND became.state_id > ifnull((
            SELECT max(before.state_id)
            FROM note_states AS before
            WHERE before.note_id = eligible.note_id AND before.state_id < eligible.state_id
              AND before.trust <> eligible.trust
        ), 0)
        ORDER BY became.state_id
        LIMIT 1
    )
    ELSE ''
END, (
    SELECT json_group_array(keywords.keyword ORDER BY keywords.keyword)
    FROM note_keywords
    JOIN keywords ON keywords.keyword_id = note_keywords.keyword_id
    WHERE note_keywords.note_id = eligible.note_id AND note_keywords.known_to IS NULL
)
FROM json_each(:seqs) AS wanted
CROSS JOIN eligible ON eligible.seq = wanted.value
"""
)

# Counting all is quick, so is counting those of a few scopes by notes_by_scope; what may hide a
# note is in note_states_hiding. Of the past each note is looked at.
COUNT_ELSEWHERE = timed(
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT (SELECT count(*) FROM notes) - (
    SELECT count(*)
    FROM (SELECT DISTINCT value AS scope FROM json_each(:elsewhere_than)) AS asked
    CROSS JOIN notes ON notes.scope = asked.scope
) - (
    SELECT count(*)
    FROM note_states AS state
    CROSS JOIN notes ON notes.id = state.note_id
    WHERE state.known_to IS NULL
      AND """
    + MAY_HIDE
    + """
      AND notes.scope NOT IN (SELECT value FROM json_each(:elsewhere_than))
      AND NOT EXISTS (SELECT 1 FROM visible WHERE visible.seq = notes.seq)
)
""",
    then="WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT count(*) FROM visible
WHERE visible.scope NOT IN (SELECT value FROM json_each(:elsewhere_than))
""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible(View):
    """Which notes may answer: what a view shows, and with what keywords.

    Attributes:
        keywords_min: how many of *keywords* a note must carry; 0 for any note.
        without: number of a note that is passed over; 0 for none.
    """

    keywords: tuple[str, ...] = ()
    keywords_min: int = 0
    without: int = 0

    @override
    def parameters(self, **more: str | int | None) -> Parameters:
        """Return what every statement here takes, and *more*."""
        mine: Parameters = {
            "keywords": json.dumps(self.keywords),
            "keywords_min": self.keywords_min,
            "without": self.without,
        }
        return View.parameters(self, **(mine | more))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """Vectors of notes that may answer, a row each."""

    chunk_ids: NDArray[np.int64]
    seqs: NDArray[np.int64]
    parts: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.chunk_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """What a search shows of a note.

    Attributes:
        trust_reason: why its trust is no better, where it may not be STRONG; else empty.
    """

    seq: int
    note_id: NoteId
    title: str
    scope: str
    trust: Trust
    trust_reason: str
    keywords: tuple[str, ...]


def last_seq(connection: apsw.Connection) -> int:
    """Return the number of the newest note: as many notes there are at most."""
    row = select_one(connection, SELECT_LAST_SEQ, {})
    return int(row[0]) if row else 0


def search_words(
    connection: apsw.Connection, match: str, eligible: Eligible, count: int
) -> dict[int, float]:
    """Return BM25, higher is better, of the best notes for an expression, best first."""
    wanted = eligible.parameters(match=match, weights=COLUMN_WEIGHTS, count_max=count)
    return _scores(select(connection, SELECT_WORDS.at(eligible.known_at_ms), wanted))


def search_pieces(
    connection: apsw.Connection, match: str, eligible: Eligible, count: int
) -> dict[int, float]:
    """Return BM25, higher is better, of the best notes that hold a run of letters, best first."""
    wanted = eligible.parameters(match=match, count_max=count)
    return _scores(select(connection, SELECT_PIECES.at(eligible.known_at_ms), wanted))


def chunks_by_id(
    connection: apsw.Connection, model_id: ModelId, chunk_ids: Iterable[int], eligible: Eligible
) -> Chunks:
    """Return those of the chunks listed that may answer."""
    wanted = eligible.parameters(model_id=model_id, chunk_ids=json.dumps(list(chunk_ids)))
    return _chunks(select(connection, SELECT_CHUNKS.at(eligible.known_at_ms), wanted))


def newer_chunks(
    connection: apsw.Connection, model_id: ModelId, after: int, eligible: Eligible, count: int
) -> Chunks:
    """Return the first *count* chunks after an id that may answer."""
    wanted = eligible.parameters(model_id=model_id, after=after, count_max=count)
    return _chunks(select(connection, SELECT_NEWER_CHUNKS.at(eligible.known_at_ms), wanted))


def chunks_of_notes(
    connection: apsw.Connection,
    model_id: ModelId,
    seqs: Iterable[int],
    eligible: Eligible,
    count: int,
    part_max: int = PART_MAX,
) -> Chunks:
    """Return the chunks of the notes listed that may answer, at most *count*, up to a part."""
    wanted = eligible.parameters(
        model_id=model_id, seqs=json.dumps(list(seqs)), count_max=count, part_max=part_max
    )
    return _chunks(select(connection, SELECT_CHUNKS_OF_NOTES.at(eligible.known_at_ms), wanted))


def allowed_chunks(
    connection: apsw.Connection, model_id: ModelId, eligible: Eligible
) -> NDArray[np.int64]:
    """Return the ids of all chunks that may answer, in rising order."""
    statement = SELECT_CHUNKS_WITH_KEYWORDS if eligible.keywords_min else SELECT_ALLOWED_CHUNKS
    wanted = eligible.parameters(model_id=model_id)
    rows = select(connection, statement.at(eligible.known_at_ms), wanted)
    return np.sort(np.fromiter((chunk_id for (chunk_id,) in rows), dtype=np.int64))


def found_notes(
    connection: apsw.Connection, seqs: Iterable[int], eligible: Eligible
) -> dict[int, FoundNote]:
    """Return what may be shown of the notes listed, by their seq."""
    rows = select(
        connection,
        SELECT_FOUND.at(eligible.known_at_ms),
        eligible.parameters(seqs=json.dumps(list(seqs))),
    )
    return {
        seq: FoundNote(
            seq=seq,
            note_id=NoteId(note_id),
            title=title,
            scope=scope,
            trust=Trust(trust),
            trust_reason=reason,
            keywords=tuple(json.loads(keywords)),
        )
        for seq, note_id, title, scope, trust, reason, keywords in rows
    }


def count_elsewhere(connection: apsw.Connection, view: View) -> int:
    """Return how many notes could be seen from the scopes that *view* leaves out."""
    if view.scope.all:
        return 0
    elsewhere_than = json.dumps(view.scope.scopes)
    wanted = view.parameters(elsewhere_than=elsewhere_than) | {"scopes": "[]", "all_scopes": 1}
    row = select_one(connection, COUNT_ELSEWHERE.at(view.known_at_ms), wanted)
    return int(row[0]) if row else 0


def _scores(rows: Iterable[Row]) -> dict[int, float]:
    return {seq: float(score) for seq, score in rows}


def _chunks(rows: Iterable[Row]) -> Chunks:
    listed = list(rows)
    ids, seqs, parts, vectors = zip(*listed, strict=True) if listed else ((), (), (), ())
    return Chunks(
        chunk_ids=np.array(ids, dtype=np.int64),
        seqs=np.array(seqs, dtype=np.int64),
        parts=np.array(parts, dtype=np.int64),
        vectors=matrix_of(vectors) if listed else np.empty((0, 0), dtype=np.float32),
    )
