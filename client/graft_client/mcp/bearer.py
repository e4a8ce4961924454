"""The token that callers of `graft mcp --http` show: random, in a file of the home, mode 0600."""

import os
import secrets
import stat
from pathlib import Path

from graft.wire.paths import Home
from graft_client.errors import GraftError
from graft_client.whole_files import write_whole

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
            write_whole(path, f"{secrets.token_urlsafe(TOKEN_BYTES)}\n".encode("ascii"))
        return _read(path)
    except OSError as error:
        raise GraftError(f"{path} cannot be used: {error.strerror or error}") from error


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
