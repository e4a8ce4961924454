"""Puts a profile aside, as a backup in the home, before another takes its place."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from graft.wire.errors import ServiceError
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.backup_file import ArchiveWriter, archive_bytes
from graft_memstore.store.database import database_errors, open_connection
from graft_memstore.store.page_copy import check_room, settle
from graft_memstore.store.profile import SIDE_FILES, database_bytes
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.make_backup import check_copy, describe, manifest_of
from graft_memstore.upkeep.verify_trail import compare, read_head

KEPT_MAX = 3
"""Backups of one profile that stay in the home; the oldest goes when another is put aside."""

SUFFIX = ".graft-backup"
DAMAGED_SUFFIX = ".damaged"
STAMP = "%Y%m%dT%H%M%S.%fZ"
STAMPED = re.compile(r"-\d{8}T\d{6}\.\d{6}Z")


class SetAside:
    """Keeps what restores took the place of.

    Args:
        profiles: the profiles.
        folder: where to.
        build: of this program.
        now_ms: wall clock, UTC milliseconds.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        folder: Path,
        build: str,
        now_ms: Callable[[], int],
    ) -> None:
        self._profiles = profiles
        self._folder = folder
        self._build = build
        self._now_ms = now_ms

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self._folder

    def keep(self, name: str) -> Path:
        """Write a backup of a profile that nobody has open, and return where it lies.

        One that is damaged is kept as it is: its files, which no restore takes.

        Raises:
            DiskFullError: there is no room.
            OSError: it cannot be written.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._profiles.path(name)
        check_room(self._folder, database_bytes(path), f"putting profile {name} aside")
        now_ms = self._now_ms()
        stamp = datetime.fromtimestamp(now_ms / 1_000, UTC).strftime(STAMP)
        try:
            kept = self._write(name, path, f"{name}-{stamp}{SUFFIX}", now_ms)
        except ServiceError:
            return self._keep_files(path, f"{name}-{stamp}{DAMAGED_SUFFIX}")
        self._prune(name)
        return kept

    def _write(self, name: str, path: Path, file_name: str, now_ms: int) -> Path:
        settle(path)
        check_copy(path, path)
        chain = self._profiles.chain_of(name)
        head = read_head(chain)
        with database_errors(path), closing(open_connection(path, write=False)) as connection:
            report = compare(connection, chain, head)
            problem = "" if report.ok else report.summary
            entry = describe(connection, name, path, chain.key, problem)
        manifest = manifest_of([entry], now_ms, self._build)
        check_room(self._folder, archive_bytes(manifest), f"putting profile {name} aside")
        draft = self._folder / f".{file_name}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                for piece in ArchiveWriter(manifest, {name: path}).pieces():
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            return draft.rename(self._folder / file_name)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _keep_files(self, path: Path, folder_name: str) -> Path:
        place = self._folder / folder_name
        place.mkdir(mode=0o700)
        for suffix in SIDE_FILES:
            file = path.with_name(path.name + suffix)
            if file.exists():
                shutil.copyfile(file, place / file.name)
                (place / file.name).chmod(0o600)
        return place

    def _prune(self, name: str) -> None:
        kept = sorted(
            each
            for each in self._folder.glob(f"{name}-*{SUFFIX}")
            if STAMPED.fullmatch(each.name.removeprefix(name).removesuffix(SUFFIX))
        )
        for each in kept[:-KEPT_MAX]:
            each.unlink()
