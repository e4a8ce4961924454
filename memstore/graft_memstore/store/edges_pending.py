"""Notes whose edges are still to be made."""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelId, NoteId
from graft_memstore.store.rows import change, select, select_one

INSERT_ASKED = """
INSERT INTO edges_pending (seq)
SELECT seq FROM notes WHERE id = :note_id
ON CONFLICT (seq) DO UPDATE SET asked = asked + 1
"""

# chunks_by_model
INSERT_ALL_ASKED = """
INSERT INTO edges_pending (seq)
SELECT notes.seq
FROM chunks
JOIN notes ON notes.id = chunks.note_id
WHERE chunks.model_id = :model_id AND chunks.part = 0
ON CONFLICT (seq) DO UPDATE SET asked = asked + 1
"""

# By primary key, backwards: who has just saved a note need not wait for those of long ago.
SELECT_ASKED = "SELECT seq, asked FROM edges_pending ORDER BY seq DESC LIMIT :count_max"

# Reads the table whole, which holds only what waits.
SELECT_ASKED_COUNT = "SELECT count(*) FROM edges_pending"

DELETE_ASKED = "DELETE FROM edges_pending WHERE seq = :seq AND asked = :asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEdges:
    """A note that waits for its edges, and how often they have been asked for."""

    seq: int
    asked: int


def ask_for_edges(connection: apsw.Connection, note_id: NoteId) -> None:
    """Put a note on the list; its title has a vector of the serving model."""
    change(connection, INSERT_ASKED, {"note_id": note_id})


def ask_for_all_edges(connection: apsw.Connection, model_id: ModelId) -> None:
    """Put every note on the list whose title has a vector of *model_id*, which serves."""
    change(connection, INSERT_ALL_ASKED, {"model_id": model_id})


def read_asked(connection: apsw.Connection, count_max: int) -> list[AskedEdges]:
    """Return notes that wait, the newest first."""
    rows = select(connection, SELECT_ASKED, {"count_max": count_max})
    return [AskedEdges(seq=seq, asked=asked) for seq, asked in rows]


def count_asked(connection: apsw.Connection) -> int:
    """Return how many notes wait for their edges."""
    row = select_one(connection, SELECT_ASKED_COUNT, {})
    return 0 if row is None else int(row[0])


def delete_asked(connection: apsw.Connection, served: Iterable[AskedEdges]) -> None:
    """Take notes off the list, unless they were asked for again since they were read."""
    for each in served:
        change(connection, DELETE_ASKED, {"seq": each.seq, "asked": each.asked})
