"""The rows of the word indexes as they stand, to be compared with the notes."""

import apsw

from graft_memstore.store.fts import Words
from graft_memstore.store.rows import change, select, select_one

SELECT_WORDS = "SELECT title, body, keywords, cjk FROM notes_fts WHERE rowid = :seq"

SELECT_PIECES = "SELECT pieces FROM notes_pieces WHERE rowid = :seq"

# Rows of either index that stand for no note.
SELECT_STRAY = """
SELECT rowid FROM notes_fts WHERE rowid NOT IN (SELECT seq FROM notes)
UNION
SELECT rowid FROM notes_pieces WHERE rowid NOT IN (SELECT seq FROM notes)
ORDER BY 1
"""

REBUILD_WORDS = "INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')"

REBUILD_PIECES = "INSERT INTO notes_pieces (notes_pieces) VALUES ('rebuild')"

REINDEX = "REINDEX"


def words_at(connection: apsw.Connection, seq: int) -> Words | None:
    """Return the words that are found under a number, None where either index has none."""
    words = select_one(connection, SELECT_WORDS, {"seq": seq})
    pieces = select_one(connection, SELECT_PIECES, {"seq": seq})
    if words is None or pieces is None:
        return None
    title, body, keywords, cjk = words
    return Words(title=title, body=body, keywords=keywords, cjk=cjk, pieces=pieces[0])


def stray_words(connection: apsw.Connection) -> list[int]:
    """Return the numbers of words that stand for no note."""
    return [row[0] for row in select(connection, SELECT_STRAY, {})]


def rebuild_words(connection: apsw.Connection) -> None:
    """Make both indexes anew from the words that stand in them."""
    change(connection, REBUILD_WORDS, {})
    change(connection, REBUILD_PIECES, {})


def rebuild_indexes(connection: apsw.Connection) -> None:
    """Make SQLite's own indexes anew from the rows of their tables."""
    connection.execute(REINDEX)
