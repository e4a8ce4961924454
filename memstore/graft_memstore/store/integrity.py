"""Asks SQLite itself whether a file is whole, and whether it can be written to."""

from contextlib import closing
from pathlib import Path

import apsw

from graft_memstore.store.database import database_errors, open_connection

PROBLEMS_MAX = 10

LOOK_ANEW = ("SELECT 1 FROM notes_fts LIMIT 1", "SELECT 1 FROM notes_pieces LIMIT 1")

WRITE_LOCK_WAIT_MS = 1_000
"""Longer than any change of ours takes; who keeps the lock longer is another program."""


def integrity_problems(connection: apsw.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file's pages, indexes and constraints."""
    # FTS5 (SQLite 3.54) checks by what this connection kept of an earlier read, and takes any write
    # since then for damage; to open its table makes it look anew.
    for statement in LOOK_ANEW:
        connection.execute(statement).fetchall()
    rows = connection.execute("PRAGMA integrity_check(10)").fetchall()
    return [str(row[0]) for row in rows if row[0] != "ok"]


def foreign_key_problems(connection: apsw.Connection) -> list[str]:
    """Return rows that point to something that is not there."""
    problems = []
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        problems.append(f"{table} row {rowid} points to nothing in {parent}")
        if len(problems) == PROBLEMS_MAX:
            break
    return problems


def write_lock_is_free(path: Path) -> bool:
    """Tell whether the file's write lock can be had now; it is given back at once.

    Raises:
        ServiceError: see `open_connection`.
    """
    with database_errors(path), closing(open_connection(path, write=False)) as connection:
        # One that reads leaves the file's journal as it is; taking the lock writes nothing.
        connection.execute("PRAGMA query_only = OFF")
        connection.set_busy_timeout(WRITE_LOCK_WAIT_MS)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        connection.execute("ROLLBACK")
        return True
