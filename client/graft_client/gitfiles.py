"""What git's own files tell about a directory: its repository and that repository's remotes.

git is not asked: it may be missing, it obeys GIT_DIR, and it refuses repositories of others.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CONFIG_BYTES_MAX = 1 << 20
POINTER_BYTES_MAX = 8 << 10

_SECTION = re.compile(r'\s*\[\s*([-.A-Za-z0-9]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_VARIABLE = re.compile(r"\s*([A-Za-z][-A-Za-z0-9]*)\s*(?:=\s*(.*))?", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository, whichever of its worktrees it was found from.

    Attributes:
        root: the main worktree's top, or the repository itself where it is bare.
        config: the repository's config file.
    """

    root: Path
    config: Path


def find_repository(directory: Path) -> Repository | None:
    """Find the repository that *directory* lies in, or None; linked worktrees are followed."""
    start = Path(os.path.realpath(directory))
    for folder in (start, *start.parents):
        marker = folder / ".git"
        if marker.is_file():
            return _pointed_to(folder, marker)
        if _is_git_directory(marker):
            return _repository_of(Path(os.path.realpath(marker)), worktree=folder)
        if _is_git_directory(folder):
            return _repository_of(folder, worktree=folder)
    return None


def find_worktree(directory: Path) -> Path | None:
    """Find the top of the worktree that *directory* lies in, a linked one's own; None without."""
    start = Path(os.path.realpath(directory))
    for folder in (start, *start.parents):
        marker = folder / ".git"
        if marker.is_file() or _is_git_directory(marker):
            return folder
    return None


def remote_urls(config: Path) -> dict[str, str]:
    """Read each remote's first address from a git config file; files it includes are not read."""
    urls: dict[str, str] = {}
    for section, key, value in _variables(_read(config, CONFIG_BYTES_MAX)):
        kind, _, name = section.partition(".")
        if kind == "remote" and name and key == "url" and value:
            urls.setdefault(name, value)
    return urls


def _is_git_directory(path: Path) -> bool:
    return (path / "HEAD").is_file() and ((path / "objects").is_dir() or _has_common(path))


def _has_common(path: Path) -> bool:
    return (path / "commondir").is_file()


def _pointed_to(folder: Path, marker: Path) -> Repository:
    """Follow a ``.git`` file, which worktrees and submodules have instead of a directory."""
    target = _read(marker, POINTER_BYTES_MAX).strip().removeprefix("gitdir:").strip()
    return _repository_of(Path(os.path.realpath(folder / target)), worktree=folder)


def _repository_of(git_directory: Path, *, worktree: Path) -> Repository:
    if not _has_common(git_directory):
        root = git_directory.parent if git_directory.name == ".git" else worktree
        return Repository(root=root, config=git_directory / "config")
    pointer = _read(git_directory / "commondir", POINTER_BYTES_MAX).strip()
    common = Path(os.path.realpath(git_directory / pointer))
    root = common.parent if common.name == ".git" else common
    return Repository(root=root, config=common / "config")


def _read(path: Path, bytes_max: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(bytes_max).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _variables(text: str) -> Iterator[tuple[str, str, str]]:
    """Give (section, key, value) of git's config syntax; section is ``remote.origin``."""
    section = ""
    for line in _logical_lines(text):
        rest = line
        header = _SECTION.match(line)
        if header:
            name = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else None
            # [remote.origin] is the old way to write [remote "origin"].
            section = header[1].lower() if name is None else f"{header[1].lower()}.{name}"
            rest = line[header.end() :]
        variable = _VARIABLE.match(rest)
        if variable:
            yield section, variable[1].lower(), _value(variable[2] or "")


def _logical_lines(text: str) -> Iterator[str]:
    """Join lines that end with a backslash, as git does."""
    held = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            held += line[:-1]
        else:
            yield held + line
            held = ""
    yield held


def _value(raw: str) -> str:
    """Read a value: quotes go, escapes are undone, an unquoted # or ; begins a comment."""
    out: list[str] = []
    kept = 0  # trailing white space counts only inside quotes
    quoted = escaped = False
    for character in raw:
        if escaped:
            out.append(_ESCAPES.get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
            continue
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            out.append(character)
        if quoted or not character.isspace():
            kept = len(out)
    return "".join(out[:kept])
