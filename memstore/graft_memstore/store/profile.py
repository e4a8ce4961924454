"""One open profile: its writer, its readers, its audit chain, its index in memory."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import apsw

from graft.wire.errors import DiskFullError, StoppingError
from graft.wire.events import event
from graft_memstore.clock import transaction_time
from graft_memstore.model import Model, ModelId, ModelRole
from graft_memstore.store import meta
from graft_memstore.store.chain import AuditChain
from graft_memstore.store.changes import Changes
from graft_memstore.store.database import (
    database_errors,
    is_full,
    no_room,
    open_connection,
    open_cramped,
)
from graft_memstore.store.erasures import clean_file
from graft_memstore.store.migrate import migrate, migrations, schema_version
from graft_memstore.store.migration_copies import remove_copies
from graft_memstore.store.models import read_model
from graft_memstore.store.readers import Readers
from graft_memstore.store.signatures import keep_read_until
from graft_memstore.store.transaction import Transaction, WriteContext
from graft_memstore.store.writer import WRITE_WAIT_SECONDS, Writer

DATABASE_FILE = "graft.db"
SIDE_FILES = ("", "-wal", "-journal")
SITE_BYTES = 16

log = logging.getLogger(__name__)


class Index(Protocol):
    """Vectors of one model in memory; only proposes, what it finds is checked in the file."""

    @property
    def model_id(self) -> ModelId:
        """The model whose vectors it holds."""

    @property
    def state(self) -> str:
        """Tell "bits" while it loads, "int8" when it is in memory, "none" without vectors."""

    def load(self, connection: apsw.Connection) -> None:
        """Read every vector; called once, in the background."""

    def refresh(self, connection: apsw.Connection) -> None:
        """Take in what was written since; cheap."""


IndexT_co = TypeVar("IndexT_co", bound=Index, covariant=True)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileParts(Generic[IndexT_co]):
    """What a profile is built with besides its folder.

    Attributes:
        chain: seals its events.
        make_index: makes the empty index of a model with so many dimensions.
        now_ms: wall clock, UTC milliseconds.
        random: random bytes, such as `os.urandom`.
        mounts: see `open_connection`.
    """

    chain: AuditChain
    make_index: Callable[[ModelId, int], IndexT_co]
    now_ms: Callable[[], int]
    random: Callable[[int], bytes]
    mounts: Callable[[], str]


class Profile(Generic[IndexT_co]):
    """An open profile. Any thread may read and write through it.

    Attributes:
        name: its name.
        path: its database file.
        chain: its audit chain.
        changes: counts its commits.
    """

    def __init__(self, name: str, folder: Path, parts: ProfileParts[IndexT_co]) -> None:
        self.name = name
        self.path = folder / DATABASE_FILE
        self.chain = parts.chain
        self.changes = Changes()
        self._make_index = parts.make_index
        self._now_ms = parts.now_ms
        self._index: IndexT_co | None = None
        self._serving: Model | None = None
        self._outgrown = False
        connection, cramped = _first_connection(self.path, parts.mounts)
        try:
            self._was_migrated = migrate(connection, self.path)
            with database_errors(self.path):
                site = _site(connection, parts.random)
            self._context = WriteContext(chain=self.chain, site=site)
            self.chain.compare_with_head(connection)
        except BaseException:
            connection.close()
            raise
        self._after_commit(connection)
        self._writer: Writer | None = None
        if cramped:
            connection.close()
            self._readers = Readers(self.path, lambda: open_cramped(self.path))
        else:
            self._writer = Writer(self.path, connection, self._after_commit)
            self._readers = Readers(self.path, lambda: open_connection(self.path, write=False))

    @property
    def index(self) -> IndexT_co | None:
        """The index of the serving model; None before the first vector.

        During a switch it may be of another model than a snapshot serves: compare
        ``index.model_id`` with the snapshot's.
        """
        return self._index

    @property
    def serving_model(self) -> Model | None:
        """The model whose vectors answered after the last change; None before the first vector."""
        return self._serving

    @property
    def was_migrated(self) -> bool:
        """Whether it was brought to the newest schema when it was opened."""
        return self._was_migrated

    @property
    def cramped(self) -> bool:
        """Whether the disk was too full to open it for more than reading."""
        return self._writer is None

    @property
    def outgrown(self) -> bool:
        """Whether a change has found room again, so that it should be opened anew."""
        return self._outgrown

    def snapshot(self) -> AbstractContextManager[apsw.Connection]:
        """Lend a connection in a read transaction of one instant; see `Readers.snapshot`."""
        return self._readers.snapshot()

    def write(
        self,
        change: Callable[[Transaction], ResultT],
        wait_seconds: float = WRITE_WAIT_SECONDS,
    ) -> ResultT:
        """Run *change* as one transaction; when this returns it is on the disk.

        Raises:
            ServiceError: see `Writer.write`, and what *change* raises.
        """

        def job(connection: apsw.Connection) -> ResultT:
            transaction = Transaction(connection, self._context, self._now_ms())
            result = change(transaction)
            transaction.finish()
            return result

        return self._writer_or_refusal().write(job, wait_seconds)

    def run(self, job: Callable[[apsw.Connection], ResultT]) -> ResultT:
        """Run *job* on the writer's connection outside a transaction; see `Writer.run`."""
        return self._writer_or_refusal().run(job)

    def clean(self) -> bool:
        """Clear the files of all that was erased; tell whether no reader prevented that.

        Raises:
            ServiceError: see `Writer.run`.
        """
        try:
            remove_copies(self.path)
        except OSError:
            log.exception(event("cannot remove copies", of=self.path))
            return False
        return self.run(clean_file)

    def now_ms(self, connection: apsw.Connection) -> int:
        """Return the time of a read: the wall clock, or the last change's when that is later."""
        return transaction_time(self._now_ms(), meta.read_clocks(connection).time_ms)

    def wall_ms(self) -> int:
        """Return what the clock on the wall says, whatever was written before."""
        return self._now_ms()

    def file_bytes(self) -> int:
        """Return the size of the database file and its log."""
        return database_bytes(self.path)

    def close(self) -> None:
        """Finish the changes that wait and close every connection."""
        if self._writer is not None:
            self._writer.close()
        self._readers.close()

    def _writer_or_refusal(self) -> Writer:
        if self._writer is not None:
            return self._writer
        if is_full(self.path):
            raise no_room(self.path)
        self._outgrown = True
        raise StoppingError(
            f"there is room on the disk of {self.path} again, so profile {self.name} is opened "
            "anew; call again"
        )

    def _after_commit(self, connection: apsw.Connection) -> None:
        try:
            self.chain.anchor(connection)
        except OSError:
            # The chain is ahead of its head until the next change; that is no damage.
            log.exception(event("cannot write the head of the audit chain", profile=self.name))
        self._serving = serving = read_model(connection, ModelRole.SERVING)
        if serving is None:
            self._index = None
        elif self._index is None or self._index.model_id != serving.model_id:
            self._index = self._make_index(serving.model_id, serving.dimensions)
        self.changes.notify()


