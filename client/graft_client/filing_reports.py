"""What is told of the sources of notes and of scopes; field names are those of the JSON output."""

from dataclasses import dataclass

from graft_client.results import Source, SourceState


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSource:
    """A source, and a note that rests on it."""

    note_id: str
    title: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAtSource:
    """A source of a note, and how it is next to what it was."""

    note_id: str
    title: str
    source: Source
    state: SourceState


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesDiff:
    """How sources are; *waiting*: how many of them wait for the reviewer because of it."""

    sources: tuple[LookedAtSource, ...]
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRefreshed:
    """How sources were; *events* recorded what they are from now on, one for each note."""

    sources: tuple[LookedAtSource, ...]
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesAdded:
    """A note's sources; *added* of them are new, or have another fingerprint now.

    Attributes:
        event: that recorded it; None where nothing changed.
    """

    id: str
    sources: tuple[Source, ...]
    added: int
    event: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSummary:
    """A scope that holds notes: those that searches show, and the others."""

    scope: str
    notes: int
    hidden_notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeMoved:
    """What was moved from one scope to another, or would be.

    Attributes:
        left: notes that stay, since their text was rejected where they were to go.
        duplicates: notes that an active note there has the same text as.
        rejections: that bind the other scope now.
        event: the last one; None where nothing changed.
        reviewed: notes that stay, since a reviewer verified them and the caller is none.
    """

    moved: int
    left: int
    duplicates: int
    rejections: int
    event: int | None
    dry_run: bool
    reviewed: int
