"""Repairs of a home's directories and files that lose nothing; what lies in a profile is not here.

What a running process holds is left alone: each lock is taken, or asked for, first.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path

from graft.wire.launch import StartError, find_running
from graft.wire.locks import FileLock, holder_of
from graft.wire.paths import Home
from graft_client.repairs import Repair

FILES_MAX = 10_000
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
OTHERS_MAY = 0o077

DRAFT_OF_PROCESS = re.compile(r"(?:\..+|.+\.json)\.(\d+)")
"""A file that a process writes before it renames it: it ends with that process's id."""

MODELS_LOCK = ".lock"
MODEL_LEFTOVERS = (".*.part", ".*.part.json")

Found = tuple[Path, str]
"""A path, and what is wrong with it."""


def repair_places(home: Home, services: Sequence[str], *, dry_run: bool) -> Iterator[Repair]:
    """Repair what can be repaired of *home* without a service."""
    if not home.root.is_dir():
        return
    yield _do("modes", list(_loose(home)), _close, dry_run=dry_run)
    yield _services(home, services, dry_run=dry_run)
    yield _do("drafts", list(_drafts(home)), _remove, dry_run=dry_run)
    yield _models(home, dry_run=dry_run)


def _do(
    name: str, found: Sequence[Found], mend: Callable[[Path], None], *, dry_run: bool
) -> Repair:
    """Mend all that was found, and tell of the first that could not be, else of the first."""
    failed = []
    for path, _ in () if dry_run else found:
        try:
            mend(path)
        except OSError as error:
            failed.append(f"{path} cannot be repaired ({error.strerror})")
    shown = found[0] if found else None
    detail = "nothing to repair" if shown is None else f"{shown[0]} {shown[1]}"
    return Repair(
        name=name,
        found=len(found),
        repaired=bool(found) and not failed and not dry_run,
        detail=failed[0] if failed else detail,
    )


def _loose(home: Home) -> Iterator[Found]:
    """Find what others may read of what is ours alone; models are no secret."""
    own = (each for each in home.root.iterdir() if each != home.models)
    folders = (home.profiles, home.audit, home.backups, home.hooks, home.runtime_path())
    deeper = (each for folder in folders if folder.is_dir() for each in folder.rglob("*"))
    for number, path in enumerate(chain([home.root, home.runtime_path()], own, deeper)):
        if number == FILES_MAX:
            return
        with suppress(FileNotFoundError):  # files that come and go, such as a database's log
            seen = path.lstat()
            mine = seen.st_uid == os.getuid() and not stat.S_ISLNK(seen.st_mode)
            if mine and seen.st_mode & OTHERS_MAY:
                yield path, f"could be read by others (mode {stat.S_IMODE(seen.st_mode):04o})"


def _close(path: Path) -> None:
    mode = path.lstat().st_mode
    path.chmod(stat.S_IMODE(mode) & ~OTHERS_MAY)


def _services(home: Home, services: Sequence[str], *, dry_run: bool) -> Repair:
    """Remove records and sockets of services that do not run, while none of them can start."""
    found: list[Found] = []
    with ExitStack() as held:
        for service in services:
            lock = FileLock(home.start_lock(service))
            if lock.try_acquire():
                held.callback(lock.release)
                found += _stale(home, service)
        return _do("services' leftovers", found, _remove, dry_run=dry_run)


def _stale(home: Home, service: str) -> Iterator[Found]:
    try:
        if find_running(home, service) or holder_of(home.life_lock(service)) is not None:
            return
    except StartError:
        return  # another user's; the checks tell of it
    for path in (home.record(service), home.socket(service)):
        if os.path.lexists(path):
            yield path, f"is left over: {service} does not run"


def _drafts(home: Home) -> Iterator[Found]:
    """Find files that a process which has ended was writing."""
    for path in home.root.iterdir():
        named = DRAFT_OF_PROCESS.fullmatch(path.name)
        if named and path.is_file() and not _lives(int(named[1])):
            yield path, "is left over from a process that has ended"


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _models(home: Home, *, dry_run: bool) -> Repair:
    """Remove halves of model files, unless one is being fetched now."""
    name = "model leftovers"
    if not home.models.is_dir() or not os.access(home.models, os.W_OK):
        return Repair(name=name, found=0, repaired=False, detail="nothing to repair")
    found = [
        (path, f"is half of a model, {path.stat().st_size:,} bytes; graft model pull fetches it")
        for pattern in MODEL_LEFTOVERS
        for path in sorted(home.models.glob(pattern))
    ]
    if not found:
        return Repair(name=name, found=0, repaired=False, detail="nothing to repair")
    lock = FileLock(home.models / MODELS_LOCK)
    if not lock.try_acquire():
        detail = "a model is being fetched or converted now; try again when that has ended"
        return Repair(name=name, found=len(found), repaired=False, detail=detail)
    try:
        return _do(name, found, _remove, dry_run=dry_run)
    finally:
        lock.release()


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
