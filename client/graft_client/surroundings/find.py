"""Finds the versions of a few names in the project of a directory; never an error, never long."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from graft.wire.ecosystems import Ecosystem, canonical_name
from graft_client.limits import SPEC_CHARS_MAX
from graft_client.surroundings.files import UnreadableError, read_text
from graft_client.surroundings.formats import FORMATS, Format
from graft_client.surroundings.pins import Pin

SECONDS_MAX = 2.0
"""After so long no further file is begun."""
FOLDERS_MAX = 32
"""Folders from the directory up to its repository's top that are looked into."""
FILES_MAX = 8
"""Files of one pattern, such as requirements*.txt, that are read in one folder."""
ENTRIES_MAX = 10_000
"""Entries of a folder among which a pattern is looked for."""
VERSIONS_MAX = 16
"""Versions of one name that are given; a service takes no more."""

_Missing = dict[Ecosystem, set[str]]
_Found = dict[tuple[Ecosystem, str], dict[str, None]]


def find_versions(
    directory: Path,
    wanted: Sequence[str],
    say: Callable[[str], None],
    seconds: Callable[[], float] = time.monotonic,
) -> tuple[str, ...]:
    """Return context entries, such as ``pypi:django@5.1``, of the names that a project knows.

    Looked into are the directory and, inside a repository, those above it up to its top; the
    nearest file that knows a name decides.

    Args:
        directory: the working directory.
        wanted: names as the service gives them, ECOSYSTEM:NAME.
        say: is told about a file that had to be left out.
        seconds: a clock that only goes forward.
    """
    missing = _by_ecosystem(wanted)
    found: _Found = {}
    until = seconds() + SECONDS_MAX
    for path, kind in _files(directory):
        ecosystems = [each for each in kind.ecosystems if missing.get(each)]
        if not ecosystems:
            continue
        if seconds() > until:
            say(f"{path} and what follows were not looked at: that would take too long")
            break
        pins = _read(path, kind, say)
        for ecosystem in ecosystems:
            _take(pins, ecosystem, missing[ecosystem], found)
    return tuple(
        _entry(ecosystem, name, version)
        for (ecosystem, name), versions in found.items()
        for version in versions
    )


def _by_ecosystem(wanted: Sequence[str]) -> _Missing:
    missing: _Missing = {}
    known = {str(each): each for each in Ecosystem}
    for text in wanted:
        prefix, _, name = text.partition(":")
        if prefix in known:
            missing.setdefault(known[prefix], set()).add(name)
    return missing


def _files(directory: Path) -> Iterator[tuple[Path, Format]]:
    for folder in islice(_folders(directory), FOLDERS_MAX):
        for kind in FORMATS:
            if "*" in kind.pattern:
                yield from ((path, kind) for path in _matching(folder, kind.pattern))
            else:
                yield folder / kind.pattern, kind


def _folders(directory: Path) -> Iterator[Path]:
    """Give the folder and, if it lies in a repository, those above it up to the top."""
    start = Path(os.path.realpath(directory))
    chain = (start, *start.parents)
    top = next((place for place, each in enumerate(chain) if os.path.lexists(each / ".git")), 0)
    yield from chain[: top + 1]


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, ENTRIES_MAX)]
    except OSError:
        return []
    return [folder / name for name in sorted(names) if fnmatchcase(name, pattern)][:FILES_MAX]


def _read(path: Path, kind: Format, say: Callable[[str], None]) -> list[Pin]:
    try:
        text = read_text(path, kind.bytes_max)
        return [] if text is None else list(kind.read(text))
    except UnreadableError as error:
        say(f"{path} is left out: {error}")
    except (ValueError, RecursionError) as error:
        say(f"{path} is left out, since it is broken: {error}")
    return []


def _take(pins: Sequence[Pin], ecosystem: Ecosystem, missing: set[str], found: _Found) -> None:
    """Move the names that *pins* tell from *missing* to *found*."""
    told: set[str] = set()
    for name, version in pins:
        canonical = canonical_name(ecosystem, name)
        if canonical in missing and _is_sendable(ecosystem, canonical, version):
            versions = found.setdefault((ecosystem, canonical), {})
            if len(versions) < VERSIONS_MAX:
                versions[version] = None
            told.add(canonical)
    missing -= told


def _is_sendable(ecosystem: Ecosystem, name: str, version: str) -> bool:
    """Tell whether the service would take the entry: one that it refuses would fail the query."""
    entry = _entry(ecosystem, name, version)
    return version.isascii() and version.isprintable() and len(entry) <= SPEC_CHARS_MAX


def _entry(ecosystem: Ecosystem, name: str, version: str) -> str:
    return f"{ecosystem}:{name}@{version}"
