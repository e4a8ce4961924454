"""Tell whether a model's file is still what was written or fetched, by its hash."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from graft.wire.models import STARTER
from graft_embedder.catalogue import Entry
from graft_embedder.convert import STARTER_BLAKE3


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What was found.

    Attributes:
        ok: False only where the hash is another than it must be, or the file cannot be read.
        detail: what was seen and, when not ok, what to do.
    """

    ok: bool
    detail: str


def check_file(entry: Entry, path: Path) -> FileCheck:
    """Read the whole of *path*, the file of *entry*, and compare its hash with the known one."""
    again = f"delete it and run: graft model pull {entry.name}"
    try:
        if entry.name == STARTER:
            wanted, found = STARTER_BLAKE3, blake3().update_mmap(path).hexdigest()
        elif entry.download is not None:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            wanted = entry.download.sha256
        else:
            found = blake3().update_mmap(path).hexdigest()
            return FileCheck(ok=True, detail=f"{path}, hash {found[:16]}…, registered by you")
    except OSError as error:
        why = error.strerror or str(error)
        return FileCheck(ok=False, detail=f"{path} cannot be read ({why}); check its mode")
    if found != wanted:
        return FileCheck(
            ok=False, detail=f"{path} is damaged: its hash is {found}, not {wanted}; {again}"
        )
    return FileCheck(ok=True, detail=f"{path}, hash {found[:16]}… as it must be")
