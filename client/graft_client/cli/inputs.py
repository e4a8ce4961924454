"""Reading what a command is given: texts from arguments, files and pipes, and times."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from graft_client.cli.output import Output
from graft_client.cli.words import binary_size
from graft_client.errors import BadFieldError, GraftError, InputError
from graft_client.requests import AsOfFields
from graft_client.times import parse_since, parse_time, parse_until

STDIN = "-"


class InstantType(click.ParamType):  # type: ignore[type-arg]  # older click is not generic
    """An instant, by whatever *read* takes for one."""

    def __init__(self, name: str, read: Callable[[str], datetime]) -> None:
        self.name = name
        self._read = read

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Read *value*; what cannot be meant is refused with the reason."""
        if isinstance(value, datetime):
            return value
        try:
            return self._read(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)


TIME = InstantType("time", parse_time)
"""An RFC 3339 instant with an offset."""
SINCE = InstantType("since", lambda text: parse_since(text, datetime.now(UTC)))
"""A duration before now, a day, or such an instant."""

UNTIL = InstantType("until", lambda text: parse_until(text, datetime.now(UTC)))
"""A duration from now on, or such an instant."""

F = TypeVar("F", bound=Callable[..., object])


def looking_back(command: F) -> F:
    """Add --valid-at and --known-at to a command, which is called with `instants`."""

    @wraps(command)
    def called(
        *arguments: object,
        valid_at: datetime | None,
        known_at: datetime | None,
        **keywords: object,
    ) -> object:
        instants = AsOfFields(valid_at=valid_at, known_at=known_at)
        return command(*arguments, instants=instants, **keywords)

    with_known_at = click.option(
        "--known-at", type=TIME, metavar="TIME", help="What was known then, as it was recorded."
    )(called)
    with_both = click.option("--valid-at", type=TIME, metavar="TIME", help="What was true then.")(
        with_known_at
    )
    return cast("F", with_both)


def confirm(output: Output, *, verb: str, what: str, why: str = "It cannot be undone") -> None:
    """Ask for the word before something is done that should not be done by mistake.

    Raises:
        GraftError: the answer was another.
        InputError: there is no terminal to ask on.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or output.as_json:
        raise InputError(
            f"{verb} {what}? {why}, and there is no terminal to ask on; add --yes to mean it"
        )
    answer = click.prompt(
        f"{verb.capitalize()} {what}? {why}. Type yes",
        default="no",
        show_default=False,
        err=True,
    )
    if answer.strip().lower() != "yes":
        raise GraftError(f"nothing was {verb}d")


def complete_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell offer its files."""
    return [CompletionItem(incomplete, type="file")]


def read_text(field: str, source: str, bytes_max: int) -> str:
    """Read a text from the file *source*, "-" for stdin, at most *bytes_max* bytes.

    Raises:
        BadFieldError: it is longer; the same refusal as the service's own.
        InputError: it cannot be read, or is no UTF-8.
    """
    try:
        if source == STDIN:
            content = _read(sys.stdin.buffer, bytes_max)
        else:
            with Path(source).open("rb") as file:
                content = _read(file, bytes_max)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror}") from error
    if len(content) > bytes_max:
        raise BadFieldError(
            f"{field}: longer than {binary_size(bytes_max)} of UTF-8 ({bytes_max:,} bytes), the"
            " most that it may have",
            reason="BAD_FIELD",
            details={f"field:{field}": f"at most {bytes_max:,} bytes"},
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        name = "stdin" if source == STDIN else source
        raise InputError(
            f"{name} is no UTF-8 (byte {error.start}); convert it, for example with: iconv -t UTF-8"
        ) from error


def _read(file: BinaryIO, bytes_max: int) -> bytes:
    """Read one byte more than may be, to see whether there is more."""
    return file.read(bytes_max + 1)
