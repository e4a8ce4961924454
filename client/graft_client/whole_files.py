"""Writes a file whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

PRIVATE = 0o600


def write_whole(path: Path, content: bytes, *, mode: int = PRIVATE, synced: bool = True) -> None:
    """Put *content* at *path*, over whatever is there.

    Args:
        path: where.
        content: what.
        mode: permissions of the file.
        synced: it must be there after a power failure, too, which a disk may take long for.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content)
            file.flush()
            if synced:
                os.fsync(descriptor)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
