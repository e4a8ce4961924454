"""Finds the profiles that an earlier process left work for."""

from contextlib import closing
from pathlib import Path

from graft_memstore.store import meta
from graft_memstore.store.database import Connection, database_errors, open_connection
from graft_memstore.store.edges import has_outdated
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.migrate import migrations, schema_version
from graft_memstore.store.pending import count_pending
from graft_memstore.store.signatures import read_until


def has_work(path: Path) -> bool:
    """Tell whether the database file at *path* has texts, notes, edges or a reindex that wait.

    A file of an earlier schema is left alone: bringing it up to date is for its first use.

    Raises:
        ServiceError: see `open_connection`.
    """
    with database_errors(path), closing(open_connection(path, write=False)) as connection:
        if schema_version(connection) != max(migrations()):
            return False
        return work_waits(connection)


def work_waits(connection: Connection) -> bool:
    """Tell whether texts, notes, edges or a reindex wait in the snapshot of *connection*."""
    return (
        count_pending(connection) > 0
        or count_asked(connection) > 0
        or has_outdated(connection)
        or count_erasures(connection) > 0
        or meta.read(connection, meta.REINDEX_MODEL) is not None
        or read_until(connection) is not None
    )
