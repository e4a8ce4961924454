"""What became of notes after they were stored, as plain data; named as in the JSON output."""

from dataclasses import dataclass
from datetime import datetime

from graft_client.notices import Notice
from graft_client.results import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """How often a note was given out whole, before it was now.

    Attributes:
        strong: as the STRONG answer to a question.
        got: by its id.
        last_used: when that last happened; None where it never did.
    """

    strong: int
    got: int
    last_used: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GotNote(Note):
    """A note that was asked for by its id, how often it was used, and what its reader is told."""

    uses: Uses
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that was done, or refused.

    Attributes:
        event: its number in the log; `undo` takes it.
        session: of whoever did it; None where there is none.
        note_id: None where it is about no single note.
        count: how often it happened.
        digest: keyed digest of what it is about, hex.
        hash: of the event itself, hex.
    """

    event: int
    at: datetime
    actor: str
    session: str | None
    door: str
    action: str
    note_id: str | None
    reason: str
    count: int
    digest: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events, and before which one the next page begins; 0 after the last."""

    events: tuple[Event, ...]
    next_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHead:
    """Where a log ends: what is kept elsewhere, and compared later.

    Attributes:
        profile_id: of the profile; empty where that is not known.
        hash: of the last event, hex; empty before the first.
    """

    profile_id: str
    count: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFlaw:
    """A row that does not agree with the log, and what is wrong with it."""

    table: str
    row: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReport:
    """What came of comparing a profile with its log.

    Attributes:
        flaws: rows that do not agree, the first hundred.
        more: how many there are besides.
        uncovered: what nothing can be said of.
    """

    ok: bool
    events: int
    notes: int
    flaws: tuple[LogFlaw, ...]
    more: int
    uncovered: tuple[str, ...]
