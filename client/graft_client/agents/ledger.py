"""What setup has written where, and the backups of what was there before, kept in the home."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blake3 import blake3

from graft.wire.locks import FileLock
from graft.wire.paths import Home, UnsafeDirectoryError, private_directory
from graft_client.agents.disk import FileProblemError
from graft_client.whole_files import write_whole

LEDGER_BYTES_MAX = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is known of one file that setup has written.

    Attributes:
        digest: of what setup wrote last.
        agents: those for which it was written; some files serve several.
        made: containers that setup made in it; "" is the file itself.
        folders: folders that were made for it.
        backup: name of the backup; empty where there was no file.
        exact: nobody else wrote between setup's own writes, so that what was there first can
            come back as it was.
    """

    digest: str
    agents: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    backup: str = ""
    exact: bool = True


@dataclass(slots=True, kw_only=True)
class Ledger:
    """The records of one home, by the files' real paths."""

    folder: Path
    files: dict[str, Written] = field(default_factory=dict)

    @classmethod
    def load(cls, home: Home) -> "Ledger":
        """Read what is there; an absent file is an empty ledger.

        Raises:
            FileProblemError: it cannot be read.
        """
        ledger = cls(folder=home.root / "agents")
        try:
            with ledger.file.open("rb") as file:
                content = json.loads(file.read(LEDGER_BYTES_MAX))
            ledger.files = {path: _written(each) for path, each in content["files"].items()}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileProblemError(
                f"{ledger.file} cannot be read ({error}); move it away: graft then no longer knows"
                " what it wrote, and takes out only what it can tell by its form"
            ) from error
        return ledger

    @property
    def file(self) -> Path:
        """Where the ledger lies."""
        return self.folder / "written.json"

    def lock(self) -> FileLock:
        """Make the home's folder, and take the lock on it until it is released.

        Raises:
            FileProblemError: it cannot be made, or another setup runs.
        """
        try:
            private_directory(self.folder.parent)
            private_directory(self.folder)
            private_directory(self.folder / "backups")
            lock = FileLock(self.folder / "setup.lock")
            if lock.try_acquire():
                return lock
        except (OSError, UnsafeDirectoryError) as error:
            raise FileProblemError(f"{self.folder} cannot be written: {error}") from error
        raise FileProblemError("another graft setup is at work in this home; try again")

    def save(self) -> None:
        """Write the ledger, whole or not at all.

        Raises:
            FileProblemError: it cannot be written.
        """
        files = {path: _as_json(each) for path, each in sorted(self.files.items())}
        try:
            write_whole(self.file, json.dumps({"files": files}, indent=1).encode())
        except OSError as error:
            raise FileProblemError(f"{self.file} cannot be written: {error.strerror}") from error

    def back_up(self, path: Path, content: bytes) -> str:
        """Keep what is at *path*, and return the backup's name.

        Raises:
            FileProblemError: it cannot be written.
        """
        name = f"{digest(os.fsencode(path))[:16]}-{path.name}"
        try:
            write_whole(self.backup(name), content)
        except OSError as error:
            raise FileProblemError(
                f"no backup of {path} can be written: {error.strerror}"
            ) from error
        return name

    def backup(self, name: str) -> Path:
        """Say where a backup lies."""
        return self.folder / "backups" / name

    def first(self, path: Path, content: bytes | None) -> tuple[bool, bytes | None]:
        """Give what was at *path* first, and whether it can come back in the place of *content*.

        It can only where the file is as setup left it, and nobody wrote in between.
        """
        written = self.files.get(str(path))
        if written is None or not written.exact or content is None:
            return False, None
        if digest(content) != written.digest:
            return False, None
        if not written.backup:
            return "" in written.made, None
        try:
            return True, self.backup(written.backup).read_bytes()
        except OSError:
            return False, None


def digest(content: bytes) -> str:
    """Give the digest by which a file's content is known again."""
    return blake3(content).hexdigest()


def _written(content: Mapping[str, Any]) -> Written:
    return replace(
        Written(digest=str(content["digest"])),
        agents=frozenset(content["agents"]),
        made=frozenset(content["made"]),
        folders=tuple(content["folders"]),
        backup=str(content["backup"]),
        exact=bool(content["exact"]),
    )


def _as_json(written: Written) -> dict[str, object]:
    return {
        "digest": written.digest,
        "agents": sorted(written.agents),
        "made": sorted(written.made),
        "folders": list(written.folders),
        "backup": written.backup,
        "exact": written.exact,
    }
