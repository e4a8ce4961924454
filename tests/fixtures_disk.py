"""A disk of a few megabytes that a test can fill, where one can be mounted."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

PIECES = (1024 * 1024, 4096, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallDisk:
    """A file system of its own.

    Attributes:
        root: where it is mounted.
    """

    root: Path

    def fill(self) -> None:
        """Leave no byte of room."""
        with self._ballast.open("ab", buffering=0) as file:
            for piece in PIECES:
                with suppress(OSError):
                    while True:
                        os.write(file.fileno(), b"x" * piece)

    def free(self) -> None:
        """Make room again."""
        self._ballast.unlink()

    @property
    def _ballast(self) -> Path:
        return self.root / "ballast"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Mount a file system of 16 MiB, or skip the test with the reason why that cannot be."""
    root = tmp_path / "disk"
    root.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "none", root],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no program that mounts a small file system")
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    yield SmallDisk(root=root)
    subprocess.run(["umount", "--lazy", root], check=True)
