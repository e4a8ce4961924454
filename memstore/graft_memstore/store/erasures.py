"""Deleted notes whose words may still stand in the file's log until a checkpoint clears it."""

import apsw

from graft_memstore.model import NoteId
from graft_memstore.store.database import LOCK_WAIT_MS
from graft_memstore.store.meta import read_clocks
from graft_memstore.store.rows import change, select_one

INSERT_ERASURE = """
INSERT INTO erasures (note_id, at) VALUES (:note_id, :at) ON CONFLICT DO NOTHING
"""

# Runs over the primary key; the table holds only what waits for a reader to finish.
SELECT_ERASURE_COUNT = "SELECT count(*) FROM erasures"

SELECT_ERASURE = "SELECT at FROM erasures WHERE note_id = :note_id"

# The table holds only what waits, so this looks at every row of it.
DELETE_ERASURES = "DELETE FROM erasures WHERE at <= :at"

CHECKPOINT_WAIT_MS = 300
"""How long a reader may hold up cleaning the file before that is put off."""


def insert_erasure(connection: apsw.Connection, note_id: NoteId, at_ms: int) -> None:
    """Note that the file is still to be cleaned of a note."""
    change(connection, INSERT_ERASURE, {"note_id": note_id, "at": at_ms})


def count_erasures(connection: apsw.Connection) -> int:
    """Return how many notes the file is still to be cleaned of."""
    row = select_one(connection, SELECT_ERASURE_COUNT, {})
    return 0 if row is None else int(row[0])


def is_erasing(connection: apsw.Connection, note_id: NoteId) -> bool:
    """Tell whether the file is still to be cleaned of a note."""
    return select_one(connection, SELECT_ERASURE, {"note_id": note_id}) is not None


def finish_erasures(connection: apsw.Connection, at_ms: int) -> None:
    """Note that the file has been cleaned of everything deleted up to *at_ms*."""
    change(connection, DELETE_ERASURES, {"at": at_ms})


def clean_file(connection: apsw.Connection) -> bool:
    """Clear the file's log of everything deleted so far; tell whether no reader prevented it.

    Runs on the writer's connection outside a transaction. Deleted rows have been overwritten
    with zeros in the log (secure_delete); a truncating checkpoint carries the zeros into the
    file and empties the log.

    Raises:
        apsw.Error: the file cannot be written.
    """
    at_ms = read_clocks(connection).time_ms
    connection.set_busy_timeout(CHECKPOINT_WAIT_MS)
    try:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(LOCK_WAIT_MS)
    assert row is not None, "the pragma always answers"
    if row[0]:
        return False
    # One statement is a transaction of its own.
    finish_erasures(connection, at_ms)
    return True
