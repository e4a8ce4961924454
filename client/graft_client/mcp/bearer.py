"""The token that callers of `graft mcp --http` show: random, in a file of the home, mode 0600."""

import os
import secrets
import stat
from pathlib import Path

from graft.wire.paths import Home
from graft_client.errors import GraftError

TOKEN_BYTES = 32
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TOKEN_CHARS_MAX = 4096


def bearer_token(home: Home, *, renew: bool = False) -> str:
    """Return the home's token, making one where there is none or another is wanted.

    Raises:
        GraftError: the file cannot be used, or others may read it.
    """
    path = home.mcp_token_file
    try:
        home.create()
        if renew or not path.exists():
            _write(path)
        return _read(path)
    except OSError as error:
        raise GraftError(f"{path} cannot be used: {error.strerror or error}") from error


def _write(path: Path) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        file.flush()
        os.fsync(descriptor)
    draft.replace(path)


def _read(path: Path) -> str:
    with os.fdopen(os.open(path, _READ), encoding="ascii", errors="replace") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise GraftError(f"{path} must be a file of yours; move it and try again")
        if found.st_mode & 0o077:
            raise GraftError(
                f"{path} can be read by others (mode {found.st_mode & 0o777:04o}), so its token is"
                " no secret any more; run it again with --new-token"
            )
        token = file.read(_TOKEN_CHARS_MAX).strip()
    if len(token) < TOKEN_BYTES:
        raise GraftError(f"{path} holds no token; run it again with --new-token")
    return token
