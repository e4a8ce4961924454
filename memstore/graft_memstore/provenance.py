"""What became of the sources that a note rests on, by their fingerprints: pure comparison."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

FINGERPRINT = re.compile(r"blake3:[0-9a-f]{64}|git:(?:[0-9a-f]{40}|[0-9a-f]{64})")
"""A file's content, or the id of a commit or blob."""


class SourceState(StrEnum):
    """How a source is, next to what it was."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    UNCHECKED = "unchecked"


class SourceCheck(StrEnum):
    """How all sources of an answer are together."""

    UNCHECKED = "unchecked"
    WAITING = "waiting"
    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What somebody found of a source.

    Attributes:
        fingerprint: what it is now; empty where it is gone or was not looked at.
    """

    source_id: int
    fingerprint: str = ""
    gone: bool = False


def state_of(known: str, finding: Finding) -> SourceState:
    """Tell how a source is whose fingerprint was *known*, or never was."""
    if finding.gone:
        return SourceState.GONE
    # Two ways to take a fingerprint cannot be compared.
    if known.partition(":")[0] != finding.fingerprint.partition(":")[0] or not known:
        return SourceState.UNCHECKED
    return SourceState.SAME if known == finding.fingerprint else SourceState.CHANGED


def check_of(states: Iterable[SourceState]) -> SourceCheck:
    """Return how sources are together: the worst of them, what was not looked at coming last."""
    found = set(states)
    for state, check in (
        (SourceState.CHANGED, SourceCheck.CHANGED),
        (SourceState.GONE, SourceCheck.GONE),
        (SourceState.UNCHECKED, SourceCheck.UNCHECKED),
    ):
        if state in found:
            return check
    return SourceCheck.SAME
