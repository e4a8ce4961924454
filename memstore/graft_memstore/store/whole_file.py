"""Writes a small JSON file for its owner alone: whole, or not at all."""

import json
import os
from pathlib import Path

from graft.wire.errors import DiskFullError, WrongStateError
from graft.wire.locks import NO_ROOM


def write_whole(path: Path, content: object) -> None:
    """Put *content* in the place of what was at *path*.

    Raises:
        DiskFullError, WrongStateError: it cannot be written; what was there stays.
    """
    fresh = path.with_suffix(".fresh")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(fresh, flags, 0o600), "w") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFullError(f"there is no room for {path}; make some and try again") from error
        raise WrongStateError(
            f"{path} cannot be written ({error.strerror}); run: graft doctor",
            metadata={"state": "unwritable"},
        ) from error
