"""What a backup is and what came of it, as plain data; field names are those of the JSON output."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graft_client.results import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUpProfile:
    """One profile in a backup.

    Attributes:
        profile_id: of the copy of the profile that it was made of.
        events: of its log.
        rejections: that bind.
        vectors: of its model.
        model: its name; empty before the first vector.
        problem: what was wrong with its log when it was copied; empty where nothing was.
    """

    name: str
    bytes: int
    blake3: str
    schema: int
    profile_id: str
    notes: int
    events: int
    rejections: int
    vectors: int
    model: str
    model_identity: str
    dimensions: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup is; *blake3* is of the file up to its last member."""

    format: int
    made_at: datetime
    build: str
    profiles: tuple[BackedUpProfile, ...]
    bytes: int
    blake3: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupStep:
    """One step on the way to a backup.

    Attributes:
        profile: that is being copied; empty while the file is being written.
        done_bytes: so far, of *total_bytes*; all of them: it is being checked.
        backup: what it is; in the last step alone.
    """

    profile: str = ""
    done_bytes: int = 0
    total_bytes: int = 0
    backup: Backup | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReply:
    """What the memstore sends on the way to a backup; see CreateBackupResponse."""

    step: BackupStep | None
    file_bytes: int
    piece: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBackup:
    """What came of checking a backup."""

    backup: Backup
    checks: tuple[Check, ...]

    @property
    def wrong(self) -> tuple[Check, ...]:
        """What is not as it should be."""
        return _wrong(self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredProfile:
    """One profile that was taken from a backup.

    Attributes:
        source: its name in the backup.
        name: its name in the home.
        event: that recorded it; None where nothing was done.
        erased: notes that the backup holds and that were erased since.
        rejected: notes that the backup holds and whose text was rejected since.
        put_aside: where what was there before lies, on the memstore's machine; empty where nothing
            was there.
        schema_before: that the backup has it in.
        problem: why it cannot be told what was erased or rejected since; empty where it was.
    """

    source: str
    name: str
    notes: int
    event: int | None
    erased: int
    rejected: int
    put_aside: str
    schema_before: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredBackup:
    """What was taken from a backup."""

    backup: Backup
    profiles: tuple[RestoredProfile, ...]
    checks: tuple[Check, ...]

    @property
    def wrong(self) -> tuple[Check, ...]:
        """What is not as it should be."""
        return _wrong(self.checks)


def _wrong(checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(each for each in checks if not each.ok)
