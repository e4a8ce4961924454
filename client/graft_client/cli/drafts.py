"""Drafts of notes: private files in the home, kept until what they say is saved."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

import click

from graft.wire.paths import Home, private_directory
from graft_client.cli.output import Output
from graft_client.errors import GraftError

PREFIX, ENDING = "note-", ".md"


class NothingSavedError(GraftError):
    """There was nothing to save."""

    reason = "NOTHING_SAVED"


def folder_of(home: Home) -> Path:
    """Give the folder of a home's drafts; it may not be there."""
    return home.root / "drafts"


def new_draft(home: Home, text: str) -> Path:
    """Write a draft, mode 0600.

    Raises:
        GraftError: it cannot be written.
    """
    try:
        home.create()
        descriptor, name = mkstemp(
            dir=private_directory(folder_of(home)), prefix=PREFIX, suffix=ENDING
        )
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise GraftError(f"no draft can be written: {error.strerror or error}") from error
    return Path(name)


def last_draft(home: Home) -> Path:
    """Find the draft that was changed last.

    Raises:
        GraftError: there is none.
    """
    found = [(each.stat().st_mtime_ns, each) for each in folder_of(home).glob(f"{PREFIX}*{ENDING}")]
    if not found:
        raise GraftError(f"there is no draft in {folder_of(home)}; begin one with: graft note")
    return max(found)[1]


def discard(home: Home, draft: Path) -> None:
    """Remove a draft; a file that lies elsewhere is somebody's own and stays."""
    if draft.parent.resolve() == folder_of(home).resolve():
        with suppress(OSError):
            draft.unlink()


@contextmanager
def kept(home: Home, draft: Path, output: Output, *, fresh: bool) -> Iterator[None]:
    """Name the draft whenever the block fails; remove it when it did not, or nothing was in it.

    A *fresh* one that nobody touched holds nothing.
    """
    before = draft.read_bytes()
    where = f"the draft is kept in {draft}; go on with: graft note --resume"
    try:
        yield
    except NothingSavedError:
        discard(home, draft)
        raise
    except GraftError as error:
        if fresh and _is_still(draft, before):
            discard(home, draft)
        else:
            error.message += f"; {where}"
            error.details["draft"] = str(draft)
        raise
    except (KeyboardInterrupt, click.Abort):
        output.say(f"graft: {where}")
        raise
    discard(home, draft)


def _is_still(draft: Path, before: bytes) -> bool:
    try:
        return draft.read_bytes() == before
    except OSError:
        return False
