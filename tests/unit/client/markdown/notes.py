"""Notes of every shape, for the laws of their files."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from graft_client.results import Note, Source
from graft_client.times import from_milliseconds

RECORDED = datetime(2026, 1, 1, tzinfo=UTC)

# What the wire carries: no halves of characters.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
words = texts.filter(lambda text: text.strip() != "")
instants = st.none() | st.integers(-62_135_510_400_000, 253_402_214_400_000).map(from_milliseconds)
sources = st.builds(
    Source,
    kind=st.sampled_from(["file", "url", "commit", "manual"]),
    locator=words,
    project=texts,
    fingerprint=st.sampled_from(["", "blake3:" + "0" * 64]),
)


def note(title: str, body: str | None = "", **fields: object) -> Note:
    """Make a note as the service gives it."""
    rest: dict[str, object] = {
        "id": "0" * 32,
        "kind": "note",
        "keywords": (),
        "author": "",
        "scope": "",
        "state": "active",
        "trust": "observed",
        "valid_from": None,
        "valid_to": None,
        "expires_at": None,
        "recorded_at": RECORDED,
        "superseded_by": None,
        "sources": (),
        "pending": 0,
        "applies_to": (),
        "state_reason": "",
        "state_event": 1,
        "condition": "shown",
        "oracle": None,
    }
    return Note(title=title, body=body, **(rest | fields))  # type: ignore[arg-type] # by name


notes = st.builds(
    note,
    title=words,
    body=texts,
    kind=st.sampled_from(["note", "dead-end"]),
    keywords=st.lists(words, max_size=4, unique=True).map(tuple),
    author=texts,
    scope=texts,
    sources=st.lists(sources, max_size=3).map(tuple),
    applies_to=st.lists(words, max_size=3).map(tuple),
    valid_from=instants,
    valid_to=instants,
    expires_at=instants,
)
