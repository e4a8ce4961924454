"""Reads one requirement that names an exact version."""

import re

Pin = tuple[str, str]
"""A name and its version."""

LINE_CHARS_MAX = 1_000
"""Nothing is looked for beyond this many characters of a line."""

_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\]\s*)?={2,3}\s*"
    r"([A-Za-z0-9][A-Za-z0-9.!+_-]*)(?![A-Za-z0-9.!+_*-])\s*(?!,)"
)
_SEMVER = re.compile(r"[v=]?([0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?)")


def pinned_requirement(text: str) -> Pin | None:
    """Read a Python requirement such as ``django[argon2]==5.1``; None for a range."""
    found = _REQUIREMENT.match(text[:LINE_CHARS_MAX])
    return None if found is None else (found[1], found[2])


def pinned_version(text: str) -> str | None:
    """Read an exact version of three numbers; None for a range, a tag, an address."""
    found = _SEMVER.fullmatch(text.strip()[:LINE_CHARS_MAX])
    return None if found is None else found[1]
