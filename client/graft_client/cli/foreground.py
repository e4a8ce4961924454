"""Runs a program of the person's own choice on the terminal: an editor, a pager. No shell."""

import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from graft_client.errors import GraftError, InputError

_STDERR = 2
EDITORS = ("nano", "vi")
"""Tried in turn where nobody chose one and there is a terminal."""


class EditorError(GraftError):
    """The editor could not be run, or said that it failed."""

    reason = "EDITOR"


def edit(path: Path, environ: Mapping[str, str]) -> None:
    """Let the person edit the file *path*, and wait until the editor has ended.

    Raises:
        EditorError: there is none, or it ended with an error.
    """
    command = editor_of(environ)
    # What an editor prints is no data of ours.
    out = None if sys.stdout.isatty() else _STDERR
    try:
        with left_to_the_program():
            done = subprocess.run([*command, str(path)], stdout=out, check=False)  # noqa: S603 - theirs
    except OSError as error:
        raise EditorError(
            f"the editor {command[0]} cannot be run: {error.strerror}; set VISUAL or EDITOR to"
            " another"
        ) from error
    if done.returncode:
        raise EditorError(
            f"nothing was saved: the editor {command[0]} ended with {done.returncode}"
        )


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """Give the command of the person's editor.

    Raises:
        EditorError: there is none.
    """
    for variable in ("VISUAL", "EDITOR"):
        if environ.get(variable, "").strip():
            return words_of(variable, environ[variable])
    if sys.stdin.isatty() and sys.stderr.isatty():
        for name in EDITORS:
            if found := shutil.which(name, path=environ.get("PATH")):
                return [found]
    raise EditorError("no editor is known; set VISUAL or EDITOR, for example: export EDITOR=vi")


def words_of(variable: str, text: str) -> list[str]:
    """Take the command in a variable apart as a shell would, without one.

    Raises:
        InputError: its quotes do not fit.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"{variable} cannot be meant: {error}") from error


def page(text: str, command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Show *text* in a pager; tell whether it could be run."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the person's own program
            command, stdin=subprocess.PIPE, env=dict(environ)
        )
    except OSError:
        return False
    with left_to_the_program():
        # A pager that is left early reads no further, which is no failure.
        process.communicate(text.encode("utf-8", "backslashreplace"))
    return True


@contextmanager
def left_to_the_program() -> Iterator[None]:
    """Leave Ctrl-C to the program that is in front.

    Ignoring it would be handed down to the program; a handler of ours is not.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
