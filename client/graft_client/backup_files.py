"""The file of a backup on the caller's side: written whole or not at all, read in pieces."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from graft_client.errors import GraftError, InputError

PIECE_BYTES = 1 << 20
"""Sent in one message, at most."""

ROOM_BYTES = 16 << 20
"""Must be left on the disk besides the file."""

DRAFT = ".{}.draft-"


class FileExistsAlreadyError(GraftError):
    """There is a file already, and it is not to be replaced."""

    reason = "FILE_EXISTS"


class NoRoomError(GraftError):
    """The disk has no room for the file."""

    reason = "DISK_FULL"


class BackupDraft:
    """A file that is not in its place yet."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def check_room(self, size: int) -> None:
        """See that *size* bytes have room.

        Raises:
            NoRoomError: they have not.
        """
        free = shutil.disk_usage(self._path.parent).free
        if free < size + ROOM_BYTES:
            raise NoRoomError(
                f"the backup takes {size:,} bytes and the disk of {self._path.parent} has {free:,} "
                f"free, of which {ROOM_BYTES:,} must stay; make room, or write it elsewhere"
            )

    def write(self, piece: bytes) -> None:
        """Add the next bytes."""
        left = memoryview(piece)
        while left:
            left = left[os.write(self._descriptor, left) :]


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[BackupDraft]:
    """Lend a draft that is put at *path* when the block ends well, for its owner alone.

    What was killed before it came there is removed.

    Raises:
        FileExistsAlreadyError: there is a file, and *overwrite* is not set.
        InputError: no file can be written there.
        GraftError: it cannot be written any more.
    """
    if not overwrite and os.path.lexists(path):
        raise _exists(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the file of the backup")
    try:
        _sweep(path)
        descriptor, name = mkstemp(dir=path.parent, prefix=DRAFT.format(path.name))
    except OSError as error:
        raise InputError(f"no file can be written to {path.parent}: {error.strerror}") from error
    draft = Path(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield BackupDraft(path, descriptor)
        os.fsync(descriptor)
        _put(draft, path, overwrite=overwrite)
    except OSError as error:
        raise GraftError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            draft.unlink()
        os.close(descriptor)


def read_pieces(path: Path, sent: Callable[[int, int], None]) -> Iterator[bytes]:
    """Read a file piece by piece; *sent* hears how many bytes that were, and of how many.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            total, done = os.fstat(file.fileno()).st_size, 0
            while piece := file.read(PIECE_BYTES):
                yield piece
                done += len(piece)
                sent(done, total)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def check_readable(path: Path) -> None:
    """See that a file can be read before anything is started for it.

    Raises:
        InputError: it cannot.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the file of a backup")
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def _put(draft: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        draft.replace(path)
    else:
        try:
            # A link fails where the name was taken meanwhile.
            os.link(draft, path)
        except FileExistsError as error:
            raise _exists(path) from error
        except OSError:
            # A file system without links.
            if os.path.lexists(path):
                raise _exists(path) from None
            draft.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _sweep(path: Path) -> None:
    """Remove drafts of *path* that nobody writes any more."""
    prefix = DRAFT.format(path.name)
    for leftover in path.parent.iterdir():
        if not leftover.name.startswith(prefix):
            continue
        with suppress(OSError):
            descriptor = os.open(leftover, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink()
            finally:
                os.close(descriptor)


def _exists(path: Path) -> FileExistsAlreadyError:
    return FileExistsAlreadyError(
        f"{path} is there already and stays as it is; write to another name, or replace it with "
        "--force"
    )
