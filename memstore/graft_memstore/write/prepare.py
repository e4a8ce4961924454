"""Everything about a new note that can be worked out before the database is asked to wait."""

from dataclasses import dataclass

from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.lexical import fold_note
from graft_memstore.model import Lifecycle, NewNote, NoteId, SimilarNote
from graft_memstore.store.database import Connection
from graft_memstore.store.fts import Words
from graft_memstore.store.notes import find_same_content
from graft_memstore.write.hashes import content_hash, value_hash

ONE_WINDOW_CHARS = 120
"""A title of at most so many characters surely fits one window of 240 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedNote:
    """A checked note, hashed and folded."""

    note: NewNote
    content_hash: bytes
    value_hash: bytes

    @property
    def has_passages(self) -> bool:
        """Whether it has text beyond what its title's vector stands for."""
        return bool(self.note.body.strip()) or len(self.note.title) > ONE_WINDOW_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleVector:
    """The vector of a new note's title, and who is like it."""

    model: ModelFacts
    window: WindowVector
    similar: tuple[SimilarNote, ...]


def prepare(note: NewNote) -> PreparedNote:
    """Hash *note*."""
    return PreparedNote(
        note=note,
        content_hash=content_hash(note.title, note.body, note.kind),
        value_hash=value_hash(note.title, note.body),
    )


def words_of(title: str, body: str, keywords: tuple[str, ...]) -> Words:
    """Fold a note for the word indexes."""
    folded = fold_note(title, body, keywords)
    return Words(
        title=folded.title,
        body=folded.body,
        keywords=folded.keywords,
        cjk=folded.cjk,
        pieces=folded.pieces,
    )


def active_twin(connection: Connection, prepared: PreparedNote) -> NoteId | None:
    """Return the note in force that has this very text in this scope, None when there is none."""
    known = find_same_content(connection, prepared.content_hash, prepared.note.scope)
    return next((each.id for each in known if each.lifecycle is Lifecycle.ACTIVE), None)
