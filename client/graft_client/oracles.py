"""Looks at what a note is to be verified by: a commit of the repository here, or a command."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graft_client.errors import GraftError, InputError
from graft_client.gitfiles import find_repository

GIT_SECONDS = 30
PIECE_BYTES = 64 << 10


class CheckFailedError(GraftError):
    """What was to verify a note does not."""

    reason = "CHECK_FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a command ended, and the SHA-256 of what it printed."""

    exit_code: int
    output_digest: str


def commit_that_touches(directory: Path, commit: str, locators: Sequence[str]) -> str:
    """Return the whole hash of a commit that changes one of the files that *locators* name.

    Raises:
        InputError: there is no repository, or no such commit.
        CheckFailedError: it changes none of them.
    """
    if not locators:
        raise CheckFailedError(
            "the note names no file that it comes from, so no commit can touch one; verify it "
            "with --run COMMAND"
        )
    repository = find_repository(directory)
    if repository is None:
        raise InputError(f"{directory} lies in no git repository; go to the one of the commit")
    found = _git(
        directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
    ).strip()
    if not found:
        raise InputError(f"{commit} is no commit of the repository {repository.root}")
    top = Path(_git(directory, "rev-parse", "--show-toplevel").strip() or directory)
    changed = _git(
        directory, "diff-tree", "--root", "-m", "-r", "-z", "--no-commit-id", "--name-only", found
    )
    paths = {PurePosixPath(each) for each in changed.split("\0") if each}
    wanted = {path for locator in locators for path in _forms(locator, top, directory)}
    if not paths & wanted:
        raise CheckFailedError(
            f"commit {found[:12]} touches none of the note's files ({', '.join(locators[:3])})"
        )
    return found


def run_command(command: str, directory: Path, show: Callable[[bytes], None]) -> Run:
    """Run a command of the shell to its end; *show* gets what it prints, as it comes."""
    digest = hashlib.sha256()
    with subprocess.Popen(  # noqa: S603 - the person's own command
        ["/bin/sh", "-c", command],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None, "it is a pipe"
        while piece := os.read(process.stdout.fileno(), PIECE_BYTES):
            digest.update(piece)
            show(piece)
    return Run(exit_code=process.returncode, output_digest=digest.hexdigest())


def _forms(locator: str, top: Path, directory: Path) -> set[PurePosixPath]:
    """Return the paths in the repository that a locator may mean: from its top, or from here."""
    name = locator.partition("#")[0]
    found = {PurePosixPath(os.path.normpath(name))}
    for base in (directory, top):
        absolute = Path(os.path.realpath(base / name))
        if absolute.is_relative_to(top):
            found.add(PurePosixPath(absolute.relative_to(top).as_posix()))
    return found


def _git(directory: Path, *arguments: str) -> str:
    """Return what git prints; nothing where it fails.

    Raises:
        InputError: git is not there.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, no shell
            ["git", *arguments],  # noqa: S607 - the person's own git, from their PATH
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise InputError("git is not installed, so no commit can be looked at") from error
    except subprocess.TimeoutExpired as error:
        raise CheckFailedError(f"git did not answer within {GIT_SECONDS} s") from error
    return os.fsdecode(done.stdout) if done.returncode == 0 else ""
