"""What comes of comparing a profile with its audit trail."""

from dataclasses import dataclass

from graft_memstore.store.events import Link

FLAWS_MAX = 100
"""Rows that a report names; of more it tells how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """A row that does not fit the trail.

    Attributes:
        table: that it is in, or is missing from; "head" and "key" are files.
        row: id of the note, number of the event or row.
        detail: what is wrong, in words.
    """

    table: str
    row: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedHead:
    """Where somebody who kept it elsewhere knows a chain to have been.

    Attributes:
        profile_id: of the profile; empty where they do not say.
    """

    link: Link
    profile_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailReport:
    """What came of comparing.

    Attributes:
        events, notes: how many were looked at.
        flaws: at most `FLAWS_MAX`.
        more: how many there are besides.
        uncovered: what nothing can be said of, in words.
    """

    events: int
    notes: int
    flaws: tuple[Flaw, ...]
    more: int
    uncovered: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether all fits."""
        return not self.flaws

    @property
    def summary(self) -> str:
        """It in one line."""
        if self.ok:
            return f"{self.events:,} events and {self.notes:,} notes agree"
        first, others = self.flaws[0], len(self.flaws) + self.more - 1
        rest = f"; and {others:,} more, see: graft log --verify" if others else ""
        return f"{first.table} {first.row}: {first.detail}{rest}"
