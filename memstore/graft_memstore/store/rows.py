"""Runs one statement and types what comes back, so that the table modules stay plain."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import apsw

Parameters = Mapping[str, str | bytes | int | float | None]
# SQLite's columns have no static type; each table module unpacks its own statement's columns.
Row = tuple[Any, ...]


def select(connection: apsw.Connection, statement: str, parameters: Parameters) -> Iterator[Row]:
    """Yield the rows of *statement*."""
    return cast("Iterator[Row]", connection.execute(statement, dict(parameters)))


def select_one(connection: apsw.Connection, statement: str, parameters: Parameters) -> Row | None:
    """Return the first row of *statement*, None when there is none."""
    cursor = connection.execute(statement, dict(parameters))
    row = cast("Row | None", cursor.fetchone())
    # A cursor that is left half read would keep its statement, and so the snapshot, open.
    cursor.close()
    return row


def change(connection: apsw.Connection, statement: str, parameters: Parameters) -> int:
    """Run *statement* and return how many rows it changed itself."""
    connection.execute(statement, dict(parameters))
    return connection.changes()
