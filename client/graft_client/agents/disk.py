"""Reads and writes files of a person's configuration: whole or not at all, and theirs alone."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graft_client.errors import GraftError
from graft_client.limits import AGENT_FILE_BYTES_MAX
from graft_client.whole_files import write_whole


class FileProblemError(GraftError):
    """A file cannot be read or written; the message names it."""

    reason = "FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file as it was read: where it really lies, its bytes (None: no file), its mode."""

    real: Path
    content: bytes | None
    mode: int


def read(path: Path) -> Found:
    """Read the file at *path*, through links.

    Raises:
        FileProblemError: it is no file of this user, may not be written, or is too long.
    """
    real = Path(os.path.realpath(path))
    try:
        _check_owner(path, real)
        found = real.stat()
    except FileNotFoundError:
        return Found(real=real, content=None, mode=0)
    except OSError as error:
        raise FileProblemError(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise FileProblemError(f"{path} is no file; move what is there away")
    if not found.st_mode & stat.S_IWUSR:
        raise FileProblemError(
            f"{path} is read-only, so it is someone else's to change; allow it with: chmod u+w"
        )
    if found.st_size > AGENT_FILE_BYTES_MAX:
        raise FileProblemError(f"{path} has more than {AGENT_FILE_BYTES_MAX >> 20} MiB")
    try:
        return Found(real=real, content=real.read_bytes(), mode=stat.S_IMODE(found.st_mode))
    except OSError as error:
        raise FileProblemError(f"{path} cannot be read: {error.strerror}") from error


def write(found: Found, content: bytes, *, mode: int) -> list[Path]:
    """Put *content* in the place of what was *found*; return the folders that were made for it.

    A file keeps its mode; *mode* is that of a new one.

    Raises:
        FileProblemError: it was changed meanwhile, or cannot be written.
    """
    check_unchanged(found)
    made = [each for each in (found.real.parent, *found.real.parent.parents) if not each.exists()]
    try:
        found.real.parent.mkdir(parents=True, exist_ok=True)
        write_whole(found.real, content, mode=mode if found.content is None else found.mode)
    except OSError as error:
        raise FileProblemError(f"{found.real} cannot be written: {error.strerror}") from error
    return made


def delete(found: Found) -> None:
    """Take the file away.

    Raises:
        FileProblemError: it was changed meanwhile, or cannot be taken away.
    """
    check_unchanged(found)
    try:
        found.real.unlink()
    except OSError as error:
        raise FileProblemError(f"{found.real} cannot be removed: {error.strerror}") from error


def check_unchanged(found: Found) -> None:
    """Refuse to go on where someone has written meanwhile.

    Raises:
        FileProblemError: someone has.
    """
    if read(found.real).content != found.content:
        raise FileProblemError(f"{found.real} was changed meanwhile; run the same again")


def remove_empty(folders: list[Path]) -> None:
    """Take folders away where nothing is left in them, the innermost first."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def _check_owner(path: Path, real: Path) -> None:
    """Refuse what is not this user's: the file, a link to it, the folder that it lies in."""
    folder = real.parent
    while not folder.exists():
        folder = folder.parent
    for each in (path, real, folder):
        with suppress(FileNotFoundError):
            if each.lstat().st_uid != os.getuid():
                raise FileProblemError(
                    f"{each} belongs to another user; run graft as that user, or give it back"
                )
    if stat.S_IMODE(folder.stat().st_mode) & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        raise FileProblemError(f"{folder} can be written by everyone; run: chmod o-w {folder}")