def database_bytes(path: Path) -> int:
    """Return the size of a database file and its log; 0 for what is not there."""
    total = 0
    for suffix in SIDE_FILES:
        file = path.with_name(path.name + suffix)
        if file.exists():
            total += file.stat().st_size
    return total


def peek_model(path: Path) -> Model | None:
    """Return the serving model of a profile that is not open, None before its first vector.

    None, too, for a file that another version of the program wrote; opening it says so.

    Raises:
        ServiceError: see `open_connection`.
    """
    with database_errors(path), closing(open_connection(path, write=False)) as connection:
        if schema_version(connection) != max(migrations()):
            return None
        return read_model(connection, ModelRole.SERVING)


def _first_connection(path: Path, mounts: Callable[[], str]) -> tuple[apsw.Connection, bool]:
    """Open *path*, for reading alone where the disk is too full; tell whether it is so."""
    try:
        return open_connection(path, mounts=mounts), False
    except DiskFullError:
        return open_cramped(path), True


def _site(connection: apsw.Connection, random: Callable[[int], bytes]) -> str:
    """Return the id of this copy of the profile, made when the file is."""
    site = meta.read(connection, meta.SITE)
    if site is None:
        site = random(SITE_BYTES).hex()
        # A new file has no notes that an earlier version would have read for errors.
        keep_read_until(connection, None)
        meta.write(connection, meta.SITE, site)
    return site
