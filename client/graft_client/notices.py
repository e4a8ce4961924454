"""What sessions are told of notes that they were given, as plain data."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Happening = Literal["superseded", "retired", "rejected", "disputed", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What became of a note that this session was given; told once.

    Attributes:
        title: None where no search shows it any more.
        successor: the last of the notes that replaced it; None for none.
        event: number of the event that recorded it.
    """

    id: str
    title: str | None
    happened: Happening
    successor: str | None
    event: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTo:
    """Sessions that were given a note and will be told: how many, and the first twenty."""

    count: int
    sessions: tuple[str, ...]


NOBODY = GivenTo(count=0, sessions=())
