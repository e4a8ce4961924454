"""A note as the text of a Markdown file, and back: the fields are those of ``NewNote``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graft_client.errors import InputError
from graft_client.limits import (
    APPLIES_TO_MAX,
    BODY_BYTES_MAX,
    KEYWORDS_MAX,
    SOURCES_MAX,
    TITLE_CHARS_MAX,
)
from graft_client.markdown.front_matter import MARK, Field, Parts, Scalars, join, split
from graft_client.markdown.headings import title_and_body
from graft_client.requests import NewNote, parse_source
from graft_client.results import KINDS, Kind, Note, Source
from graft_client.times import format_time, parse_time

FIELDS = (
    "title",
    "kind",
    "keywords",
    "scope",
    "author",
    "sources",
    "applies_to",
    "valid_from",
    "valid_to",
    "expires_at",
)
CORRECTING = ("supersedes", "reason")
"""Fields of a draft alone: a file of somebody's takes no note out of use by being read."""

TAGS = "tags"
"""What other programs call keywords."""

_SOURCE_FIELDS = frozenset({"kind", "locator", "project", "fingerprint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNote:
    """A note that was read, and names in its head that no note has."""

    note: NewNote
    passed_over: tuple[str, ...]


def head_of(note: Note) -> dict[str, object]:
    """Give the head of a file with *note*: always the same for the same note."""
    head: dict[str, object] = {"title": note.title}
    if note.kind != KINDS[0]:
        head["kind"] = note.kind
    texts = {"keywords": sorted(note.keywords), "scope": note.scope, "author": note.author}
    head |= {name: value for name, value in texts.items() if value}
    if note.sources:
        head["sources"] = [_written(each) for each in sorted(note.sources, key=_by_place)]
    if note.applies_to:
        head["applies_to"] = sorted(note.applies_to)
    times = {
        "valid_from": note.valid_from,
        "valid_to": note.valid_to,
        "expires_at": note.expires_at,
    }
    head |= {name: format_time(time) for name, time in times.items() if time is not None}
    return head


def write_note(note: Note) -> str:
    """Write the file of *note*, which `read_note` reads to the letter."""
    return join(head_of(note), note.body or "")


def read_note(text: str, name: str, *, draft: bool = False) -> ReadNote:
    """Read a file; without a title in its head it is called by its first heading, else *name*.

    Args:
        text: of the file.
        name: of the file, without its ending; empty where that says nothing.
        draft: it was made for a person to fill in. That may correct a note, and nothing in it is
            passed over: what no note has is a slip of the pen.

    Raises:
        InputError: it cannot be meant; the message has the line.
    """
    parts = split(text, title_as_typed=draft)
    if draft and text.startswith(MARK) and not parts.has_head:
        raise InputError("the front matter has no end; put a line of --- above the note's text")
    known = (*FIELDS, *CORRECTING) if draft else (*FIELDS, TAGS)
    unknown = tuple(each for each in parts.fields if each not in known)
    if draft and unknown:
        raise InputError(
            f"line {parts.fields[unknown[0]].line}: {unknown[0]} is no field of a note; the fields"
            f" are {', '.join(known)}"
        )
    read = _Reader(parts)
    title, body = read.text("title"), parts.body
    if not title:
        title, body = title_and_body(body, name)
    note = NewNote(
        title=title,
        body=body,
        kind=read.kind(),
        keywords=list(dict.fromkeys([*read.words("keywords"), *(() if draft else read.tags())])),
        scope=read.text("scope"),
        author=read.text("author"),
        sources=read.sources(),
        applies_to=read.texts("applies_to"),
        valid_from=read.time("valid_from"),
        valid_to=read.time("valid_to"),
        expires_at=read.time("expires_at"),
        supersedes=read.text("supersedes") if draft else "",
        reason=read.text("reason") if draft else "",
    )
    check_sizes(note)
    return ReadNote(note=note, passed_over=unknown)


def check_sizes(note: NewNote) -> None:
    """Refuse what the service would refuse for its size, so that it is told without asking.

    Raises:
        InputError: a limit is passed; the message names it.
    """
    if len(note.title) > TITLE_CHARS_MAX:
        raise InputError(
            f"the title has {len(note.title):,} characters, {TITLE_CHARS_MAX:,} at most"
        )
    body_bytes = len(note.body.encode("utf-8", "surrogatepass"))
    if body_bytes > BODY_BYTES_MAX:
        raise InputError(f"the body has {body_bytes:,} bytes, {BODY_BYTES_MAX:,} at most (1 MiB)")
    for name, values, most in (
        ("keywords", note.keywords, KEYWORDS_MAX),
        ("sources", note.sources, SOURCES_MAX),
        ("applies_to", note.applies_to, APPLIES_TO_MAX),
    ):
        if len(values) > most:
            raise InputError(f"{name} has {len(values):,} entries, {most} at most")


class _Reader:
    """Reads the fields of one head as what they are to be."""

    def __init__(self, parts: Parts) -> None:
        self._fields: Mapping[str, Field] = parts.fields

    def text(self, name: str) -> str:
        found = self._fields.get(name)
        if found is None:
            return ""
        if not isinstance(found.value, str):
            raise self._bad(name, "must be one text")
        return found.value

    def items(self, name: str) -> Sequence[Scalars]:
        found = self._fields.get(name)
        if found is None:
            return ()
        items = [found.value] if isinstance(found.value, str) else found.value
        return [each for each in items if each]

    def texts(self, name: str) -> list[str]:
        items = self.items(name)
        if not all(isinstance(each, str) for each in items):
            raise self._bad(name, "must be texts")
        return [each for each in items if isinstance(each, str)]

    def words(self, name: str) -> list[str]:
        """Read a list of words, or words with commas between them."""
        found = self._fields.get(name)
        if found is not None and isinstance(found.value, str):
            return [word for each in found.value.split(",") if (word := each.strip())]
        return self.texts(name)

    def tags(self) -> list[str]:
        return [word for each in self.words(TAGS) if (word := each.removeprefix("#"))]

    def kind(self) -> Kind:
        text = self.text("kind") or KINDS[0]
        kind = next((each for each in KINDS if each == text), None)
        if kind is None:
            raise self._bad("kind", f"is {text!r}; it must be one of {', '.join(KINDS)}")
        return kind

    def time(self, name: str) -> datetime | None:
        text = self.text(name)
        try:
            return parse_time(text) if text else None
        except InputError as error:
            raise self._bad(name, f"cannot be meant: {error.message}") from error

    def sources(self) -> list[Source]:
        name = "sources"
        try:
            return [_source(each) for each in self.items(name)]
        except InputError as error:
            raise self._bad(name, f"cannot be meant: {error.message}") from error

    def _bad(self, name: str, words: str) -> InputError:
        return InputError(f"line {self._fields[name].line}: {name} {words}")


def _source(item: Scalars) -> Source:
    if isinstance(item, str):
        return parse_source(item)
    if not item.keys() <= _SOURCE_FIELDS or not {"kind", "locator"} <= item.keys():
        raise InputError(f"a source has kind and locator, and may have {_OPTIONAL}")
    named = parse_source(f"{item['kind']}:{item['locator']}", item.get("project", ""))
    return Source(
        kind=named.kind,
        locator=named.locator,
        project=named.project,
        fingerprint=item.get("fingerprint", ""),
    )


_OPTIONAL = "project and fingerprint"


def _written(source: Source) -> object:
    if not source.project and not source.fingerprint:
        return f"{source.kind}:{source.locator}"
    optional = {"project": source.project, "fingerprint": source.fingerprint}
    given = {name: value for name, value in optional.items() if value}
    return {"kind": source.kind, "locator": source.locator, **given}


def _by_place(source: Source) -> tuple[str, str, str]:
    return source.kind, source.locator, source.project
