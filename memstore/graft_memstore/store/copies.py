"""What is in a copy of a profile, and whether it is one."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from graft.wire.errors import BadBackupError, SchemaTooNewError
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
