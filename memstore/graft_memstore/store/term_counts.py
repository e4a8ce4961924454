"""In how many notes a term stands, and whether one that may answer holds it."""

import json
from collections.abc import Sequence

import apsw

from graft_memstore.store.rows import select
from graft_memstore.store.search import ELIGIBLE, Eligible
from graft_memstore.visibility import timed

TERM_COUNT_MAX = 500
"""A term is counted no further than this; how often it is in the rest follows from how far
through the notes that went."""

# FTS5 gives rows in the order of their rowid, so the last one tells how far the count went.
SELECT_TERM_COUNTS = """
SELECT (
    SELECT iif(count(*) < :count_max, count(*), -max(rowid))
    FROM (
        SELECT rowid FROM notes_fts
        WHERE notes_fts MATCH term.value AND rowid <> :without
        LIMIT :count_max
    )
)
FROM json_each(:matches) AS term
ORDER BY term.key
"""

# By rowid, of the notes that hold the term, until one may answer.
SELECT_TERMS_INSIDE = timed(
    ELIGIBLE  # noqa: S608 - joined at import, from constants alone
    + """
SELECT EXISTS (
    SELECT 1
    FROM notes_fts
    CROSS JOIN eligible ON eligible.seq = notes_fts.rowid
    WHERE notes_fts MATCH term.value
)
FROM json_each(:matches) AS term
ORDER BY term.key
"""
)


def count_terms(
    connection: apsw.Connection, matches: Sequence[str], notes: int, without: int = 0
) -> list[int]:
    """Return in how many of *notes*, of all but *without*, each FTS5 expression is found.

    Beyond `TERM_COUNT_MAX` it is an estimate: as many more as the rest of the notes would hold.
    """
    rows = select(
        connection,
        SELECT_TERM_COUNTS,
        {"matches": json.dumps(matches), "count_max": TERM_COUNT_MAX, "without": without},
    )
    return [
        count if count >= 0 else max(TERM_COUNT_MAX, TERM_COUNT_MAX * notes // -count)
        for (count,) in rows
    ]


def find_terms(
    connection: apsw.Connection, matches: Sequence[str], eligible: Eligible
) -> list[bool]:
    """Tell of each FTS5 expression whether a note that may answer holds it."""
    parameters = eligible.parameters(matches=json.dumps(matches))
    rows = select(connection, SELECT_TERMS_INSIDE.at(eligible.known_at_ms), parameters)
    return [bool(found) for (found,) in rows]
