"""Lends a command the reviewer's role, for the passphrase that is typed on the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from graft_client.cli.keyboard import ask_passphrase
from graft_client.cli.session import Session
from graft_client.errors import GraftError

if TYPE_CHECKING:
    from graft_client.client import Graft

F = TypeVar("F", bound=Callable[..., object])


class NoReviewerError(GraftError):
    """No reviewer has been set up."""

    reason = "NO_REVIEWER"


@contextmanager
def reviewer_of(session: Session) -> Iterator["Graft"]:
    """Ask for the passphrase and lend a memory whose calls are the reviewer's.

    Raises:
        NoReviewerError: no reviewer has been set up.
        NoTerminalError: there is no terminal to ask on.
    """
    graft = session.graft
    if not graft.reviewer().exists:
        raise NoReviewerError(
            "no reviewer has been set up, so nobody can do this; do it on a terminal with: graft "
            "reviewer init"
        )
    with graft.reviewing(ask_passphrase("Reviewer's passphrase: ")) as reviewer:
        yield reviewer


@contextmanager
def acting(session: Session, *, as_reviewer: bool) -> Iterator["Graft"]:
    """Lend the memory as it is, or as the reviewer's where that is wanted."""
    if not as_reviewer:
        yield session.graft
        return
    with reviewer_of(session) as reviewer:
        yield reviewer


def as_reviewer_option(command: F) -> F:
    """Add --as-reviewer to a command."""
    return click.option(
        "--as-reviewer",
        is_flag=True,
        help="Do it as the reviewer; asks for the passphrase on the terminal.",
    )(command)
