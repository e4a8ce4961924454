"""Notes with everything that hangs on them, as an answer shows them."""

from collections.abc import Sequence
from dataclasses import replace

import apsw

from graft_memstore.model import Note, NoteId, StoredNote
from graft_memstore.store.applies import read_applies_to
from graft_memstore.store.keywords import read_keywords
from graft_memstore.store.notes import PageFilter, assemble, read_notes, read_page
from graft_memstore.store.pending import count_of_notes
from graft_memstore.store.sources import read_sources
from graft_memstore.store.states import KnownState
from graft_memstore.store.successors import read_heads


def read_full_notes(
    connection: apsw.Connection, note_ids: Sequence[NoteId], known_at_ms: int | None = None
) -> list[Note]:
    """Return those of *note_ids* that are there, in the order asked for.

    With *known_at_ms* as they were known then, those alone that were; else as they are now.
    """
    rows_of = read_notes(connection, note_ids, known_at_ms)
    found = {stored.id: (stored, known) for stored, known in rows_of}
    rows = [found[note_id] for note_id in note_ids if note_id in found]
    return _completed(connection, rows, known_at_ms)


def read_full_page(
    connection: apsw.Connection, wanted: PageFilter, *, now_ms: int, count_max: int
) -> list[Note]:
    """Return up to *count_max* notes of a listing, newest first, without their bodies."""
    rows = read_page(connection, wanted, now_ms=now_ms, count_max=count_max)
    return _completed(connection, rows, wanted.known_at_ms)


def _completed(
    connection: apsw.Connection,
    rows: Sequence[tuple[StoredNote, KnownState]],
    known_at_ms: int | None,
) -> list[Note]:
    note_ids = [stored.id for stored, _ in rows]
    keywords = read_keywords(connection, note_ids, known_at_ms)
    sources = read_sources(connection, note_ids, known_at_ms)
    applies_to = read_applies_to(connection, note_ids, known_at_ms)
    pending = count_of_notes(connection, note_ids)
    heads = read_heads(connection, note_ids, known_at_ms)
    return [
        replace(
            assemble(stored, known, pending=pending.get(stored.id, 0)),
            keywords=keywords.get(stored.id, ()),
            sources=sources.get(stored.id, ()),
            applies_to=applies_to.get(stored.id, ()),
            superseded_by=heads.get(stored.id),
        )
        for stored, known in rows
    ]
