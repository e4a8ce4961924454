"""Keywords, and which notes carry them."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

import apsw

from graft_memstore.model import NoteId
from graft_memstore.store.rows import change, select, select_one
from graft_memstore.visibility import VISIBLE, View, timed

INSERT_KEYWORD = "INSERT INTO keywords (keyword) VALUES (:keyword) ON CONFLICT DO NOTHING"

SELECT_KEYWORD = "SELECT keyword_id FROM keywords WHERE keyword = :keyword"

# A keyword that a note carries already stays as it is, since when it does included.
INSERT_NOTE_KEYWORD = """
INSERT INTO note_keywords (note_id, keyword_id, origin, known_from)
SELECT :note_id, :keyword_id, :origin, :known_from
WHERE NOT EXISTS (
    SELECT 1 FROM note_keywords
    WHERE note_id = :note_id AND keyword_id = :keyword_id AND known_to IS NULL
)
ON CONFLICT (note_id, keyword_id, known_from) DO UPDATE SET known_to = NULL
"""

SELECT_KEYWORDS_OF_NOTES = timed(
    """
SELECT carried.note_id, keyword.keyword
FROM json_each(:note_ids) AS wanted
JOIN note_keywords AS carried ON carried.note_id = wanted.value AND carried.known_to IS NULL
JOIN keywords AS keyword ON keyword.keyword_id = carried.keyword_id
ORDER BY carried.note_id, keyword.keyword
"""
)

SELECT_KEYWORD_IDS_OF_NOTE = """
SELECT DISTINCT keyword_id FROM note_keywords WHERE note_id = :note_id
"""

SELECT_PRESENT_KEYWORD_IDS = """
SELECT keyword_id FROM note_keywords
WHERE note_id = :note_id AND known_to IS NULL
ORDER BY keyword_id
LIMIT :count_max
"""

# keywords by name, then note_keywords_by_keyword until one of its notes can be seen.
SELECT_UNSEEN_KEYWORDS = timed(
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT asked.value
FROM json_each(:keywords) AS asked
WHERE NOT EXISTS (
    SELECT 1
    FROM keywords
    CROSS JOIN note_keywords AS carried ON carried.keyword_id = keywords.keyword_id
    CROSS JOIN visible ON visible.note_id = carried.note_id
    WHERE keywords.keyword = asked.value AND carried.known_to IS NULL
)
ORDER BY asked.key
"""
)

# note_keywords_by_keyword, no further than :count_max notes that can be seen.
SELECT_CARRIERS = timed(
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT keywords.keyword, (
    SELECT count(*)
    FROM (
        SELECT 1
        FROM note_keywords AS carried INDEXED BY note_keywords_by_keyword
        CROSS JOIN visible ON visible.note_id = carried.note_id
        WHERE carried.keyword_id = keywords.keyword_id AND carried.known_to IS NULL
        LIMIT :count_max
    )
)
FROM json_each(:keywords) AS asked
CROSS JOIN keywords ON keywords.keyword = asked.value
"""
)

DELETE_UNUSED_KEYWORDS = """
DELETE FROM keywords
WHERE keyword_id IN (SELECT value FROM json_each(:keyword_ids))
AND NOT EXISTS (SELECT 1 FROM note_keywords WHERE keyword_id = keywords.keyword_id)
"""


def add_keywords(
    connection: apsw.Connection,
    note_id: NoteId,
    keywords: Iterable[str],
    known_from_ms: int,
    *,
    origin: Literal["author", "merged"] = "author",
) -> int:
    """Give a note *keywords* and return how many it did not carry before."""
    added = 0
    for keyword_id in keyword_ids(connection, keywords):
        added += change(
            connection,
            INSERT_NOTE_KEYWORD,
            {
                "note_id": note_id,
                "keyword_id": keyword_id,
                "origin": origin,
                "known_from": known_from_ms,
            },
        )
    return added


def keyword_ids(connection: apsw.Connection, keywords: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers of *keywords*, new ones for those that nothing has carried yet."""
    found = []
    for keyword in keywords:
        change(connection, INSERT_KEYWORD, {"keyword": keyword})
        row = select_one(connection, SELECT_KEYWORD, {"keyword": keyword})
        assert row is not None, "the keyword has just been inserted, or was there"
        found.append(row[0])
    return tuple(found)


def read_keywords(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> dict[NoteId, tuple[str, ...]]:
    """Return the keywords of every note that carries any, or carried any then, sorted."""
    found: dict[NoteId, list[str]] = {}
    rows = select(
        connection,
        SELECT_KEYWORDS_OF_NOTES.at(known_at_ms),
        {"note_ids": json.dumps(note_ids), "known_at": known_at_ms},
    )
    for note_id, keyword in rows:
        found.setdefault(NoteId(note_id), []).append(keyword)
    return {note_id: tuple(keywords) for note_id, keywords in found.items()}


def read_keyword_ids(connection: apsw.Connection, note_id: NoteId) -> list[int]:
    """Return every keyword that a note carries or has carried."""
    return [row[0] for row in select(connection, SELECT_KEYWORD_IDS_OF_NOTE, {"note_id": note_id})]


def present_keyword_ids(connection: apsw.Connection, note_id: NoteId, count_max: int) -> list[int]:
    """Return the keywords that a note carries now, at most *count_max*."""
    rows = select(
        connection, SELECT_PRESENT_KEYWORD_IDS, {"note_id": note_id, "count_max": count_max}
    )
    return [row[0] for row in rows]


def unseen_keywords(
    connection: apsw.Connection, keywords: Sequence[str], view: View
) -> tuple[str, ...]:
    """Return those of *keywords* that no note carries which *view* shows."""
    wanted = view.parameters(keywords=json.dumps(keywords))
    rows = select(connection, SELECT_UNSEEN_KEYWORDS.at(view.known_at_ms), wanted)
    return tuple(row[0] for row in rows)


def count_carriers(
    connection: apsw.Connection, keywords: Sequence[str], view: View, count_max: int
) -> dict[str, int]:
    """Return how many notes that *view* shows carry each keyword, counted to *count_max*."""
    wanted = view.parameters(keywords=json.dumps(keywords), count_max=count_max)
    rows = select(connection, SELECT_CARRIERS.at(view.known_at_ms), wanted)
    return {keyword: int(count) for keyword, count in rows}


def delete_unused(connection: apsw.Connection, keyword_ids: Sequence[int]) -> None:
    """Take those of *keyword_ids* away that no note carries or has carried."""
    change(connection, DELETE_UNUSED_KEYWORDS, {"keyword_ids": json.dumps(keyword_ids)})
