"""What notes apply to, and which candidates of a search are more than plain notes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from graft.wire.ecosystems import Ecosystem
from graft_memstore.model import AppliesTo, NoteId, NoteKind
from graft_memstore.store.rows import change, select
from graft_memstore.visibility import timed

# What was said in this very transaction has no time of its own to be kept for.
DELETE_SAID_NOW = """
DELETE FROM note_applies
WHERE note_id = :note_id AND ecosystem = :ecosystem AND name = :name AND known_from = :at
"""

CLOSE_APPLIES = """
UPDATE note_applies SET known_to = :at
WHERE note_id = :note_id AND ecosystem = :ecosystem AND name = :name AND known_to IS NULL
"""

INSERT_APPLIES = """
INSERT INTO note_applies (note_id, ecosystem, name, range, known_from)
VALUES (:note_id, :ecosystem, :name, :range, :at)
"""

SELECT_APPLIES_OF_NOTES = timed(
    """
SELECT applies.note_id, applies.ecosystem, applies.name, applies.range
FROM json_each(:note_ids) AS wanted
JOIN note_applies AS applies ON applies.note_id = wanted.value AND applies.known_to IS NULL
ORDER BY applies.note_id, applies.ecosystem, applies.name, applies.range
"""
)

SELECT_PARTICULARS = timed(
    """
SELECT note.seq, note.kind, applies.ecosystem, applies.name, applies.range
FROM json_each(:seqs) AS wanted
CROSS JOIN notes AS note ON note.seq = wanted.value
LEFT JOIN note_applies AS applies ON applies.note_id = note.id AND applies.known_to IS NULL
WHERE note.kind <> 'note' OR applies.note_id IS NOT NULL
ORDER BY note.seq, applies.ecosystem, applies.name, applies.range
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Particulars:
    """What sets a note apart from one that tells what holds everywhere."""

    kind: NoteKind = NoteKind.NOTE
    applies_to: tuple[AppliesTo, ...] = ()


PLAIN = Particulars()


def set_applies_to(
    connection: apsw.Connection, note_id: NoteId, applies_to: Sequence[AppliesTo], at_ms: int
) -> bool:
    """Let a note apply to *applies_to* and tell whether that is news.

    The ranges of a name replace those that it had; of names that are not mentioned it keeps its
    own.
    """
    present = _by_name(read_applies_to(connection, [note_id]).get(note_id, ()))
    changed = False
    for key, ranges in _by_name(applies_to).items():
        if present.get(key) != ranges:
            _replace(connection, note_id, key, ranges, at_ms)
            changed = True
    return changed


def read_applies_to(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> dict[NoteId, tuple[AppliesTo, ...]]:
    """Return what every note applies to that says so, or said so then."""
    found: dict[NoteId, list[AppliesTo]] = {}
    rows = select(
        connection,
        SELECT_APPLIES_OF_NOTES.at(known_at_ms),
        {"note_ids": json.dumps(note_ids), "known_at": known_at_ms},
    )
    for note_id, ecosystem, name, range_ in rows:
        found.setdefault(NoteId(note_id), []).append(_applies_to(ecosystem, name, range_))
    return {note_id: tuple(each) for note_id, each in found.items()}


def read_particulars(
    connection: apsw.Connection, seqs: Iterable[int], known_at_ms: int | None = None
) -> dict[int, Particulars]:
    """Return those of the notes listed that are not `PLAIN`, or were not then, by their seq."""
    kinds: dict[int, NoteKind] = {}
    applies: dict[int, list[AppliesTo]] = {}
    rows = select(
        connection,
        SELECT_PARTICULARS.at(known_at_ms),
        {"seqs": json.dumps(list(seqs)), "known_at": known_at_ms},
    )
    for seq, kind, ecosystem, name, range_ in rows:
        kinds[seq] = NoteKind(kind)
        if ecosystem is not None:
            applies.setdefault(seq, []).append(_applies_to(ecosystem, name, range_))
    return {
        seq: Particulars(kind=kind, applies_to=tuple(applies.get(seq, ())))
        for seq, kind in kinds.items()
    }


_Key = tuple[Ecosystem, str]


def _by_name(applies_to: Iterable[AppliesTo]) -> Mapping[_Key, set[str]]:
    found: dict[_Key, set[str]] = {}
    for each in applies_to:
        found.setdefault((each.ecosystem, each.name), set()).add(each.range)
    return found


def _replace(
    connection: apsw.Connection, note_id: NoteId, key: _Key, ranges: Iterable[str], at_ms: int
) -> None:
    ecosystem, name = key
    row: dict[str, str | int] = {
        "note_id": note_id,
        "ecosystem": ecosystem,
        "name": name,
        "at": at_ms,
    }
    change(connection, DELETE_SAID_NOW, row)
    change(connection, CLOSE_APPLIES, row)
    for range_ in ranges:
        change(connection, INSERT_APPLIES, row | {"range": range_})


def _applies_to(ecosystem: str, name: str, range_: str) -> AppliesTo:
    return AppliesTo(ecosystem=Ecosystem(ecosystem), name=name, range=range_)
