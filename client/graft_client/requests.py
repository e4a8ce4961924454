"""What is asked of the service, checked as far as the wire needs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypedDict

from graft_client.errors import InputError
from graft_client.results import KINDS, SOURCE_KINDS, Kind, Source

SecretsWish = Literal["", "strict", "allow"]
"""About what looks like a secret in a note: as it is set; refuse the note; it is meant."""


class NoteFields(TypedDict, total=False):
    """Optional fields of a new note; see `NewNote`."""

    keywords: Sequence[str]
    kind: Kind
    scope: str
    author: str
    sources: Sequence[Source]
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    applies_to: Sequence[str]
    supersedes: str
    reason: str
    restore: bool
    candidate: bool


class AsOfFields(TypedDict, total=False):
    """Instants that a read may look back to: what was true then, what was known then."""

    valid_at: datetime | None
    known_at: datetime | None


class TimeFields(TypedDict, total=False):
    """Times of a note; None stands for none."""

    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordChanges:
    """Keywords that a note is to carry as well, and such that it is to carry no more."""

    add: Sequence[str] = ()
    remove: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("add", "remove"):
            if isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be a list, not one text")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note to store.

    Attributes:
        title: what it is about, one line; questions are matched against it first.
        body: Markdown.
        keywords: words to filter by.
        kind: "note", or "dead-end" for something that was tried and does not work.
        scope: where it is seen; empty: the scope of the note that it supersedes, else the working
            directory's project, else ``user``.
        author: who wrote it; empty: the setting.
        sources: where its knowledge comes from.
        valid_from: true from this instant; None: always was.
        valid_to: true until just before this instant; None: no end.
        expires_at: not shown from this instant on; None: never.
        applies_to: what it applies to, such as ``pypi:django>=4.2,<5``, ``npm:react@^18`` or
            ``os:linux|macos``, all of which must hold; empty: everything.
        supersedes: id of the note that it replaces, or 8 or more of its first or last digits.
        reason: why it replaces that one, or why one comes back; needed with *supersedes* and
            *restore*.
        restore: where a retired note says the same, bring that back.
        candidate: nobody has looked at it; at most a WEAK answer until a reviewer approves.
    """

    title: str
    body: str = ""
    keywords: Sequence[str] = ()
    kind: Kind = "note"
    scope: str = ""
    author: str = ""
    sources: Sequence[Source] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    applies_to: Sequence[str] = ()
    supersedes: str = ""
    reason: str = ""
    restore: bool = False
    candidate: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        for name in ("keywords", "sources", "applies_to"):
            if isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be a list, not one text")


def parse_source(text: str, project: str = "") -> Source:
    """Read KIND:LOCATOR, such as ``file:src/a.py`` or ``url:https://…``.

    Raises:
        InputError: the kind is unknown or the locator is missing.
    """
    name, colon, locator = text.partition(":")
    kind = next((each for each in SOURCE_KINDS if each == name), None)
    if kind is None or not colon or not locator:
        raise InputError(
            f"{text!r} is no source; write KIND:LOCATOR with one of {', '.join(SOURCE_KINDS)},"
            " such as file:src/app.py"
        )
    return Source(kind=kind, locator=locator, project=project)
