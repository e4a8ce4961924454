"""What waits for a reviewer, and what they decide, as plain data."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graft_client.results import Note

ReviewKind = Literal[
    "candidate",
    "held",
    "proposal",
    "restated-rejection",
    "duplicate",
    "supersession",
    "contradiction",
    "possible-contradiction",
    "changed-source",
    "removed-source",
    "keyword-variant",
    "isolated",
    "never-used",
    "expired",
    "purge-due",
]
ReviewDecision = Literal["approve", "reject", "keep-both", "supersede"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a reviewer, or was judged by one.

    Attributes:
        item: its number, which `decide` takes.
        other: the other note of a pair, or the rejected one that *note* looks like.
        measure: how much of it: a cosine, a count.
        detail: what else is known: ids, numbers, keywords; of a proposal its "verb".
        reason: why somebody asked for it, by *event*, in *session*; None where upkeep found it.
        decision: None while it is open.
        decided_by: event of the decision.
        decisions: how it may be decided.
    """

    item: int
    kind: ReviewKind
    scope: str
    note: Note | None
    other: Note | None
    measure: float | None
    detail: dict[str, object]
    opened_at: datetime
    event: int | None
    reason: str
    session: str
    decision: ReviewDecision | None
    decided_at: datetime | None
    decided_by: int | None
    decisions: tuple[ReviewDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """A page of the queue, and how many of each kind wait."""

    items: tuple[ReviewItem, ...]
    next_page_token: str
    waiting: dict[ReviewKind, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What came of a decision.

    Attributes:
        event: of the decision.
        outcome: what was done, in a few words.
        note: the note that changed, by *note_event*, which `undo` takes; None where none did.
    """

    item: int
    decision: ReviewDecision
    event: int
    outcome: str
    note: str | None
    note_event: int | None
