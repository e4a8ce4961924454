"""The sources of notes as the caller's project has them: how they are named, and what they are."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os.path import realpath
from pathlib import Path, PurePath

from graft_client.errors import InputError
from graft_client.fingerprints import (
    BLAKE3,
    UNCHECKED,
    Budget,
    Look,
    look_at_commit,
    look_at_file,
)
from graft_client.gitfiles import find_worktree
from graft_client.limits import CONFIRM_BYTES_MAX, CONFIRM_SECONDS
from graft_client.results import Source
from graft_client.scope import PROJECT_PREFIX, Project

LOOK_BYTES_MAX = 1 << 30
LOOK_SECONDS = 60.0
"""The same where somebody asks for just that: saving notes, and ``graft sources``."""


class Surveyor:
    """Looks at sources from one working directory.

    Args:
        project: of the directory; None outside any repository.
        directory: it.
    """

    def __init__(self, project: Project | None, directory: Path) -> None:
        self._project = project
        self._directory = directory
        self._root = find_worktree(directory) or directory

    @property
    def projects(self) -> tuple[str, ...]:
        """The names whose files it can look at; the empty one stands for files of no project."""
        if self._project is None:
            return ("",)
        names = (self._project.scope, self._project.path_scope)
        return (*dict.fromkeys(each.removeprefix(PROJECT_PREFIX) for each in names), "")

    def complete(self, sources: Iterable[Source], budget: Budget) -> tuple[Source, ...]:
        """Name files and commits by the project that they lie in, and take their fingerprints."""
        return tuple(self._complete(each, budget) for each in sources)

    def look(self, source: Source, budget: Budget) -> Look:
        """Look at a source of this project; any other is not looked at."""
        if source.project not in self.projects:
            return UNCHECKED
        if source.kind == "file" and (source.project or PurePath(source.locator).is_absolute()):
            return look_at_file(self._root, source.locator, source.fingerprint, budget)
        if source.kind != "commit" or not source.project:
            return UNCHECKED
        _, colon, path = source.locator.partition(":")
        if colon:
            # What the note knew of the file is compared with what the file is.
            return look_at_file(self._root, path, source.fingerprint or "git:", budget)
        return look_at_commit(self._root, source.locator, budget)

    def _complete(self, source: Source, budget: Budget) -> Source:
        if source.kind not in {"file", "commit"} or source.project or source.fingerprint:
            return source
        if source.kind == "commit":
            if self._project is None:
                return source
            look = look_at_commit(self._root, source.locator, budget)
            return replace(source, project=self._name, fingerprint=look.fingerprint)
        placed = self._placed(source)
        found = look_at_file(self._root, placed.locator, BLAKE3, budget)
        # Of what is not there, or lies outside, nothing is known but its name.
        if not found.fingerprint and not placed.project:
            return source
        return replace(placed, fingerprint=found.fingerprint)

    def _placed(self, source: Source) -> Source:
        """Name a file from the top of its repository, or by its whole path outside of one."""
        typed = self._directory / source.locator
        if not _is_there(typed) and _is_there(self._root / source.locator):
            typed = self._root / source.locator
        try:
            real, top = PurePath(realpath(typed)), PurePath(realpath(self._root))
        except ValueError as error:
            raise InputError(f"{source.locator!r} is no path: {error}") from error
        if self._project is not None and real.is_relative_to(top):
            locator = real.relative_to(top).as_posix()
            return replace(source, locator=locator, project=self._name)
        return replace(source, locator=str(real))

    @property
    def _name(self) -> str:
        return "" if self._project is None else self.projects[0]


def _is_there(path: Path) -> bool:
    """Tell whether a path names something; one that no file can have names nothing."""
    try:
        return path.exists()
    except OSError:  # too long, or in a folder of somebody else's
        return False


def spend_on_answer() -> Budget:
    """Give what looking at one answer's sources may cost."""
    return Budget(CONFIRM_BYTES_MAX, CONFIRM_SECONDS)


def spend_on_looking() -> Budget:
    """Give what it may cost where that is what was asked for."""
    return Budget(LOOK_BYTES_MAX, LOOK_SECONDS)


def look_at_all(surveyor: Surveyor, sources: Sequence[Source], budget: Budget) -> tuple[Look, ...]:
    """Look at each of *sources*, as far as the budget goes."""
    return tuple(surveyor.look(each, budget) for each in sources)
