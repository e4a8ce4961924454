"""Sources, and which notes rest on them."""

import json
from collections.abc import Iterable, Sequence

import apsw

from graft_memstore.model import NoteId, Source, SourceKind
from graft_memstore.store.rows import Parameters, change, select, select_one
from graft_memstore.visibility import timed

INSERT_SOURCE = """
INSERT INTO sources (project, kind, locator) VALUES (:project, :kind, :locator)
ON CONFLICT DO NOTHING
"""

SELECT_SOURCE = """
SELECT source_id FROM sources WHERE project = :project AND kind = :kind AND locator = :locator
"""

# A source that a note has already stays as it is.
INSERT_NOTE_SOURCE = """
INSERT INTO note_sources (note_id, source_id, observed_at, known_from)
SELECT :note_id, :source_id, :observed_at, :known_from
WHERE NOT EXISTS (
    SELECT 1 FROM note_sources
    WHERE note_id = :note_id AND source_id = :source_id AND known_to IS NULL
)
"""

# As they were looked at for the other note.
COPY_SOURCES = """
INSERT INTO note_sources (note_id, source_id, fingerprint, observed_at, known_from)
SELECT :taker_id, giver.source_id, giver.fingerprint, giver.observed_at, :known_from
FROM note_sources AS giver
WHERE giver.note_id = :giver_id AND giver.known_to IS NULL
AND NOT EXISTS (
    SELECT 1 FROM note_sources AS taken
    WHERE taken.note_id = :taker_id AND taken.source_id = giver.source_id
      AND taken.known_to IS NULL
)
"""

SELECT_SOURCES_OF_NOTES = timed(
    """
SELECT link.note_id, source.kind, source.locator, source.project, link.observed_at
FROM json_each(:note_ids) AS wanted
JOIN note_sources AS link ON link.note_id = wanted.value AND link.known_to IS NULL
JOIN sources AS source ON source.source_id = link.source_id
ORDER BY link.note_id, source.source_id
"""
)

SELECT_SOURCE_IDS_OF_NOTE = """
SELECT DISTINCT source_id FROM note_sources WHERE note_id = :note_id
"""

DELETE_UNUSED_SOURCES = """
DELETE FROM sources
WHERE source_id IN (SELECT value FROM json_each(:source_ids))
AND NOT EXISTS (SELECT 1 FROM note_sources WHERE source_id = sources.source_id)
"""


def add_sources(
    connection: apsw.Connection, note_id: NoteId, sources: Iterable[Source], known_from_ms: int
) -> int:
    """Give a note *sources*, looked at now, and return how many it did not have before."""
    added = 0
    for source in sources:
        key = {"project": source.project, "kind": source.kind, "locator": source.locator}
        change(connection, INSERT_SOURCE, key)
        row = select_one(connection, SELECT_SOURCE, key)
        assert row is not None, "the source has just been inserted, or was there"
        added += change(
            connection,
            INSERT_NOTE_SOURCE,
            {
                "note_id": note_id,
                "source_id": row[0],
                "observed_at": known_from_ms,
                "known_from": known_from_ms,
            },
        )
    return added


def copy_sources(
    connection: apsw.Connection, giver_id: NoteId, taker_id: NoteId, known_from_ms: int
) -> int:
    """Give a note the sources of another that it lacks; return how many these are."""
    wanted: Parameters = {
        "giver_id": giver_id,
        "taker_id": taker_id,
        "known_from": known_from_ms,
    }
    return change(connection, COPY_SOURCES, wanted)


def read_sources(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> dict[NoteId, tuple[Source, ...]]:
    """Return the sources of every note that has any, or had any then."""
    found: dict[NoteId, list[Source]] = {}
    rows = select(
        connection,
        SELECT_SOURCES_OF_NOTES.at(known_at_ms),
        {"note_ids": json.dumps(note_ids), "known_at": known_at_ms},
    )
    for note_id, kind, locator, project, observed_at in rows:
        source = Source(
            kind=SourceKind(kind), locator=locator, project=project, observed_at_ms=observed_at
        )
        found.setdefault(NoteId(note_id), []).append(source)
    return {note_id: tuple(sources) for note_id, sources in found.items()}


def read_source_ids(connection: apsw.Connection, note_id: NoteId) -> list[int]:
    """Return every source that a note has or has had."""
    return [row[0] for row in select(connection, SELECT_SOURCE_IDS_OF_NOTE, {"note_id": note_id})]


def delete_unused(connection: apsw.Connection, source_ids: Sequence[int]) -> None:
    """Take those of *source_ids* away that no note has or has had."""
    change(connection, DELETE_UNUSED_SOURCES, {"source_ids": json.dumps(source_ids)})
