"""What upkeep tells, as plain data; fields are named as in the JSON output."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

UpkeepDecision = Literal["approve", "keep-both", "supersede"]

DECISIONS: tuple[UpkeepDecision, ...] = ("approve", "keep-both", "supersede")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepItem:
    """One thing that waits to be judged.

    Attributes:
        note_id: the note that it is about, of a pair the older one; None for keywords.
        other_id: the newer one of a pair.
        measure: which share of the words compared is in both; of a keyword its notes.
        differs: in what: negation, opposite, value, wording; spelling, form, slip.
        variant, keep: of keywords the one that is used less, and the one that would stay.
        decisions: that may be made without a reviewer.
    """

    id: int
    kind: str
    note_id: str | None
    title: str
    other_id: str | None
    other_title: str
    measure: float
    differs: str
    variant: str
    keep: str
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepStatus:
    """What waits, and when upkeep was last done.

    Attributes:
        waiting: how many things of each kind.
        edges_waiting: notes that wait for their edges.
        sweeping: whether expiry is recorded and purging done in the background.
        next: commands worth running next, most urgent first.
    """

    waiting: Mapping[str, int]
    scanned_at: datetime | None
    applied_at: datetime | None
    edges_waiting: int
    sweeping: bool
    next: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What a scan came to.

    Attributes:
        waiting: notes that still wait for vectors or edges, and were not compared with all.
        found: how many of each kind, those known and judged before included.
        truncated: there was more of a kind than is found at once.
        items: what waits, the most urgent kinds first, as many as were asked for.
    """

    notes: int
    waiting: int
    found: Mapping[str, int]
    new: int
    judged: int
    withdrawn: int
    truncated: bool
    items: tuple[UpkeepItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStep:
    """How far a scan is; the last step has the report."""

    done: int
    total: int
    report: ScanReport | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An item after a decision.

    Attributes:
        event: of the decision.
        change_event: that `undo` takes back; 0 where no note's state changed.
        changed: notes that are not what they were.
    """

    item: int
    decision: str
    event: int
    change_event: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedNotes:
    """Notes that became one: *keeper* superseded the *losers*."""

    keeper: str
    losers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedKeyword:
    """A keyword that was replaced by the one to *keep*."""

    variant: str
    keep: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What was done, or would be.

    Attributes:
        notes_with_keywords: notes on which keywords were replaced.
        expired: notes whose expiry was recorded.
        left: things that were refused when their turn came.
        more: there was not time or room for all.
    """

    merged: tuple[MergedNotes, ...]
    keywords: tuple[MergedKeyword, ...]
    notes_with_keywords: int
    expired: int
    left: int
    more: bool
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepEvent:
    """One entry of the upkeep's log; *note_id* is None where it is about no note."""

    event: int
    at: datetime
    actor: str
    door: str
    action: str
    note_id: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateStep:
    """How far making the edges anew is: notes that are done and that there are.

    Attributes:
        edges: that there are now.
        keyword_variants: that wait to be judged; told when it is finished.
    """

    done: int
    total: int
    edges: int
    keyword_variants: int
    finished: bool
