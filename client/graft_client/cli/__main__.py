"""The entry of the command line: runs one command and ends with its exit code."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from graft_client.cli.app import graft
from graft_client.cli.exits import DONE, INTERRUPTED, USAGE, code_of
from graft_client.cli.output import Output, Style, talk
from graft_client.errors import GraftError, InputError

HOOK = "hook"


class _InterruptedError(GraftError):
    """A person pressed Ctrl-C."""

    reason = "INTERRUPTED"


def main() -> None:
    """Run the command that the arguments name, and end the process."""
    _replace_closed_streams()
    # What gRPC says of each handshake is not for people; an error tells why in a sentence.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    # The interpreter's own end would take gRPC apart, for 80 ms: a fifth of a whole query.
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every failure is told on stderr."""
    code = _run(arguments)
    # Agents take a hook that fails, by wrong options too, for a refusal of what a person typed.
    return DONE if list(arguments[:1]) == [HOOK] else code


def _run(arguments: Sequence[str]) -> int:
    try:
        code = graft.main(list(arguments), prog_name="graft", standalone_mode=False)
    except click.UsageError as error:
        return _tell_usage(arguments, error)
    except GraftError as error:
        _output(arguments).error(error)
        return code_of(error)
    except (click.Abort, KeyboardInterrupt):
        _output(arguments).error(_InterruptedError("interrupted"))
        return INTERRUPTED
    return code if isinstance(code, int) else DONE


def _tell_usage(arguments: Sequence[str], error: click.UsageError) -> int:
    output = _output(arguments)
    if output.as_json:
        output.error(InputError(error.format_message()))
        return USAGE
    if error.ctx is not None:
        talk(error.ctx.get_usage())
    output.error(InputError(error.format_message()))
    if error.ctx is not None:
        talk(f"graft: see {error.ctx.command_path} --help")
    return USAGE


def _replace_closed_streams() -> None:
    """Put something in the place of standard streams that were closed by whoever started us.

    Otherwise the next file or socket would get their numbers, and what is printed. Writing to such
    an stdout fails, as it should: it is open for reading. Talk is lost without a word.
    """
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free: this one
    sys.stdin = sys.__stdin__ or os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ or os.fdopen(2, "w", closefd=False)


def _output(arguments: Sequence[str]) -> Output:
    """Talk as the command would have; its options may not have been read yet."""
    return Output(Style(as_json="--json" in arguments))


if __name__ == "__main__":
    main()
