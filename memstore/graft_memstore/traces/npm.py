"""What npm says over several lines: its code, and which package it is about."""

import re

from graft_memstore.traces.lines import Pasted

TOLD_LINES_MAX = 2
"""Lines that say what it is about: what failed, and for which package."""
BLOCK_LINES_MAX = 24
"""Lines of npm's that are looked at for one error."""

_NPM = re.compile(r"npm (?:ERR!|error)(?: |$)")
_CODE = re.compile(r"npm (?:ERR!|error) code (?P<code>[A-Z][A-Z0-9_]{2,40})\s*$")
_PEER = re.compile(r"peer (?P<wanted>@?[^@\s]{1,100})@.* from (?P<by>@?[^@\s]{1,100})@")
_FACT = re.compile(r"(?:code|syscall|path|errno|dest|command|cwd|node|npm) ", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z']{2,} +\S+ +\S")
_REPEATED = re.compile(r"(?:[a-z0-9]{3,14}|E[A-Z]{3,14}|\d{3})(?= +[A-Z'\"])")


def npm_failure(pasted: Pasted, place: int) -> tuple[str, str] | None:
    """Return the code that npm names on line *place* and what it is about, None for other lines."""
    found = _CODE.search(pasted.lines[place])
    if found is None:
        return None
    told: list[str] = []
    for at in range(place + 1, min(place + BLOCK_LINES_MAX, len(pasted.lines))):
        if not _NPM.search(pasted.lines[at]):
            break
        line = pasted.bare(at).strip()
        peer = _PEER.search(line)
        if peer:
            return found["code"], f"could not resolve peer {peer['wanted']} from {peer['by']}"
        if len(told) < TOLD_LINES_MAX and _WORDS.search(line) and not _FACT.match(line):
            told.append(_REPEATED.sub("", line, count=1).strip())
    return found["code"], ", ".join(told)


def begins_npm(pasted: Pasted, place: int) -> bool:
    """Tell whether line *place* is the first of what npm says, which is the error itself."""
    above = pasted.lines[place - 1] if place else ""
    return _NPM.search(pasted.lines[place]) is not None and not _NPM.search(above)
