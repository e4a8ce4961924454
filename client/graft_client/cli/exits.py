"""The exit codes of the command line, and which error ends with which."""

from typing import NamedTuple

from graft_client.errors import (
    DeadlineError,
    GraftError,
    InputError,
    NobodyAnsweredError,
    SettingsError,
)

DONE = 0
REFUSED = 1
USAGE = 2
NOBODY = 3
NOT_STRONG = 4
INTERRUPTED = 130
PIPE_CLOSED = 141


class ExitCode(NamedTuple):
    """One exit code, as the reference shows it."""

    code: int
    meaning: str


EXIT_CODES = (
    ExitCode(DONE, "done"),
    ExitCode(REFUSED, "refused by the service; `doctor` or `log --verify` found something wrong"),
    ExitCode(USAGE, "wrong usage: an argument or a setting that cannot be meant"),
    ExitCode(NOBODY, "nobody answered, or not in time"),
    ExitCode(NOT_STRONG, "`query --exit-status` found nothing STRONG"),
    ExitCode(INTERRUPTED, "interrupted with Ctrl-C"),
    ExitCode(PIPE_CLOSED, "whoever read the output has gone"),
)


def code_of(error: GraftError) -> int:
    """Give the exit code that *error* ends with."""
    if isinstance(error, (InputError, SettingsError)):
        return USAGE
    if isinstance(error, (NobodyAnsweredError, DeadlineError)):
        return NOBODY
    return REFUSED
