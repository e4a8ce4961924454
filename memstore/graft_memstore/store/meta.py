"""Single facts about a profile: its site, its clocks, the model it is to be moved to."""

from dataclasses import dataclass

import apsw

from graft_memstore.store.rows import change, select_one

SELECT_VALUE = "SELECT value FROM meta WHERE name = :name"

UPSERT_VALUE = """
INSERT INTO meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""

DELETE_VALUE = "DELETE FROM meta WHERE name = :name"

SITE = "site"
LAST_TIME = "last_time_ms"
LAST_HLC = "last_hlc"
REINDEX_MODEL = "reindex_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Time and hybrid logical clock of the last transaction that changed a note."""

    time_ms: int
    hlc: int


def read(connection: apsw.Connection, name: str) -> str | None:
    """Return the value of *name*, None when it has none."""
    row = select_one(connection, SELECT_VALUE, {"name": name})
    return None if row is None else str(row[0])


def write(connection: apsw.Connection, name: str, value: str) -> None:
    """Set *name* to *value*."""
    change(connection, UPSERT_VALUE, {"name": name, "value": value})


def clear(connection: apsw.Connection, name: str) -> None:
    """Take the value of *name* away."""
    change(connection, DELETE_VALUE, {"name": name})


def read_clocks(connection: apsw.Connection) -> Clocks:
    """Return the clocks; zero in a new file."""
    return Clocks(
        time_ms=int(read(connection, LAST_TIME) or 0), hlc=int(read(connection, LAST_HLC) or 0)
    )


def write_clocks(connection: apsw.Connection, clocks: Clocks) -> None:
    """Keep the clocks for the next transaction."""
    write(connection, LAST_TIME, str(clocks.time_ms))
    write(connection, LAST_HLC, str(clocks.hlc))
