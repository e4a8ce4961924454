"""Databases that are not in their place yet, and the one step that brings them there.

A draft is a folder that nobody looks into. Once its list of swaps is on the disk, they happen,
whatever ends the process meanwhile: the next start does the rest. Without a list nothing happens,
and the next start removes it.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from graft.wire.events import event
from graft_memstore.store.chain import KEY_FILE as HOME_KEY_FILE
from graft_memstore.store.chain import KEY_SUFFIX, ChainHead
from graft_memstore.store.profile import DATABASE_FILE, SIDE_FILES
from graft_memstore.store.reviewer_file import ReviewerFiles, StoredReviewer

DRAFTS = ".drafts"
"""Of no profile: their names begin with a letter or digit."""

SWAPS_FILE = "swaps.json"
HEAD_FILE = "draft.head"
KEY_FILE = "draft.key"
NAME_BYTES = 8
PRIVATE_FOLDER = 0o700

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A profile whose place a draft takes: its name, and the folder within the draft."""

    name: str
    folder: str


class Drafts:
    """The drafts of a home.

    Args:
        profiles: folder of all profiles.
        audit: folder of the audit key and the chains' heads.
        random: random bytes, such as `os.urandom`.
    """

    def __init__(self, profiles: Path, audit: Path, random: Callable[[int], bytes]) -> None:
        self._profiles = profiles
        self._audit = audit
        self._random = random

    @contextmanager
    def make(self) -> Iterator[Path]:
        """Lend the folder of a new draft; it is removed afterwards, with all that is in it."""
        folder = self._profiles / DRAFTS / self._random(NAME_BYTES).hex()
        for each in (self._profiles, folder.parent, folder):
            each.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        try:
            yield folder
        finally:
            # One whose swaps could not be finished waits for the next start.
            if not (folder / SWAPS_FILE).exists():
                shutil.rmtree(folder, ignore_errors=True)

    def swap(
        self, folder: Path, swaps: Sequence[Swap], reviewer: StoredReviewer | None = None
    ) -> None:
        """Bring the databases of a draft to their places, all of them; nobody has these open.

        Args:
            folder: of the draft.
            swaps: which goes where.
            reviewer: is written beside them, where the log that tells of it is one of them.

        Raises:
            OSError: they are in their places after the next start.
        """
        content = {
            "swaps": [asdict(each) for each in swaps],
            "reviewer": None if reviewer is None else asdict(reviewer),
        }
        draft = folder / f"{SWAPS_FILE}.draft"
        write_private(draft, json.dumps(content).encode())
        draft.rename(folder / SWAPS_FILE)
        _sync(folder)
        self._finish(folder)

    def sweep(self) -> None:
        """Finish what an earlier process began, and remove what it left; called with nothing open.

        Raises:
            OSError: a swap cannot be finished: the profiles are not as they should be.
        """
        drafts = self._profiles / DRAFTS
        if not drafts.is_dir():
            return
        for folder in sorted(drafts.iterdir()):
            if (folder / SWAPS_FILE).exists():
                log.warning(event("finishing a restore", draft=folder.name))
                self._finish(folder)
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            drafts.rmdir()

    def _finish(self, folder: Path) -> None:
        """Do all of a draft's swaps; whichever were done before are as before."""
        content = json.loads((folder / SWAPS_FILE).read_text("utf-8"))
        for each in content["swaps"]:
            self._finish_one(folder / each["folder"], each["name"])
        if content["reviewer"] is not None:
            ReviewerFiles(self._audit).write(StoredReviewer(**content["reviewer"]))
        (folder / SWAPS_FILE).unlink()
        _sync(folder)

    def _finish_one(self, folder: Path, name: str) -> None:
        place = self._profiles / name
        place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        self._audit.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        database = folder / DATABASE_FILE
        if database.exists():
            # The log of another database would be taken for its own.
            for suffix in (*SIDE_FILES[1:], "-shm"):
                (place / f"{DATABASE_FILE}{suffix}").unlink(missing_ok=True)
            database.replace(place / DATABASE_FILE)
            _sync(place)
        head = ChainHead(folder / HEAD_FILE).read()
        own_head = ChainHead(self._audit / f"{name}.head")
        if head is not None:
            own_head.write(head)
        else:
            own_head.path.unlink(missing_ok=True)
        key, own_key = (folder / KEY_FILE).read_bytes(), self._audit / f"{name}{KEY_SUFFIX}"
        home_key = self._audit / HOME_KEY_FILE
        if home_key.exists() and home_key.read_bytes() == key:
            own_key.unlink(missing_ok=True)
        else:
            fresh = own_key.with_suffix(".fresh-key")
            write_private(fresh, key)
            fresh.rename(own_key)
        _sync(self._audit)


def write_private(path: Path, content: bytes) -> None:
    """Write a file for its owner alone and have it on the disk.

    Raises:
        OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
