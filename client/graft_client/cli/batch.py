"""Reading notes from lines of JSON, one note a line, for `graft insert --jsonl`."""

import json
from collections.abc import Iterator
from typing import BinaryIO

from graft_client.errors import InputError
from graft_client.limits import LINE_BYTES_MAX
from graft_client.requests import NewNote, parse_source
from graft_client.results import KINDS, Kind, Source
from graft_client.times import parse_time

_TEXTS = ("title", "body", "kind", "scope", "author", "supersedes", "reason")
_TIMES = ("valid_from", "valid_to", "expires_at")
_KNOWN = frozenset((*_TEXTS, *_TIMES, "keywords", "sources", "applies_to", "restore", "candidate"))
_SOURCE_FIELDS = frozenset({"kind", "locator", "project", "observed_at", "fingerprint", "id"})


def read_notes(file: BinaryIO) -> Iterator[NewNote]:
    """Read one note from each line of *file*; empty lines are passed over.

    Raises:
        InputError: a line is no note; the message has its number.
    """
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX:
            raise InputError(f"line {number} is longer than {LINE_BYTES_MAX:,} bytes")
        if line.strip():
            try:
                yield parse_note(line)
            except InputError as error:
                raise InputError(f"line {number}: {error.message}") from error


def parse_note(line: bytes) -> NewNote:
    """Read one line: an object with a title and, if wanted, the other fields of a note.

    Raises:
        InputError: it is something else.
    """
    try:
        content = json.loads(line)
    except ValueError as error:
        raise InputError(f"no JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError('no JSON object; write {"title": "…", "body": "…"}')
    unknown = sorted(set(content) - _KNOWN)
    if unknown:
        raise InputError(
            f"unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(_KNOWN))}"
        )
    if "title" not in content:
        raise InputError("no title")
    texts = {name: _text(name, content[name]) for name in _TEXTS if name in content}
    times = {
        name: parse_time(_text(name, content[name]))
        for name in _TIMES
        if content.get(name) is not None
    }
    return NewNote(
        title=texts["title"],
        body=texts.get("body", ""),
        kind=_kind(texts.get("kind", KINDS[0])),
        scope=texts.get("scope", ""),
        author=texts.get("author", ""),
        keywords=[_text("keywords", each) for each in _list("keywords", content)],
        sources=[_source(each) for each in _list("sources", content)],
        valid_from=times.get("valid_from"),
        valid_to=times.get("valid_to"),
        expires_at=times.get("expires_at"),
        applies_to=[_text("applies_to", each) for each in _list("applies_to", content)],
        supersedes=texts.get("supersedes", ""),
        reason=texts.get("reason", ""),
        restore=_flag("restore", content),
        candidate=_flag("candidate", content),
    )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {json.dumps(value)[:40]}")
    return value


def _flag(name: str, content: dict[str, object]) -> bool:
    value = content.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false")
    return value


def _list(name: str, content: dict[str, object]) -> list[object]:
    value = content.get(name) or []
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list")
    return value


def _kind(text: str) -> Kind:
    kind = next((each for each in KINDS if each == text), None)
    if kind is None:
        raise InputError(f"kind is {text!r}; it must be one of {', '.join(KINDS)}")
    return kind


def _source(value: object) -> Source:
    """Read a source: KIND:LOCATOR, or an object as `graft get --json` prints it."""
    if isinstance(value, dict) and value.keys() <= _SOURCE_FIELDS:
        kind, locator = _text("kind", value.get("kind")), _text("locator", value.get("locator"))
        return parse_source(f"{kind}:{locator}", _text("project", value.get("project", "")))
    return parse_source(_text("sources", value))
