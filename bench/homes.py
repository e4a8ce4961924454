"""A home to measure in: temporary, with the models of the caller's own one."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GRAFT = Path(sys.executable).with_name("graft")
MODELS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graft" / "test-models"


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Make a home that is removed, and whose daemons are ended, at the end of the block."""
    MODELS.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
        home = Path(folder)
        (home / "models").symlink_to(MODELS)
        try:
            yield home
        finally:
            graft(home, "stop", "--force")


def graft(home: Path, *arguments: str) -> str:
    """Run ``graft`` in *home* and return what it printed."""
    done = subprocess.run(
        [GRAFT, *arguments],
        env={**os.environ, "GRAFT_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout
