"""Where a home keeps what: one place for every path that two programs must agree on."""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

SOCKET_PATH_BYTES_MAX = 100
"""A Unix socket's path may have 107 bytes; what is longer than this moves to /tmp."""


SOCKET_NAME_BYTES_MIN = len("/memstore.sock")
"""Room for the shortest name of a socket that says what it is."""


DIRECTORY_TRIES = 20
"""How often a directory is made that vanishes as soon as it is there."""

PROFILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""A profile's name: it also names its folder."""

PROFILE_NAME_RULE = 'a letter or digit followed by up to 63 letters, digits, "_" or "-"'
"""`PROFILE_NAME` in words."""


class UnsafeDirectoryError(OSError):
    """A directory that must be ours alone is not; the message says which and what to do."""


HOME_CONTENT = frozenset(
    {"audit", "backups", "config.toml", "models", "models.json", "profiles", "run"}
)
"""What a person may have put into a home before its first use."""


def private_directory(path: Path, own_content: frozenset[str] = frozenset()) -> Path:
    """Make *path* a directory of mode 0700 and return it.

    One of ours with nothing in it but *own_content* is closed to others; one with other content
    is left as it is, since others may rely on it.

    Raises:
        UnsafeDirectoryError: something else is there, or it is another user's, or others may enter.
    """
    for _ in range(DIRECTORY_TRIES):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The last service of a home takes its empty directory along, maybe right now.
        with suppress(FileNotFoundError):
            return _checked(path, own_content)
    raise UnsafeDirectoryError(f"{path} was removed again and again; see which program does that")


def _checked(path: Path, own_content: frozenset[str]) -> Path:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafeDirectoryError(
            f"{path} must be a directory of yours; move what is there and try again"
        )
    if found.st_mode & 0o077 and own_content.issuperset(each.name for each in path.iterdir()):
        path.chmod(0o700)
    elif found.st_mode & 0o077:
        raise UnsafeDirectoryError(
            f"{path} can be entered by others (mode {found.st_mode & 0o777:04o}); "
            f"run: chmod 700 {path}"
        )
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The directory of one memory, by its real path, and everything inside it.

    Attributes:
        root: real path of the home.
        runtime: where sockets live if the caller chose (GRAFT_RUNTIME); else None.
    """

    root: Path
    runtime: Path | None = None

    @classmethod
    def resolve(cls, environ: Mapping[str, str]) -> Self:
        """Read GRAFT_HOME (default ``~/.graft``) and GRAFT_RUNTIME."""
        root = Path(environ.get("GRAFT_HOME") or "~/.graft").expanduser()
        runtime = environ.get("GRAFT_RUNTIME")
        return cls(
            root=Path(os.path.realpath(root)),
            runtime=Path(os.path.realpath(runtime)) if runtime else None,
        )

    def create(self) -> None:
        """Make the home, mode 0700.

        Raises:
            UnsafeDirectoryError: see `private_directory`.
        """
        private_directory(self.root, HOME_CONTENT)

    @property
    def profiles(self) -> Path:
        """Folder of the profiles, one folder each."""
        return self.root / "profiles"

    @property
    def models(self) -> Path:
        """Folder of the model files; may be a link to a shared one."""
        return self.root / "models"

    @property
    def models_file(self) -> Path:
        """Registry of models: which is the default, and where registered ones lie."""
        return self.root / "models.json"

    @property
    def config_file(self) -> Path:
        """Settings of a person, TOML."""
        return self.root / "config.toml"

    @property
    def mcp_token_file(self) -> Path:
        """What callers of `graft mcp --http` show, mode 0600."""
        return self.root / "mcp.token"

    @property
    def tokens_file(self) -> Path:
        """Access tokens of callers from outside, their secrets hashed; mode 0600."""
        return self.root / "tokens.json"

    @property
    def hooks(self) -> Path:
        """Folder of what hooks remember of agents' sessions."""
        return self.root / "hooks"

    @property
    def backups(self) -> Path:
        """Folder of the profiles that a restore put aside."""
        return self.root / "backups"

    @property
    def audit(self) -> Path:
        """Folder of the audit key and of each chain's head."""
        return self.root / "audit"

    def life_lock(self, service: str) -> Path:
        """Lock that *service* holds as long as it lives; the file is never replaced."""
        return self.root / f"{service}.lock"

    def start_lock(self, service: str) -> Path:
        """Lock that is held while somebody starts *service*, or while it goes away."""
        return self.root / f"{service}.start.lock"

    def record(self, service: str) -> Path:
        """File that tells where *service* listens."""
        return self.root / f"{service}.json"

    def log(self, service: str) -> Path:
        """Log of *service*."""
        return self.root / f"{service}.log"

    def runtime_path(self) -> Path:
        """Where the sockets live, without making it."""
        if self.runtime is not None:
            return self.runtime
        run = self.root / "run"
        longest = len(os.fsencode(run)) + 1 + len("embedder-") + 40 + len(".sock")
        if longest <= SOCKET_PATH_BYTES_MAX:
            return run
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path(f"/tmp/graft-{os.getuid()}") / digest  # noqa: S108 - checked: mine, 0700

    def runtime_directory(self) -> Path:
        """Make the directory of the sockets, mode 0700, and return it.

        Raises:
            UnsafeDirectoryError: see `private_directory`; holds for the /tmp folder's parent too.
                Or its path leaves no room for a socket's name.
        """
        path = self.runtime_path()
        room = SOCKET_PATH_BYTES_MAX - len(os.fsencode(path))
        if room < SOCKET_NAME_BYTES_MIN:
            raise UnsafeDirectoryError(
                f"{path} is {SOCKET_NAME_BYTES_MIN - room} bytes too long to hold sockets; set"
                " GRAFT_RUNTIME to a shorter directory"
            )
        if path.parent.name == f"graft-{os.getuid()}":
            private_directory(path.parent)
        return private_directory(path)

    def leave_runtime_directory(self) -> None:
        """Remove the directory of the sockets where it lies in /tmp and nothing is in it.

        One that is about to bind a socket in it makes it again.
        """
        path = self.runtime_path()
        if self.runtime is None and path.parent != self.root:
            with suppress(OSError):
                path.rmdir()

    def socket(self, service: str) -> Path:
        """Socket of *service*; its name is cut with a digest where it would be too long."""
        name = service
        room = SOCKET_PATH_BYTES_MAX - len(os.fsencode(self.runtime_path())) - len("/.sock")
        if len(name) > room:
            digest = hashlib.sha256(service.encode()).hexdigest()[:8]
            # No model's name has a tilde, so none is the cut name of another.
            name = f"{service[: max(room - 9, 0)]}~{digest}"
        return self.runtime_path() / f"{name}.sock"
