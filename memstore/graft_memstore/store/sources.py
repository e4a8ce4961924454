"""Sources, and which notes rest on them."""

import json
from collections.abc import Iterable, Sequence

import apsw

from graft_memstore.model import NoteId, Source, SourceKind
from graft_memstore.provenance import Finding
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
INSERT INTO note_sources (note_id, source_id, fingerprint, observed_at, known_from)
SELECT :note_id, :source_id, nullif(:fingerprint, ''), :observed_at, :known_from
WHERE NOT EXISTS (
    SELECT 1 FROM note_sources
    WHERE note_id = :note_id AND source_id = :source_id AND known_to IS NULL
)
"""

SELECT_FINGERPRINT = """
SELECT ifnull(fingerprint, '') FROM note_sources
WHERE note_id = :note_id AND source_id = :source_id AND known_to IS NULL
"""

CLOSE_NOTE_SOURCE = """
UPDATE note_sources SET known_to = :at
WHERE note_id = :note_id AND source_id = :source_id AND known_to IS NULL
"""

# What was known of it until this very instant nobody can ask for.
UPSERT_NOTE_SOURCE = """
INSERT INTO note_sources (note_id, source_id, fingerprint, observed_at, known_from)
VALUES (:note_id, :source_id, :fingerprint, :at, :at)
ON CONFLICT (note_id, source_id, known_from) DO UPDATE SET
    fingerprint = excluded.fingerprint, observed_at = excluded.observed_at, known_to = NULL
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
SELECT link.note_id, source.kind, source.locator, source.project, link.observed_at,
       ifnull(link.fingerprint, ''), source.source_id
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
    connection: apsw.Connection,
    note_id: NoteId,
    sources: Iterable[Source],
    known_from_ms: int,
    *,
    renew: bool = True,
) -> int:
    """Give a note *sources*, looked at now; return how many it did not have so before.

    One that it has gets the new fingerprint, if there is one and *renew* lets it.
    """
    added = 0
    for source in sources:
        key = {"project": source.project, "kind": source.kind, "locator": source.locator}
        change(connection, INSERT_SOURCE, key)
        row = select_one(connection, SELECT_SOURCE, key)
        assert row is not None, "the source has just been inserted, or was there"
        fresh = change(
            connection,
            INSERT_NOTE_SOURCE,
            {
                "note_id": note_id,
                "source_id": row[0],
                "fingerprint": source.fingerprint,
                "observed_at": known_from_ms,
                "known_from": known_from_ms,
            },
        )
        if not fresh and renew and source.fingerprint:
            finding = Finding(source_id=row[0], fingerprint=source.fingerprint)
            fresh = renew_source(connection, note_id, finding, known_from_ms)
        added += fresh
    return added


def renew_source(
    connection: apsw.Connection, note_id: NoteId, finding: Finding, known_from_ms: int
) -> bool:
    """Give a source of a note another fingerprint; tell whether that is another one."""
    wanted: Parameters = {"note_id": note_id, "source_id": finding.source_id, "at": known_from_ms}
    if fingerprint_of(connection, note_id, finding.source_id) == finding.fingerprint:
        return False
    change(connection, CLOSE_NOTE_SOURCE, wanted)
    change(connection, UPSERT_NOTE_SOURCE, {**wanted, "fingerprint": finding.fingerprint})
    return True


def fingerprint_of(connection: apsw.Connection, note_id: NoteId, source_id: int) -> str | None:
    """Return the fingerprint of a note's source, empty without one; None without the source."""
    wanted: Parameters = {"note_id": note_id, "source_id": source_id}
    row = select_one(connection, SELECT_FINGERPRINT, wanted)
    return None if row is None else row[0]


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
    for note_id, kind, locator, project, observed_at, fingerprint, source_id in rows:
        source = Source(
            kind=SourceKind(kind),
            locator=locator,
            project=project,
            observed_at_ms=observed_at,
            fingerprint=fingerprint,
            source_id=source_id,
        )
        found.setdefault(NoteId(note_id), []).append(source)
    return {note_id: tuple(sources) for note_id, sources in found.items()}


def read_source_ids(connection: apsw.Connection, note_id: NoteId) -> list[int]:
    """Return every source that a note has or has had."""
    return [row[0] for row in select(connection, SELECT_SOURCE_IDS_OF_NOTE, {"note_id": note_id})]


def delete_unused(connection: apsw.Connection, source_ids: Sequence[int]) -> None:
    """Take those of *source_ids* away that no note has or has had."""
    change(connection, DELETE_UNUSED_SOURCES, {"source_ids": json.dumps(source_ids)})
