"""Keywords, and which notes carry them."""

import json
from collections.abc import Iterable, Sequence

import apsw

from graft_memstore.model import NoteId
from graft_memstore.store.rows import change, select, select_one

INSERT_KEYWORD = "INSERT INTO keywords (keyword) VALUES (:keyword) ON CONFLICT DO NOTHING"

SELECT_KEYWORD = "SELECT keyword_id FROM keywords WHERE keyword = :keyword"

# A keyword that a note carries already stays as it is, since when it does included.
INSERT_NOTE_KEYWORD = """
INSERT INTO note_keywords (note_id, keyword_id, origin, known_from)
SELECT :note_id, :keyword_id, 'author', :known_from
WHERE NOT EXISTS (
    SELECT 1 FROM note_keywords
    WHERE note_id = :note_id AND keyword_id = :keyword_id AND known_to IS NULL
)
"""

SELECT_KEYWORDS_OF_NOTES = """
SELECT carried.note_id, keyword.keyword
FROM json_each(:note_ids) AS wanted
JOIN note_keywords AS carried ON carried.note_id = wanted.value AND carried.known_to IS NULL
JOIN keywords AS keyword ON keyword.keyword_id = carried.keyword_id
ORDER BY carried.note_id, keyword.keyword
"""

SELECT_KEYWORD_IDS_OF_NOTE = """
SELECT DISTINCT keyword_id FROM note_keywords WHERE note_id = :note_id
"""

DELETE_UNUSED_KEYWORDS = """
DELETE FROM keywords
WHERE keyword_id IN (SELECT value FROM json_each(:keyword_ids))
AND NOT EXISTS (SELECT 1 FROM note_keywords WHERE keyword_id = keywords.keyword_id)
"""


def add_keywords(
    connection: apsw.Connection, note_id: NoteId, keywords: Iterable[str], known_from_ms: int
) -> int:
    """Give a note *keywords* and return how many it did not carry before."""
    added = 0
    for keyword in keywords:
        change(connection, INSERT_KEYWORD, {"keyword": keyword})
        row = select_one(connection, SELECT_KEYWORD, {"keyword": keyword})
        assert row is not None, "the keyword has just been inserted, or was there"
        added += change(
            connection,
            INSERT_NOTE_KEYWORD,
            {"note_id": note_id, "keyword_id": row[0], "known_from": known_from_ms},
        )
    return added


def read_keywords(
    connection: apsw.Connection, note_ids: Sequence[NoteId]
) -> dict[NoteId, tuple[str, ...]]:
    """Return the present keywords of every note that carries any, sorted."""
    found: dict[NoteId, list[str]] = {}
    rows = select(connection, SELECT_KEYWORDS_OF_NOTES, {"note_ids": json.dumps(note_ids)})
    for note_id, keyword in rows:
        found.setdefault(NoteId(note_id), []).append(keyword)
    return {note_id: tuple(keywords) for note_id, keywords in found.items()}


def read_keyword_ids(connection: apsw.Connection, note_id: NoteId) -> list[int]:
    """Return every keyword that a note carries or has carried."""
    return [row[0] for row in select(connection, SELECT_KEYWORD_IDS_OF_NOTE, {"note_id": note_id})]


def delete_unused(connection: apsw.Connection, keyword_ids: Sequence[int]) -> None:
    """Take those of *keyword_ids* away that no note carries or has carried."""
    change(connection, DELETE_UNUSED_KEYWORDS, {"keyword_ids": json.dumps(keyword_ids)})
