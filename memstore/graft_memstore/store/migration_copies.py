"""Copies of a profile's file as it was before a migration, beside it.

One is there from the migration until the profile has been started once more and found whole, or
until something is erased from it: what is erased must be gone from every file of ours.
"""

import logging
from pathlib import Path

import apsw

from graft.wire.events import event
from graft_memstore.store.page_copy import check_room, copy_pages

MIDDLE = ".schema-"
DRAFT = ".draft"

log = logging.getLogger(__name__)


def keep_copy(connection: apsw.Connection, path: Path, version: int) -> Path:
    """Copy the file at *path*, which *connection* reads and has schema *version*.

    Raises:
        DiskFullError: there is no room.
        ServiceError: see `database_errors`.
    """
    check_room(path.parent, path.stat().st_size, f"a copy of {path} before its schema is changed")
    copy = path.with_name(f"{path.name}{MIDDLE}{version}")
    draft = copy.with_name(f"{copy.name}{DRAFT}")
    draft.unlink(missing_ok=True)
    try:
        for _ in copy_pages(connection, draft):
            pass
        draft.rename(copy)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    log.info(event("copied before a migration", path=copy))
    return copy


def copies_of(path: Path) -> list[Path]:
    """Return the copies of the file at *path*, and what was left of one that was not finished."""
    return sorted(path.parent.glob(f"{path.name}{MIDDLE}*"))


def remove_copies(path: Path) -> None:
    """Remove the copies of the file at *path*.

    Raises:
        OSError: one cannot be removed.
    """
    for copy in copies_of(path):
        copy.unlink(missing_ok=True)
        log.info(event("removed a copy", path=copy))
