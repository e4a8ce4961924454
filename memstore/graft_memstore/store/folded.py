"""Notes as the word index holds them: folded, and long bodies cut."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.store.rows import select

FOLDED_CHARS_MAX = 65_536
"""Of a long body, the folded text that is compared with a question."""

SELECT_FOLDED = """
SELECT notes_fts.rowid, notes_fts.title, substr(notes_fts.body, 1, :chars_max),
       notes_fts.keywords, substr(notes_fts.cjk, 1, :chars_max)
FROM json_each(:seqs) AS wanted
CROSS JOIN notes_fts ON notes_fts.rowid = wanted.value
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedText:
    """A note as the word index holds it, long bodies cut at `FOLDED_CHARS_MAX`."""

    title: str
    body: str
    keywords: str
    cjk: str


def folded_texts(connection: apsw.Connection, seqs: Iterable[int]) -> dict[int, FoldedText]:
    """Return the folded words of the notes listed, by their seq."""
    rows = select(
        connection, SELECT_FOLDED, {"seqs": json.dumps(list(seqs)), "chars_max": FOLDED_CHARS_MAX}
    )
    return {
        seq: FoldedText(title=title, body=body, keywords=keywords, cjk=cjk)
        for seq, title, body, keywords, cjk in rows
    }
