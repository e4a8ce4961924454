"""No statement that reads walks through a whole table, except where counting takes that."""

import importlib
import pkgutil
import re
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import graft_memstore.store
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrate
from graft_memstore.visibility import Timed

PARAMETER = re.compile(r":([a-z_]+)")
RUN_TIME_TABLE = "{}"

WHOLE_ON_PURPOSE = {
    "store.copies.SELECT_MODELS": "holds two models at most",
    "store.edges_pending.SELECT_ASKED_COUNT": "holds only what waits for edges",
    "store.edges_pending.SELECT_ASKED": "walks the primary key backwards until it has enough",
    "store.erasures.SELECT_ERASURE_COUNT": "holds only what waits to be cleaned",
    "store.misses.SELECT_MISSES": "holds MISSES_MAX rows at most",
    "store.misses.SELECT_MISSES_SEEING": "holds MISSES_MAX rows at most",
    "store.misses.SELECT_CLEARABLE": "holds MISSES_MAX rows at most",
}
"""Statements that read a table without an index, and why that is right."""


def statements() -> dict[str, str]:
    found = {}
    package = graft_memstore.store
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        for name, value in vars(loaded).items():
            if not name.startswith("SELECT_") or not isinstance(value, str):
                continue
            if RUN_TIME_TABLE not in value:
                found[f"store.{module.name}.{name}"] = value
            if isinstance(value, Timed):
                found[f"store.{module.name}.{name} of the past"] = value.then
    return found


def scans(connection: apsw.Connection, statement: str) -> list[str]:
    """Return the steps of the plan that read all of a real table without an index."""
    parameters = dict.fromkeys(PARAMETER.findall(statement), 0)
    plan = connection.execute("EXPLAIN QUERY PLAN " + statement, parameters).fetchall()
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    aliases = dict(re.findall(r"\b([a-z_]+) AS ([a-z_]+)\b", statement))
    shown = tables | {alias for table, alias in aliases.items() if table in tables}
    steps = [str(row[3]) for row in plan]
    return [
        step
        for step in steps
        if (found := re.match(r"SCAN ([a-z_]+)", step))
        and found[1] in shown
        and "USING" not in step
        and "VIRTUAL TABLE" not in step
    ]


@pytest.mark.parametrize("name", sorted(statements()))
def test_it_uses_an_index(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as connection:
        migrate(connection, path)

        found = scans(connection, statements()[name])

    assert bool(found) == (name in WHOLE_ON_PURPOSE), found


def test_a_scan_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as connection:
        migrate(connection, path)

        assert scans(connection, "SELECT title FROM notes AS note WHERE body = :body")
