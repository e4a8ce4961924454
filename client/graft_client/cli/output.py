"""Where the command line's words go: data to stdout, talk to stderr, colour to terminals alone."""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

import click

from graft_client.cli.exits import PIPE_CLOSED
from graft_client.cli.tables import print_table
from graft_client.errors import GraftError
from graft_client.json_output import as_json
from graft_client.settings import wants_color

# What could move the cursor, recolour the screen or turn the writing around.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # parts of words and of emoji
_NEWLINES = re.compile(r"\r\n?|\n")
_MARGIN = " " * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one run talks: *as_json* for programs, *quiet* without talk."""

    as_json: bool = False
    quiet: bool = False


class Output:
    """Writes what a command says."""

    def __init__(self, style: Style, *, data: TextIO | None = None) -> None:
        self.as_json = style.as_json
        self.quiet = style.quiet or style.as_json
        self._data = data or sys.stdout
        # A character that the terminal's encoding lacks is written out, never an error.
        for stream in (self._data, sys.stderr):
            if hasattr(stream, "reconfigure"):
                with suppress(OSError):  # what could not be written before cannot be now
                    stream.reconfigure(errors="backslashreplace")
        self._ascii = (self._data.encoding or "ascii").lower().replace("-", "") != "utf8"
        self.terminal = self._data.isatty() and not self.as_json
        self.color = self.terminal and wants_color()
        self.talks_to_terminal = sys.stderr.isatty() and not self.quiet

    def record(self, value: object) -> None:
        """Write one JSON object on a line of stdout."""
        self._write(self._json(as_json(value)))

    def line(self, text: str = "", **style: object) -> None:
        """Write a line of data for people; the style holds on a terminal alone."""
        shown = click.style(text, **style) if self.color and style else text  # type: ignore[arg-type]  # click's own keywords
        self._write(shown)

    def quote(self, text: str, **style: object) -> None:
        """Write what a note says: set in, so that no line of it passes for one of ours."""
        for line in printable(text.rstrip("\n"), multiline=True).split("\n"):
            self.line(_MARGIN + line if line else "", **style)

    def text(self, text: str) -> None:
        """Write *text* and nothing after it; control characters are shown on a terminal."""
        shown = printable(text, multiline=True) if self.terminal else text
        self._write(shown, end="")

    def rendered(self, text: str) -> None:
        """Write what was set for the terminal already, with colours of ours in it."""
        self._write(text, end="")

    def say(self, text: str) -> None:
        """Talk to a person: a line on stderr, unless quiet or for programs."""
        if not self.quiet:
            talk(printable(text, multiline=True))

    def error(self, error: GraftError) -> None:
        """Tell why a command failed, on stderr, whatever the style."""
        if self.as_json:
            content = {"reason": error.reason, "message": error.message, "details": error.details}
            talk(self._json(content))
            return
        talk(f"graft: {printable(error.message, multiline=True)}")

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Write rows: a table on a terminal, else lines of values with tabs between."""
        if not self.terminal:
            for row in rows:
                self._write("\t".join(printable(cell) for cell in row))
            return
        shown = [[printable(cell) for cell in row] for row in rows]
        try:
            columns = shutil.get_terminal_size().columns
            print_table(self._data, headers, shown, width=columns, color=self.color)
        except OSError as error:
            raise self._unwritable(error) from error

    def _json(self, value: object) -> str:
        """Put a value as JSON whose text steers no terminal: what could is an escape there."""
        text = json.dumps(value, ensure_ascii=self._ascii, allow_nan=False)
        return _written_out_if_unsafe(text, as_written=_as_json_escape)

    def _write(self, text: str, *, end: str = "\n") -> None:
        """Write and flush; where nobody reads any more, end as a closed pipe ends programs."""
        try:
            # With color click takes nothing out: what is written to a file is what was saved.
            click.echo(text + end, file=self._data, color=True, nl=False)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> Exception:
        """Say why nothing can be written; where nobody reads any more, it is no failure to tell."""
        if not isinstance(error, BrokenPipeError):
            return GraftError(f"stdout cannot be written: {error.strerror}")
        # The interpreter must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._data.fileno())
        return click.exceptions.Exit(PIPE_CLOSED)


def talk(text: str) -> None:
    """Write a line on stderr; where nobody listens any more, there is nobody to tell."""
    with suppress(OSError):
        click.echo(text, err=True)


class ProgressLine:
    """One line of a terminal's stderr that is written over and over, and cleared at the end."""

    def __init__(self, output: Output) -> None:
        self._on = output.talks_to_terminal
        self._drawn = False

    def draw(self, text: str) -> None:
        """Show *text* in the place of what was there."""
        if self._on:
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()
            self._drawn = True

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._drawn = False


def bar(done: int, total: int, width: int = 24) -> str:
    """Draw a bar and per cent."""
    share = min(done / total, 1.0) if total else 0.0
    filled = int(share * width)
    return f"{'━' * filled}{'─' * (width - filled)} {share:4.0%}"


def printable(text: str, *, multiline: bool = False) -> str:
    """Make *text* safe to show: characters that steer a terminal are written out.

    Line breaks become spaces unless *multiline*; tabs stay in multiline text alone.
    """
    kept = "\n\t" if multiline else ""
    text = _NEWLINES.sub("\n" if multiline else " ", text)
    return _written_out_if_unsafe(text, kept=kept, as_written=_as_python_escape)


def _written_out_if_unsafe(text: str, *, as_written: Callable[[str], str], kept: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(
        character
        if character in kept or character in _JOINERS or not _is_unsafe(character)
        else as_written(character)
        for character in text
    )


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE_CATEGORIES


def _as_python_escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _as_json_escape(character: str) -> str:
    if character == "\x7f":  # the one ASCII character among them that JSON leaves as it is
        return "\\u007f"
    return json.dumps(character)[1:-1]
