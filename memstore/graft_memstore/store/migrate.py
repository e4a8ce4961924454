"""Brings a database file to the newest schema, one numbered file and its number at a time."""

import re
from importlib.resources import files
from pathlib import Path

import apsw

from graft.wire.errors import SchemaTooNewError
from graft_memstore.store.database import database_errors
from graft_memstore.store.migration_copies import keep_copy

MIGRATION_NAME = re.compile(r"(\d{4})_[a-z_]+\.sql")


def migrations() -> dict[int, str]:
    """Return the text of every shipped migration by its number, in order."""
    found: dict[int, str] = {}
    folder = files("graft_memstore.store").joinpath("migrations")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = MIGRATION_NAME.fullmatch(entry.name)
        if name is not None:
            found[int(name[1])] = entry.read_text("utf-8")
    return found


def schema_version(connection: apsw.Connection) -> int:
    """Return the number of the last migration that the file has seen; 0 for a new file."""
    version = connection.pragma("user_version")
    assert isinstance(version, int), "user_version is a number"
    return version


def migrate(connection: apsw.Connection, path: Path) -> bool:
    """Apply what is missing, after the file was copied if it holds anything; tell whether it did.

    Raises:
        DiskFullError: there is no room for the copy.
        SchemaTooNewError: the file has seen migrations that this program does not know.
        ServiceError: see `database_errors`.
    """
    scripts = migrations()
    newest = max(scripts)
    with database_errors(path):
        version = _check_version(connection, path, newest)
        if 0 < version < newest:
            keep_copy(connection, path, version)
        for number, script in scripts.items():
            if number > schema_version(connection):
                _apply(connection, number, script)
    return 0 < version < newest


def _apply(connection: apsw.Connection, number: int, script: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another program may have done it while we waited for the lock.
        if schema_version(connection) < number:
            connection.execute(script)
            connection.pragma("user_version", number)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _check_version(connection: apsw.Connection, path: Path, newest: int) -> int:
    version = schema_version(connection)
    if version > newest:
        raise SchemaTooNewError(
            f"{path} was written by a newer program (schema {version}, this one knows {newest}); "
            "install the newer graft-memory",
            metadata={"schema": str(version), "newest": str(newest)},
        )
    return version
