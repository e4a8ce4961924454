"""The words of notes, folded by the caller: one row in each full-text table under a note's seq."""

from dataclasses import dataclass

import apsw

from graft_memstore.store.rows import change

INSERT_WORDS = """
INSERT INTO notes_fts (rowid, title, body, keywords, cjk)
VALUES (:seq, :title, :body, :keywords, :cjk)
"""

INSERT_PIECES = "INSERT INTO notes_pieces (rowid, pieces) VALUES (:seq, :pieces)"

DELETE_WORDS = "DELETE FROM notes_fts WHERE rowid = :seq"

DELETE_PIECES = "DELETE FROM notes_pieces WHERE rowid = :seq"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The folded words of one note."""

    title: str
    body: str
    keywords: str
    cjk: str
    pieces: str


def insert_words(connection: apsw.Connection, seq: int, words: Words) -> None:
    """Make a note findable by its words."""
    change(
        connection,
        INSERT_WORDS,
        {
            "seq": seq,
            "title": words.title,
            "body": words.body,
            "keywords": words.keywords,
            "cjk": words.cjk,
        },
    )
    change(connection, INSERT_PIECES, {"seq": seq, "pieces": words.pieces})


def delete_words(connection: apsw.Connection, seq: int) -> None:
    """Take a note's words out of both tables."""
    change(connection, DELETE_WORDS, {"seq": seq})
    change(connection, DELETE_PIECES, {"seq": seq})
