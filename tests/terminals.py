"""The command line on a terminal, as a person has it."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GRAFT = Path(sys.executable).with_name("graft")
SECONDS = 30.0
TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal on stdin the one that controls the session, as a login does."""


def run_on_terminal(
    *arguments: str,
    at: Path,
    around: Mapping[str, str],
    typed: str = "",
    out: IO[bytes] | None = None,
    detached: bool = False,
) -> tuple[int, str]:
    """Run ``graft`` in *at* on a terminal of 100 columns; return exit code and screen.

    What goes to stdout goes to the file *out*, if there is one. *detached*: its session has no
    terminal, whatever stands behind its input, as after setsid.
    """
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [GRAFT, *arguments],
        stdin=theirs,
        stdout=out or theirs,
        stderr=theirs,
        cwd=at,
        env={"TERM": "xterm-256color", "COLUMNS": "100", **around},
        start_new_session=detached,
    )
    os.close(theirs)
    os.write(mine, typed.encode())
    screen = _read_all(mine)
    os.close(mine)
    return process.wait(SECONDS), screen


def run_at_keyboard(
    *arguments: str, at: Path, around: Mapping[str, str], typed: Sequence[tuple[str, str | None]]
) -> tuple[int, str]:
    """Run ``graft`` as a login does, with a terminal that controls it; return code and screen.

    *typed* is what is typed, each line as soon as the words before it are on the screen; None
    closes the terminal.
    """
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, GRAFT, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=at,
        env={"TERM": "dumb", "COLUMNS": "100", **around},
        start_new_session=True,
    )
    os.close(theirs)
    answers, screen, seen = list(typed), b"", 0
    end = time.monotonic() + SECONDS
    while select.select([mine], [], [], max(end - time.monotonic(), 0))[0]:
        try:
            piece = os.read(mine, 4096)
        except OSError:  # how Linux says that the other side has been closed
            break
        if not piece:
            break
        screen += piece
        if answers and answers[0][0].encode() in screen[seen:]:
            seen = len(screen)
            line = answers.pop(0)[1]
            if line is None:
                break
            os.write(mine, f"{line}\n".encode())
    os.close(mine)
    return process.wait(SECONDS), screen.decode()


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
