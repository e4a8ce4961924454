"""Copies of a database file: made while others write to it, checked, and what is in one.

SQLite's own backup copies page by page, so that a copy is the file as it was: tables whose rows
have no number of their own keep the numbers that others know them by, which VACUUM INTO would
give anew (sqlite-vec's are such tables).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from graft.wire.errors import BadBackupError, DiskFullError, SchemaTooNewError
from graft_memstore.model import ModelRole
from graft_memstore.store import meta
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.database import database_errors, open_connection
from graft_memstore.store.events import read_last_link
from graft_memstore.store.integrity import foreign_key_problems, integrity_problems
from graft_memstore.store.migrate import migrations, schema_version
from graft_memstore.store.models import read_model
from graft_memstore.store.rows import select, select_one
from graft_memstore.store.vectors import CREATE_BITS

STEP_PAGES = 1_024
"""Copied at once; in between it is told how far that is, and seen whether it is still wanted."""

ROOM_BYTES = 16 * 1024 * 1024
"""Must be left on the disk besides what is to be written."""

SELECT_NOTE_COUNT = "SELECT count(*) FROM notes"

SELECT_BINDING_COUNT = "SELECT count(*) FROM tombstones WHERE lifted_at IS NULL"

# What SQLite makes by itself is left out.
SELECT_SCHEMA = """
SELECT type, name, tbl_name, sql FROM sqlite_schema
WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""

SELECT_MODELS = "SELECT model_id, dimensions FROM models"

BITS_PREFIX = "vec_bits_"
BITS_IN_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFacts:
    """What a copy of the newest schema holds; see `BackedUp`."""

    schema: int
    profile_id: str
    notes: int
    events: int
    head: str
    rejections: int
    vectors: int
    model: str
    model_identity: str
    dimensions: int


def copy_pages(source: apsw.Connection, path: Path) -> Iterator[tuple[int, int]]:
    """Copy the snapshot that *source* reads to *path*, a new file; yield bytes done and in all.

    Raises:
        ServiceError: see `database_errors`.
    """
    page_bytes = source.pragma("page_size")
    assert isinstance(page_bytes, int), "a page has a size"
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with database_errors(path), closing(apsw.Connection(str(path), flags=flags)) as target:
        path.chmod(0o600)
        # The copy is nobody's before it is whole, so that no power failure matters to it.
        target.execute("PRAGMA synchronous = OFF")
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(STEP_PAGES)
                total = backup.page_count
                yield (total - backup.remaining) * page_bytes, total * page_bytes
    settle(path)


def settle(path: Path) -> None:
    """Make a file that nobody has open whole by itself, without a log, and have it on the disk.

    Raises:
        ServiceError: see `database_errors`.
    """
    with (
        database_errors(path),
        closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection,
    ):
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_room(folder: Path, size: int, what: str) -> None:
    """See that *size* bytes more can lie on the disk of *folder*.

    Raises:
        DiskFullError: they cannot.
    """
    free = shutil.disk_usage(folder).free
    if free < size + ROOM_BYTES:
        raise DiskFullError(
            f"{what} takes {size:,} bytes and the disk of {folder} has {free:,} free, of which "
            f"{ROOM_BYTES:,} must stay; make room and try again"
        )


def read_facts(connection: apsw.Connection) -> CopyFacts:
    """Return what a copy of the newest schema holds."""
    model = read_model(connection, ModelRole.SERVING)
    last = read_last_link(connection)
    return CopyFacts(
        schema=schema_version(connection),
        profile_id=meta.read(connection, meta.SITE) or "",
        notes=count_notes(connection),
        events=0 if last is None else last.count,
        head="" if last is None else last.hash.hex(),
        rejections=_count(connection, SELECT_BINDING_COUNT),
        vectors=0 if model is None else count_vectors(connection, model.model_id),
        model="" if model is None else model.name,
        model_identity="" if model is None else model.identity,
        dimensions=0 if model is None else model.dimensions,
    )


def check_schema(path: Path) -> int:
    """See that a copy has the tables of its schema and nothing else; return that schema's number.

    What a stranger put there beside them, such as a trigger, would run with the next change.

    Raises:
        SchemaTooNewError: a newer program wrote it.
        BadBackupError: it is no profile.
        ServiceError: see `database_errors`.
    """
    with database_errors(path), closing(open_connection(path, write=False)) as connection:
        version, newest = schema_version(connection), max(migrations())
        if version > newest:
            raise SchemaTooNewError(
                f"the backup was made by a newer program (schema {version}, this one knows "
                f"{newest}); install the newer graft-memory",
                metadata={"schema": str(version), "newest": str(newest)},
            )
        found = set(select(connection, SELECT_SCHEMA, {}))
        expected = _schema_of(version)
        if version < 1 or not expected <= found:
            raise BadBackupError(f"a database in the backup is no profile of schema {version}")
        strange = {row for row in found - expected if not _is_of_bits(row)}
        strange |= _bits_of_nobody(connection, found)
        if strange:
            kind, name, *_ = min(strange)
            raise BadBackupError(
                f"a database in the backup has the {kind} {str(name)[:80]!r}, which no profile of "
                f"schema {version} has; it was changed from outside"
            )
    return version


def copy_problems(path: Path) -> tuple[list[str], list[str]]:
    """Return what SQLite finds wrong with a copy, and rows of it that point to nothing.

    Raises:
        ServiceError: see `database_errors`.
    """
    with database_errors(path), closing(open_connection(path, write=False)) as connection:
        return integrity_problems(connection), foreign_key_problems(connection)


def _schema_of(version: int) -> set[tuple[object, ...]]:
    """Return what the migrations up to *version* make."""
    with closing(apsw.Connection(":memory:")) as connection:
        for number, script in migrations().items():
            if number <= version:
                connection.execute(script)
        return set(select(connection, SELECT_SCHEMA, {}))


def _is_of_bits(row: tuple[object, ...]) -> bool:
    return row[0] == "table" and str(row[1]).startswith(BITS_PREFIX)


def _bits_of_nobody(
    connection: apsw.Connection, found: set[tuple[object, ...]]
) -> set[tuple[object, ...]]:
    """Return the tables of signs that belong to no model of the file, or are other than its."""
    own = {
        f"{BITS_PREFIX}{number}": CREATE_BITS.format(
            number, -(-dimensions // BITS_IN_BYTE) * BITS_IN_BYTE
        )
        for number, dimensions in select(connection, SELECT_MODELS, {})
    }
    strange = set()
    for row in found:
        name = str(row[1])
        if not _is_of_bits(row) or row[3] == own.get(name):
            continue
        number = name.removeprefix(BITS_PREFIX)
        table = f"{BITS_PREFIX}{number.partition('_')[0]}"
        if "_" not in number or table not in own:
            strange.add(row)
    return strange


def count_notes(connection: apsw.Connection) -> int:
    """Return how many notes there are, in every state."""
    return _count(connection, SELECT_NOTE_COUNT)


def _count(connection: apsw.Connection, statement: str) -> int:
    row = select_one(connection, statement, {})
    return 0 if row is None else int(row[0])
