"""Which notes rest on which sources, in pages; what of that waits for a reviewer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from graft_memstore.model import NoteId, Source, SourceKind
from graft_memstore.store.rows import Parameters, change, select
from graft_memstore.visibility import VISIBLE, View

# By primary key of the sources, from the one on that the page before ended with.
SELECT_NOTE_SOURCES = (
    "WITH "  # noqa: S608 - joined at import, from constants alone
    + VISIBLE
    + """
SELECT link.note_id, visible.title, source.kind, source.locator, source.project,
       link.observed_at, ifnull(link.fingerprint, ''), source.source_id
FROM sources AS source
CROSS JOIN note_sources AS link INDEXED BY note_sources_by_source
    ON link.source_id = source.source_id AND link.known_to IS NULL
CROSS JOIN visible ON visible.note_id = link.note_id
WHERE source.source_id >= :after_source
AND (source.source_id > :after_source OR link.note_id > :after_note)
AND (:any_project OR source.project IN (SELECT value FROM json_each(:projects)))
ORDER BY source.source_id, link.note_id
LIMIT :count_max
"""
)

# review_items_by_note
DELETE_ITEMS_OF_SOURCE = """
DELETE FROM review_items
WHERE note_id = :note_id AND decided_at IS NULL
AND kind IN ('changed-source', 'removed-source')
AND json_extract(detail, '$.source') = :source_id
"""

SOURCE = "source"
"""Name, in an item's detail, of the source that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSource:
    """A source, and a note that rests on it."""

    note_id: NoteId
    title: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """Which sources a page wants.

    Attributes:
        projects: only theirs; empty: any.
        after_source, after_note: where the page before ended.
    """

    projects: tuple[str, ...] = ()
    after_source: int = 0
    after_note: str = ""


def read_note_sources(
    connection: apsw.Connection, view: View, page: SourcePage, count_max: int
) -> Sequence[NoteSource]:
    """Return up to *count_max* sources of notes that *view* shows."""
    wanted = view.parameters(
        any_project=int(not page.projects),
        projects=json.dumps(page.projects),
        after_source=page.after_source,
        after_note=page.after_note,
        count_max=count_max,
    )
    return [
        NoteSource(
            note_id=NoteId(note_id),
            title=title,
            source=Source(
                kind=SourceKind(kind),
                locator=locator,
                project=project,
                observed_at_ms=observed_at,
                fingerprint=fingerprint,
                source_id=source_id,
            ),
        )
        for note_id, title, kind, locator, project, observed_at, fingerprint, source_id in select(
            connection, SELECT_NOTE_SOURCES, wanted
        )
    ]


def drop_source_items(connection: apsw.Connection, note_id: NoteId, source_id: int) -> None:
    """Take out of the queue that a source of a note has changed, or is gone."""
    wanted: Parameters = {"note_id": note_id, "source_id": source_id}
    change(connection, DELETE_ITEMS_OF_SOURCE, wanted)
