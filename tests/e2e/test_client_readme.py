"""The examples of client/README.md print what it says they print."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

ROOT = Path(__file__).parents[2]


@pytest.mark.model
def test_the_examples_of_the_client_run_as_printed(shell: Shell) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "doctest", ROOT / "client" / "README.md", "-o", "ELLIPSIS"],
        cwd=shell.directory,
        env=shell.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")
