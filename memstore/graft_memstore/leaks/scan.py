"""Looks for secrets in one text, and says where each stands."""

from bisect import bisect_right
from dataclasses import dataclass

from graft_memstore.leaks.assigned import assigned_spots
from graft_memstore.leaks.library import library_spots
from graft_memstore.leaks.shapes import shape_spots
from graft_memstore.leaks.spot import merged

FINDINGS_MAX = 20
"""What of one note is told at once; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What looks like a secret, where, and what of it may be shown.

    Attributes:
        field: of the note, such as "body", "keywords[2]" or "sources[0].locator".
        line: from 1.
        column: in characters, from 1.
    """

    kind: str
    field: str
    line: int
    column: int
    excerpt: str

    @property
    def place(self) -> str:
        """Say where it is, for people."""
        return f"{self.field}, line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found in a note: the first, and how many more."""

    first: tuple[Finding, ...] = ()
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.first)


NOTHING_FOUND = Findings()


def find_secrets(field: str, text: str) -> list[Finding]:
    """Return what looks like a secret in *text*, in order, each place once.

    Linear in the length of the text, whatever stands in it.
    """
    spots = merged([*library_spots(text), *shape_spots(text), *assigned_spots(text)])
    if not spots:
        return []
    starts = [0, *(place + 1 for place, each in enumerate(text) if each == "\n")]
    found = []
    for spot in spots:
        line = bisect_right(starts, spot.start)
        found.append(
            Finding(
                kind=spot.kind,
                field=field,
                line=line,
                column=spot.start - starts[line - 1] + 1,
                excerpt=spot.excerpt(text),
            )
        )
    return found
