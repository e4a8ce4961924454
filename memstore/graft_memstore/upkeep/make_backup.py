"""Makes a backup: copies profiles while they are used, and checks the copies."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from blake3 import blake3

from graft.wire.errors import DatabaseDamagedError
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.backup_manifest import BackedUp, Manifest
from graft_memstore.store.chain import AuditChain, ChainHead
from graft_memstore.store.copies import copy_problems, read_facts
from graft_memstore.store.database import Connection, database_errors, open_connection
from graft_memstore.store.events import Link
from graft_memstore.store.page_copy import check_room, copy_pages
from graft_memstore.store.profile import Profile, database_bytes
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.verify_trail import compare, read_head


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the copy of one profile is; with all bytes done it is being checked."""

    profile: str
    done_bytes: int
    total_bytes: int


def copy_profiles(
    profiles: Profiles[VectorIndex], names: Sequence[str], folder: Path, wait_seconds: float
) -> "Iterator[Progress | BackedUp]":
    """Copy profiles to ``<name>.db`` in *folder*; tell how far each is, then what it is.

    Raises:
        DatabaseDamagedError: a copy is damaged, and so is what it was made of.
        DiskFullError: there is no room for them.
        ServiceError: see `Profiles.use` and `database_errors`.
    """
    size = sum(database_bytes(profiles.path(name)) for name in names)
    check_room(folder, size, "a copy of what is to be backed up")
    for name in names:
        path = folder / f"{name}.db"
        with profiles.use(name, wait_seconds) as profile:
            yield from _copied(profile, path)


def _copied(profile: Profile[VectorIndex], path: Path) -> "Iterator[Progress | BackedUp]":
    # Before the snapshot: what is committed meanwhile is in the head and not in the snapshot.
    head = read_head(profile.chain)
    last = Progress(profile=profile.name, done_bytes=0, total_bytes=0)
    with profile.snapshot() as connection:
        for done, total in copy_pages(connection, path):
            last = Progress(profile=profile.name, done_bytes=done, total_bytes=total)
            yield last
    yield last
    check_copy(path, profile.path)
    with database_errors(path), closing(open_connection(path, write=False)) as copy:
        report = compare(copy, profile.chain, head)
        problem = "" if report.ok else report.summary
        yield describe(copy, profile.name, path, profile.chain.key, problem)


def check_copy(path: Path, original: Path) -> None:
    """See that a copy is whole.

    Raises:
        DatabaseDamagedError: it is not, and so is what it was made of.
    """
    problems = [each for found in copy_problems(path) for each in found]
    if problems:
        raise DatabaseDamagedError(
            f"{original} is damaged ({problems[0]}), so no backup was made of it; run `graft "
            "doctor`, and keep the backups that there are"
        )


def describe(connection: Connection, name: str, path: Path, key: bytes, problem: str) -> BackedUp:
    """Return what a backup says of the copy at *path*, which *connection* reads."""
    return BackedUp(
        name=name,
        file_bytes=path.stat().st_size,
        blake3=blake3().update_mmap(path).hexdigest(),
        key=key.hex(),
        problem=problem,
        **asdict(read_facts(connection)),
    )


def seal_of(entry: BackedUp, head_file: Path) -> AuditChain:
    """Return the chain of a profile in a backup, whose end is kept in *head_file*."""
    head = ChainHead(head_file)
    if entry.events:
        head.write(Link(count=entry.events, hash=bytes.fromhex(entry.head)))
    return AuditChain(bytes.fromhex(entry.key), head)


def manifest_of(entries: Sequence[BackedUp], made_at_ms: int, build: str) -> Manifest:
    """Return what a backup of these profiles says of itself."""
    in_order = tuple(sorted(entries, key=lambda each: each.name))
    return Manifest(made_at_ms=made_at_ms, build=build, profiles=in_order)
