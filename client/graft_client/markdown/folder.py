"""A folder that notes are written to: what may be overwritten there, and what was written."""

import json
import os
from pathlib import Path
from typing import Literal, Self

from blake3 import blake3

from graft_client.errors import GraftError, InputError
from graft_client.limits import MARKDOWN_FILE_BYTES_MAX, MARKDOWN_FILES_MAX
from graft_client.markdown.files import NotReadError, read_bytes
from graft_client.whole_files import write_whole

LEDGER = ".graft-export.json"
LEDGER_BYTES_MAX = 512 * MARKDOWN_FILES_MAX
"""Room for the name and the digest of every file."""

Put = Literal["written", "updated", "unchanged", "kept"]
Pruned = Literal["removed", "kept"]


class Folder:
    """One folder, with the digests of the files that were written there before.

    A file is overwritten only if it still is what was written: what a person made of it stays.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before = _read_ledger(root / LEDGER)
        self._now: dict[str, str] = {}

    @classmethod
    def make(cls, root: Path) -> Self:
        """Open a folder, and make it where it is not there.

        Raises:
            InputError: it cannot be made, or is no folder.
        """
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{root} cannot be made a folder: {error.strerror}") from error
        return cls(root)

    def put(self, name: str, content: bytes, *, force: bool, dry_run: bool) -> Put:
        """Write a file where it may be, and say what became of it; "kept" stays as it is.

        Raises:
            GraftError: it cannot be written.
        """
        outcome = self._judge(name, content, force=force)
        # Whoever puts back what was written before finds it known again.
        kept = outcome == "kept"
        self._now[name] = self._before.get(name, "") if kept else _digest(content)
        if outcome in {"written", "updated"} and not dry_run:
            try:
                write_whole(self._root / name, content)
            except OSError as error:
                raise GraftError(f"{name} cannot be written: {error.strerror}") from error
        return outcome

    def _judge(self, name: str, content: bytes, *, force: bool) -> Put:
        path = self._root / name
        if not os.path.lexists(path):
            return "written"
        there = _digest_of(path)
        if there == _digest(content):
            return "unchanged"
        ours = there is not None and there == self._before.get(name)
        return "updated" if ours or force else "kept"

    def left(self) -> list[str]:
        """Name the files that were written once and are not among those of this time."""
        old = self._before.keys() - self._now.keys()
        return sorted(name for name in old if (self._root / name).is_file())

    def prune(self, name: str, *, dry_run: bool) -> Pruned:
        """Remove a file of those that are left, unless it was changed since it was written.

        Raises:
            GraftError: it cannot be removed.
        """
        path = self._root / name
        if _digest_of(path) != self._before[name]:
            return "kept"
        if not dry_run:
            try:
                path.unlink()
            except OSError as error:
                raise GraftError(f"{name} cannot be removed: {error.strerror}") from error
        return "removed"

    def remember(self) -> None:
        """Keep what was written for the next time.

        Raises:
            GraftError: it cannot be kept.
        """
        kept = {name: self._before[name] for name in self.left()} | self._now
        files = {name: digest for name, digest in sorted(kept.items()) if digest}
        content = json.dumps({"version": 1, "files": files}, indent=1, ensure_ascii=False)
        try:
            write_whole(self._root / LEDGER, f"{content}\n".encode())
        except OSError as error:
            raise GraftError(f"{LEDGER} cannot be written: {error.strerror}") from error


def _read_ledger(path: Path) -> dict[str, str]:
    """Read what was written before; of a file that is none, nothing is known."""
    content = _read(path, LEDGER_BYTES_MAX)
    try:
        files = json.loads(content)["files"] if content is not None else {}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {
        name: digest
        for name, digest in files.items()
        if isinstance(digest, str) and "/" not in name and name not in {"", ".", ".."}
    }


def _digest_of(path: Path) -> str | None:
    content = _read(path, MARKDOWN_FILE_BYTES_MAX)
    return None if content is None else _digest(content)


def _digest(content: bytes) -> str:
    return blake3(content).hexdigest()


def _read(path: Path, bytes_max: int) -> bytes | None:
    """Read a regular file; None where there is none of that length."""
    try:
        return read_bytes(path, bytes_max)
    except NotReadError:
        return None
