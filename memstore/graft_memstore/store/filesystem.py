"""Whether SQLite's write-ahead log is safe where a file lies.

The log needs memory that every process shares. Network and pass-through file systems do not
give it, or pretend to (sqlite.org/wal.html, "Sometimes Queries Return SQLITE_BUSY" and "Use of
WAL Without Shared-Memory"); there the rollback journal is slower and right.
"""

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

SHARED_MEMORY_UNSAFE = frozenset(
    {
        "9p",
        "afpfs",
        "afs",
        "ceph",
        "cifs",
        "davfs",
        "drvfs",
        "fuse",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
        "webdav",
    }
)
"""File system types, as the kernel names them, on which the log is not used. "fuse" stands for
every "fuse.<name>": what is behind one cannot be known."""


def file_system_of(path: Path, mounts: str) -> str:
    """Return the type of the file system that *path* lies on, empty when *mounts* has none.

    Args:
        path: an absolute path without links.
        mounts: content of ``/proc/self/mountinfo``.
    """
    best, kind = -1, ""
    for line in mounts.splitlines():
        mount, _, source = line.partition(" - ")
        fields, tail = mount.split(" "), source.split(" ")
        if len(fields) < 5 or not tail[0]:  # noqa: PLR2004 - the mount point is the fifth field
            continue
        point = Path(_unescape(fields[4]))
        # A later mount on the same point hides the earlier one.
        if len(point.parts) >= best and path.is_relative_to(point):
            best, kind = len(point.parts), tail[0]
    return kind


def write_ahead_log_is_safe(file_system: str) -> bool:
    """Tell whether the write-ahead log may be used on *file_system*; an unknown one may."""
    return file_system.partition(".")[0] not in SHARED_MEMORY_UNSAFE


def read_mounts() -> str:
    """Return the kernel's list of mounts, empty on a system without one."""
    try:
        return MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _unescape(point: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point)
