"""A place in a text that looks like a secret, and what of it may be shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

SHOWN_CHARS = 4
"""Of a long token, so many characters are shown at each end: its maker's prefix and a check."""
SHOWN_OF_CHARS_MIN = 20
"""Shorter ones are hidden whole: eight characters would be too much of them."""
HIDDEN = "…"


class Showing(Enum):
    """What of a secret an excerpt may show."""

    ENDS = "ends"
    """A token made by a machine: both ends."""
    NOTHING = "nothing"
    """Something that a person may have chosen, and uses elsewhere."""
    HEADER = "header"
    """The place is the line above the secret, which is none itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place that looks like a secret.

    Attributes:
        start: its first character.
        end: the character after it.
        kind: what it seems to be, for people.
        before: what stands before it and is shown with it: words of ours that were recognized.
        vague: it was recognized by the name that it is given; what knows its form knows better.
    """

    start: int
    end: int
    kind: str
    showing: Showing = Showing.ENDS
    before: str = ""
    vague: bool = False

    def excerpt(self, text: str) -> str:
        """Return what of it may be shown; never more than eight characters of the secret."""
        secret = text[self.start : self.end]
        if self.showing is Showing.HEADER:
            return secret
        if self.showing is Showing.NOTHING or len(secret) < SHOWN_OF_CHARS_MIN:
            return f"{self.before}{HIDDEN}"
        return f"{self.before}{secret[:SHOWN_CHARS]}{HIDDEN}{secret[-SHOWN_CHARS:]}"


def merged(spots: Iterable[Spot]) -> list[Spot]:
    """Return the places in order, those that overlap as one; what knows the form gives its kind."""
    found: list[Spot] = []
    for spot in sorted(spots, key=lambda each: (each.start, -each.end)):
        if found and spot.start < found[-1].end:
            found[-1] = _joined(found[-1], spot)
        else:
            found.append(spot)
    return found


def _joined(first: Spot, second: Spot) -> Spot:
    """Make one of two places that overlap."""
    if first.vague != second.vague:
        return second if first.vague else first
    # Of two secrets in one, no more is shown than of the one that shows less.
    showing = first.showing if first.showing is second.showing else Showing.NOTHING
    return Spot(
        start=first.start,
        end=max(first.end, second.end),
        kind=first.kind,
        showing=showing,
        before=first.before,
        vague=first.vague,
    )
