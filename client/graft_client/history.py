"""What became of notes after they were stored, as plain data; named as in the JSON output."""

from dataclasses import dataclass
from datetime import datetime

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
    """A note that was asked for by its id, and how often it was used."""

    uses: Uses
