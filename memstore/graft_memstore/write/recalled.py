"""Recognises what a session saves again of the notes that it was just given."""

from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.model import USER_SCOPE, NewNote, NoteId, ScopeFilter, SimilarNote
from graft_memstore.store.database import Connection
from graft_memstore.store.keywords import read_keywords
from graft_memstore.store.notes import read_stored, read_titles
from graft_memstore.visibility import View
from graft_memstore.write.retelling import retells, share_of

ALIKE_SHARE = 0.6
"""From such a share of its words on a new note is like one that was given."""
SHARE_MAX = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a new note has to do with the notes that its session was given.

    Attributes:
        piece_of: the note of which it is a piece, adding nothing; None for none.
        alike: those that it is like, most alike first.
    """

    piece_of: NoteId | None = None
    alike: tuple[SimilarNote, ...] = ()

    def first_of(self, others: Sequence[SimilarNote]) -> tuple[SimilarNote, ...]:
        """Return these before *others*, each note once."""
        found = {each.note_id: each for each in (*others, *self.alike)}
        order = dict.fromkeys(each.note_id for each in (*self.alike, *others))
        return tuple(found[note_id] for note_id in order)


def compare_with_given(
    connection: Connection, note: NewNote, given: Sequence[NoteId], now_ms: int
) -> Recalled:
    """Compare a new note with those that its session was *given*, and that are shown now.

    One that stands in another scope, or holds at other times or for other versions, says more.
    """
    if not given:
        return Recalled()
    view = View(scope=ScopeFilter(scopes=(note.scope, USER_SCOPE)), now_ms=now_ms)
    shown = read_titles(connection, given, view)
    plain = not note.applies_to and _holds_always(note)
    alike = []
    for note_id in given:
        stored = read_stored(connection, note_id) if note_id in shown else None
        if stored is None:
            continue
        text = stored.title, stored.body
        if plain and stored.kind is note.kind:
            keywords = (*note.keywords, *read_keywords(connection, [note_id]).get(note_id, ()))
            if retells(note.title, note.body, text, keywords):
                return Recalled(piece_of=note_id)
        share = share_of(note.title, note.body, text)
        if share >= ALIKE_SHARE:
            similarity = min(share, SHARE_MAX)
            alike.append(SimilarNote(note_id=note_id, title=stored.title, similarity=similarity))
    alike.sort(key=lambda each: -each.similarity)
    return Recalled(alike=tuple(alike))


def _holds_always(note: NewNote) -> bool:
    return note.valid_from_ms is None and note.valid_to_ms is None and note.expires_at_ms is None
