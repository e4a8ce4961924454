"""Write files so that nobody ever sees half of one, and wait for a lock with an end."""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graft.wire.locks import FileLock, holder_of
from graft_embedder.errors import ModelFileError

POLL_SECONDS = 0.05


def replace_text(path: Path, text: str) -> None:
    """Write *text* to *path* by way of a neighbour and a rename, readable by the owner alone.

    Raises:
        OSError: the folder cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, seconds: float, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file *path*; *waiting* is told at every try that finds it taken.

    Raises:
        ModelFileError: it cannot be made, or somebody holds it for longer than *seconds*.
    """
    lock = FileLock(path)
    ends = time.monotonic() + seconds
    pause = threading.Event()
    while not _try(lock, path):
        if time.monotonic() >= ends:
            raise ModelFileError(
                f"process {holder_of(path) or 'unknown'} holds {path};"
                " wait for it, or end it if it hangs, and try again"
            )
        waiting()
        pause.wait(POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _try(lock: FileLock, path: Path) -> bool:
    try:
        return lock.try_acquire()
    except OSError as error:
        raise ModelFileError(_unwritable(path.parent, error)) from error


def make_models_folder(folder: Path) -> None:
    """Make the models folder if it is not there; a link to a shared one is left as it is.

    Raises:
        ModelFileError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        if folder.is_symlink() and not folder.exists():
            raise ModelFileError(
                f"{folder} is a link to {folder.readlink()}, which is not there;"
                " mount it, or remove the link"
            ) from error
        raise ModelFileError(_unwritable(folder, error)) from error


def _unwritable(folder: Path, error: OSError) -> str:
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return (
            f"the models folder {folder} cannot be written; put the model there by hand, or point"
            " it at a folder of your own"
        )
    return f"the models folder {folder} cannot be used: {error.strerror or error}"
