"""The Markdown files of a folder: which they are, and reading one without trusting it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from errno import ELOOP
from pathlib import Path

from graft_client.errors import InputError
from graft_client.limits import MARKDOWN_DEPTH_MAX, MARKDOWN_FILE_BYTES_MAX, MARKDOWN_FILES_MAX

ENDINGS = (".md", ".markdown")
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotReadError(InputError):
    """A file cannot be read as Markdown; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFile:
    """One file; *name* is how it is called from the folder."""

    path: Path
    name: str


def find_files(folder: Path) -> list[MarkdownFile]:
    """Find the Markdown files of *folder* and its folders, by name; hidden ones are left out.

    A path of a single file stands for that one. Symbolic links of files are among them, and are
    not read; those of folders are left out.

    Raises:
        InputError: there are too many, too deep, or a folder cannot be read.
    """
    if not folder.is_dir():
        return [MarkdownFile(path=folder.resolve(), name=folder.name)]
    found: list[MarkdownFile] = []
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        if depth > MARKDOWN_DEPTH_MAX:
            raise InputError(f"{place} lies more than {MARKDOWN_DEPTH_MAX} folders deep")
        for entry in _entries(place):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                waiting.append((path, depth + 1))
            elif path.suffix.lower() in ENDINGS:
                found.append(MarkdownFile(path=path, name=path.relative_to(folder).as_posix()))
        if len(found) > MARKDOWN_FILES_MAX:
            raise InputError(
                f"{folder} holds more than {MARKDOWN_FILES_MAX:,} Markdown files; name a folder in"
                " it instead"
            )
    return sorted(found, key=lambda each: each.name)


def read_text(path: Path) -> str:
    """Read the text of a file.

    Raises:
        NotReadError: see `read_bytes`, or it is no UTF-8.
    """
    content = read_bytes(path, MARKDOWN_FILE_BYTES_MAX)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotReadError(
            f"it is no UTF-8 (byte {error.start}); convert it, for example with: iconv -t UTF-8"
        ) from error


def read_bytes(path: Path, bytes_max: int) -> bytes:
    """Read a file.

    Raises:
        NotReadError: it is a symbolic link, no regular file, or longer.
    """
    try:
        descriptor = os.open(path, _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotReadError("it is no regular file")
            content = file.read(bytes_max + 1)
    except OSError as error:
        if error.errno == ELOOP:
            raise NotReadError("it is a symbolic link, and none is followed") from error
        raise NotReadError(f"it cannot be read: {error.strerror}") from error
    if len(content) > bytes_max:
        raise NotReadError(f"it has more than {bytes_max:,} bytes, the most that a file may have")
    return content


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (each for each in entries if not each.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}") from error
