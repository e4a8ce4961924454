"""The command line on a terminal, as a person has it."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

GRAFT = Path(sys.executable).with_name("graft")
SECONDS = 30.0


def run_on_terminal(
    *arguments: str,
    at: Path,
    around: Mapping[str, str],
    typed: str = "",
    out: IO[bytes] | None = None,
) -> tuple[int, str]:
    """Run ``graft`` in *at* on a terminal of 100 columns; return exit code and screen.

    What goes to stdout goes to the file *out*, if there is one.
    """
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [GRAFT, *arguments],
        stdin=theirs,
        stdout=out or theirs,
        stderr=theirs,
        cwd=at,
        env={"TERM": "xterm-256color", "COLUMNS": "100", **around},
    )
    os.close(theirs)
    os.write(mine, typed.encode())
    screen = _read_all(mine)
    os.close(mine)
    return process.wait(SECONDS), screen


def _read_all(descriptor: int) -> str:
    content = b""
    end = time.monotonic() + SECONDS
    while select.select([descriptor], [], [], max(end - time.monotonic(), 0))[0]:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # how Linux says that the other side has been closed
            break
        if not piece:
            break
        content += piece
    return content.decode()
