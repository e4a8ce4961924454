"""Asks a person on the terminal device itself, which no pipe, variable or flag can stand in for."""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from graft_client.errors import GraftError, InputError

TERMINAL = "/dev/tty"
ANSWER_BYTES_MAX = 8_192


class NoTerminalError(GraftError):
    """There is no terminal to ask on."""

    reason = "NO_TERMINAL"


def ask_passphrase(prompt: str) -> str:
    """Ask for a passphrase, which is not shown.

    Raises:
        NoTerminalError: the process has no terminal.
        InputError: nothing was typed, or no text.
    """
    with _terminal() as descriptor, _without_echo(descriptor):
        os.write(descriptor, prompt.encode())
        raw = _read_line(descriptor)
        os.write(descriptor, b"\n")
    try:
        typed = raw.decode("utf-8")
    except UnicodeDecodeError:
        # Without a cause: that would hold what was typed.
        raise InputError("what was typed is no UTF-8; set the terminal to it") from None
    if not typed:
        raise InputError("no passphrase was typed; nothing was done")
    return typed


@contextmanager
def _terminal() -> Iterator[int]:
    try:
        descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise NoTerminalError(
            "the reviewer's passphrase is typed on a terminal, and there is none here; open one "
            "and run the same command there"
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _without_echo(descriptor: int) -> Iterator[None]:
    """Show nothing of what is typed meanwhile, and forget what was typed before."""
    before = termios.tcgetattr(descriptor)
    silent = [*before]
    silent[3] = int(silent[3]) & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSAFLUSH, silent)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)


def _read_line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n") and len(line) < ANSWER_BYTES_MAX:
        piece = os.read(descriptor, ANSWER_BYTES_MAX)
        if not piece:
            break
        line += piece
    return line.rstrip(b"\r\n")
