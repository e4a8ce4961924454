"""Takes a backup in, a draft that nobody looks into, and checks all that can be checked of it."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from graft.wire.errors import BadBackupError
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.backup_file import ArchiveReader
from graft_memstore.store.backup_manifest import BackedUp, Manifest
from graft_memstore.store.copies import check_schema, copy_problems
from graft_memstore.store.drafts import HEAD_FILE
from graft_memstore.store.page_copy import check_room
from graft_memstore.store.profile import DATABASE_FILE, Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.make_backup import seal_of
from graft_memstore.upkeep.verify_trail import verify_trail

AUDIT_CHAIN = "audit chain"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupCheck:
    """One thing that was checked; *profile* is empty where it is about the file."""

    profile: str
    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A profile of a backup, brought to the newest schema and open in its draft.

    Attributes:
        schema_before: that the backup has it in.
    """

    entry: BackedUp
    folder: Path
    profile: Profile[VectorIndex]
    schema_before: int


class Examined:
    """A backup that was taken in; its profiles are open until this is closed."""

    def __init__(
        self, manifest: Manifest, digest: str, file_bytes: int, checks: list[BackupCheck]
    ) -> None:
        self.manifest = manifest
        self.digest = digest
        self.file_bytes = file_bytes
        self.checks = checks
        self.drafts: list[Draft] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def add(self, draft: Draft) -> None:
        """Have a draft closed with the others."""
        self._open.callback(draft.profile.close)
        self.drafts.append(draft)


def take_in(pieces: Iterable[bytes], folder: Path) -> tuple[ArchiveReader, Manifest]:
    """Write the databases of a backup to ``<number>/graft.db`` in *folder*.

    Raises:
        BadBackupError: it is no backup, or damaged.
        SchemaTooNewError: it is of a format that this program does not know.
        DiskFullError: there is no room for it.
    """
    reader = ArchiveReader(pieces)
    manifest = reader.manifest()
    check_room(folder, sum(each.file_bytes for each in manifest.profiles), "the backup")
    for number, entry in enumerate(manifest.profiles):
        place = folder / str(number)
        place.mkdir(mode=0o700)
        reader.database(entry, place / DATABASE_FILE)
    reader.finish()
    return reader, manifest


def examine(profiles: Profiles[VectorIndex], pieces: Iterable[bytes], folder: Path) -> Examined:
    """Take a backup in and check it.

    Raises:
        BadBackupError: it is no backup, or damaged.
        SchemaTooNewError: a newer program made it.
        ServiceError: see `take_in` and `Profiles.open_at`.
    """
    reader, manifest = take_in(pieces, folder)
    detail = f"{reader.bytes_read:,} bytes, each as it was written"
    checks = [BackupCheck(profile="", name="file", ok=True, detail=detail)]
    examined = Examined(manifest, reader.digest, reader.bytes_read, checks)
    with ExitStack() as undo:
        undo.enter_context(examined)
        for number, entry in enumerate(manifest.profiles):
            place = folder / str(number)
            schema = _check_file(entry, place / DATABASE_FILE, checks)
            chain = seal_of(entry, place / HEAD_FILE)
            profile = profiles.open_at(place, entry.name, chain)
            examined.add(Draft(entry=entry, folder=place, profile=profile, schema_before=schema))
            checks.append(_audit(entry, profile))
        undo.pop_all()
    return examined


def _check_file(entry: BackedUp, path: Path, checks: list[BackupCheck]) -> int:
    schema = check_schema(path)
    integrity, foreign_keys = copy_problems(path)
    problems = [*integrity, *foreign_keys]
    if problems:
        raise BadBackupError(
            f"profile {entry.name} in the backup is damaged ({problems[0]}); use another backup"
        )
    checks += [
        BackupCheck(profile=entry.name, name="schema", ok=True, detail=f"schema {schema}"),
        BackupCheck(profile=entry.name, name="integrity", ok=True, detail="ok"),
        BackupCheck(profile=entry.name, name="foreign keys", ok=True, detail="ok"),
    ]
    return schema


def _audit(entry: BackedUp, profile: Profile[VectorIndex]) -> BackupCheck:
    """Compare a profile with its log.

    Raises:
        BadBackupError: they do not agree, and did when the backup was made.
    """
    report = verify_trail(profile)
    if not report.ok and not entry.problem:
        raise BadBackupError(
            f"profile {entry.name} in the backup does not fit its log ({report.summary}), and did "
            "when it was copied: it was changed since; use another backup"
        )
    detail = report.summary
    if entry.problem:
        detail = f"it was so when it was copied: {report.summary or entry.problem}"
    return BackupCheck(profile=entry.name, name=AUDIT_CHAIN, ok=report.ok, detail=detail)
