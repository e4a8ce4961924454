"""Asks SQLite itself whether a file is whole."""

import apsw

PROBLEMS_MAX = 10


def integrity_problems(connection: apsw.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file's pages, indexes and constraints."""
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
