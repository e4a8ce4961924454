"""Checks of a home's directories and files: modes, room, file system, what a database is."""

import os
import shutil
import stat
import struct
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from graft.wire.paths import SOCKET_NAME_BYTES_MIN, SOCKET_PATH_BYTES_MAX, Home
from graft_client.results import Check
from graft_client.settings import DATABASE_KEY_VARIABLE

SCHEMA_NEWEST = 13
"""The newest migration of the memstore that this program was installed with."""

FILES_MAX = 2_000
FREE_BYTES_MIN = 500 << 20
OTHERS_MAY = 0o077

_SQLITE_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_JOURNAL_AT = 18
_VERSION_AT = 60
_WRITE_AHEAD = 2


def check_places(home: Home, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check everything of *home* that can be seen without a service."""
    yield _database_key(environ)
    if not home.root.exists():
        yield Check(
            name="home", ok=True, detail=f"{home.root} is not there yet; the first command makes it"
        )
        yield _room(_nearest(home.root))
        return
    yield _directory("home", home.root)
    yield _private_files(home)
    yield _sockets(home)
    yield _room(home.root)
    yield from _databases(home)


def profile_names(home: Home) -> list[str]:
    """Name the profiles that have a file."""
    return sorted(path.parent.name for path in home.profiles.glob("*/graft.db"))


def _database_key(environ: Mapping[str, str]) -> Check:
    if not environ.get(DATABASE_KEY_VARIABLE):
        return Check(name="encryption", ok=True, detail=f"{DATABASE_KEY_VARIABLE} is not set")
    return Check(
        name="encryption",
        ok=False,
        detail=f"{DATABASE_KEY_VARIABLE} is set, but this build cannot encrypt, so the memstore"
        f" refuses to start; run: unset {DATABASE_KEY_VARIABLE} (an encrypted disk protects the"
        " home)",
    )


def _directory(name: str, path: Path) -> Check:
    found = path.lstat()
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISDIR(found.st_mode):
        return Check(name=name, ok=False, detail=f"{path} is no directory; move away what is there")
    if found.st_uid != os.getuid():
        return Check(
            name=name,
            ok=False,
            detail=f"{path} belongs to user {found.st_uid}; use a home of your own with --home",
        )
    if mode & OTHERS_MAY:
        return Check(
            name=name,
            ok=False,
            detail=f"{path} can be entered by others (mode {mode:04o}); run: chmod 700 {path},"
            " or: graft doctor --repair",
        )
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Check(
            name=name,
            ok=False,
            detail=f"{path} cannot be written to (mode {mode:04o}); is its disk mounted read-only?"
            f" Else run: chmod 700 {path}",
        )
    return Check(name=name, ok=True, detail=f"{path}, mode {mode:04o}")


def _private_files(home: Home) -> Check:
    """Check that nobody else may read what holds or guards notes; models are no secret."""
    own = (path for path in home.root.iterdir() if path != home.models)
    deeper = (path for folder in (home.profiles, home.audit) for path in folder.rglob("*"))
    open_to_others = []
    count = 0
    for path in islice((path for paths in (own, deeper) for path in paths), FILES_MAX):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue  # a file that comes and goes, such as a database's log
        count += 1
        if not stat.S_ISLNK(found.st_mode) and found.st_mode & OTHERS_MAY:
            open_to_others.append(path)
    if open_to_others:
        return Check(
            name="files",
            ok=False,
            detail=f"{len(open_to_others)} can be read by others, such as {open_to_others[0]};"
            f" run: chmod -R go= {home.root}, or: graft doctor --repair",
        )
    return Check(name="files", ok=True, detail=f"{count} files and folders, for you alone")


def _sockets(home: Home) -> Check:
    path = home.runtime_path()
    if len(os.fsencode(path)) + SOCKET_NAME_BYTES_MIN > SOCKET_PATH_BYTES_MAX:
        return Check(
            name="sockets",
            ok=False,
            detail=f"{path} is too long for a socket; set GRAFT_RUNTIME to a shorter directory",
        )
    if not path.exists():
        return Check(
            name="sockets", ok=True, detail=f"{path} is not there yet; the first start makes it"
        )
    return _directory("sockets", path)


def _room(path: Path) -> Check:
    free = shutil.disk_usage(path).free
    detail = f"{free / (1 << 30):.1f} GiB free on the disk of {path}"
    if free < FREE_BYTES_MIN:
        return Check(
            name="disk space",
            ok=False,
            detail=f"{detail}; make room, writes will be refused when it is full",
        )
    return Check(name="disk space", ok=True, detail=detail)


def _databases(home: Home) -> Iterator[Check]:
    """Read each database's head; the memstore looks inside where it answers."""
    for name in profile_names(home):
        path = home.profiles / name / "graft.db"
        try:
            with path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except OSError as error:
            yield Check(
                name="file",
                profile=name,
                ok=False,
                detail=f"{path} cannot be read ({error.strerror}); check its owner and mode",
            )
            continue
        yield _header(name, path, header)


def _header(name: str, path: Path, header: bytes) -> Check:
    if not header:
        return Check(name="file", profile=name, ok=True, detail=f"{path} is new and empty")
    if not header.startswith(_SQLITE_MAGIC) or len(header) < _HEADER_BYTES:
        return Check(
            name="file",
            profile=name,
            ok=False,
            detail=f"{path} is no SQLite database; move it away, and take a backup back with:"
            f" graft backup restore FILE --profile {name}",
        )
    journal = (
        "write-ahead log"
        if header[_JOURNAL_AT] == _WRITE_AHEAD
        else ("rollback journal, slower but safe where the file system shares no memory")
    )
    (version,) = struct.unpack_from(">I", header, _VERSION_AT)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        schema = "schema not to be seen while its log holds the newest pages"
    else:
        schema = f"schema {version}"
        if version > SCHEMA_NEWEST:
            return Check(
                name="file",
                profile=name,
                ok=False,
                detail=f"{path} was written by a newer program (schema {version}, this one knows"
                f" {SCHEMA_NEWEST}); install the newer graft-memory",
            )
    return Check(
        name="file",
        profile=name,
        ok=True,
        detail=f"{path}, {path.stat().st_size:,} bytes, {schema}, {journal}",
    )


def _nearest(path: Path) -> Path:
    return next(folder for folder in path.parents if folder.exists())
