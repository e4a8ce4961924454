"""The two options about secrets of every command that saves notes, and what is said of findings."""

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, TypeVar

import click

from graft_client.cli.output import Output, printable
from graft_client.errors import InputError
from graft_client.results import Inserted, short_id
from graft_client.secret_findings import SecretFinding, finding_words

if TYPE_CHECKING:
    from graft_client.requests import SecretsWish

R = TypeVar("R")

SAID_MAX = 10
"""Findings that many notes together are told of."""


def secrets_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add --strict-secrets and --allow-secret to a command, which gets them as one: *secrets*.

    Raises:
        InputError: both are given; raised when the command is called.
    """

    def called(
        *arguments: object, strict_secrets: bool, allow_secret: bool, **keywords: object
    ) -> R:
        if strict_secrets and allow_secret:
            raise InputError(
                "--strict-secrets and --allow-secret cannot both be meant; leave one out"
            )
        secrets: SecretsWish = "strict" if strict_secrets else "allow" if allow_secret else ""
        return command(*arguments, secrets=secrets, **keywords)

    strict = click.option(
        "--strict-secrets", is_flag=True, help="Save nothing that holds what looks like a secret."
    )
    allow = click.option(
        "--allow-secret",
        is_flag=True,
        help="What looks like a secret is meant; the log records that, without the text.",
    )
    return strict(allow(update_wrapper(called, command)))


class FoundSecrets:
    """Collects what was saved and looks like a secret, and says it at the end, with what to do.

    Args:
        secrets: what was asked for; of what is meant nothing is said.
    """

    def __init__(self, secrets: "SecretsWish") -> None:
        self._meant = secrets == "allow"
        self._first: list[tuple[str, SecretFinding]] = []
        self._count = 0

    def add(self, inserted: Inserted) -> None:
        """Take what was found in one note."""
        room = SAID_MAX - len(self._first)
        self._first += [(inserted.id, each) for each in inserted.findings[:room]]
        self._count += len(inserted.findings) + inserted.findings_more

    def say(self, output: Output) -> None:
        """Say it on stderr; nothing where nothing was found."""
        if self._meant or not self._first:
            return
        for note_id, finding in self._first:
            output.say(f"graft: {short_id(note_id)}: {printable(finding_words(finding))}")
        if self._count > len(self._first):
            output.say(f"graft: and {self._count - len(self._first):,} more")
        output.say(
            "graft: it is saved, and is handed out with the note. If it is a secret, change it"
            " where it is used and then: graft delete ID; if it is meant, say so with"
            " --allow-secret"
        )
