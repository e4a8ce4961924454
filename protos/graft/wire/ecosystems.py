"""How packages, tools and systems are called, so that a note and a project mean the same one.

A note says what it applies to, and whoever asks says what is there, each as ECOSYSTEM:NAME and a
range or a version. Both ends bring a name into one form by `canonical_name`.
"""

import re
from enum import StrEnum


class Ecosystem(StrEnum):
    """Where a name comes from, and with it how names and versions are written."""

    PYPI = "pypi"
    NPM = "npm"
    CARGO = "cargo"
    GO = "go"
    GEM = "gem"
    LANG = "lang"
    TOOL = "tool"
    OS = "os"


SYSTEMS = ("linux", "macos", "windows")
"""The operating systems that a note can apply to."""

_SYSTEM_ALIASES = {
    "darwin": "macos",
    "mac": "macos",
    "osx": "macos",
    "win": "windows",
    "win32": "windows",
}
_RUNS = re.compile(r"[-_.]+")


def canonical_name(ecosystem: Ecosystem, name: str) -> str:
    """Return the one form of all spellings of *name*.

    PyPI's names go by PEP 503, crates take hyphens for underscores, Go's paths and gems are as
    they stand, and everything but these two is lower-case.
    """
    if ecosystem in (Ecosystem.GO, Ecosystem.GEM):
        return name
    lower = name.lower()
    if ecosystem is Ecosystem.PYPI:
        return _RUNS.sub("-", lower)
    if ecosystem is Ecosystem.CARGO:
        return lower.replace("_", "-")
    if ecosystem is Ecosystem.OS:
        return _SYSTEM_ALIASES.get(lower, lower)
    return lower


def system_of(platform: str) -> str | None:
    """Return the operating system that Python's ``sys.platform`` names; None for another."""
    if platform.startswith("linux"):
        return "linux"
    return {"darwin": "macos", "win32": "windows", "cygwin": "windows"}.get(platform)
