"""Folds the words of a note anew whose keywords have changed."""

from graft_memstore.model import NoteId
from graft_memstore.store.database import Connection
from graft_memstore.store.fts import delete_words, insert_words
from graft_memstore.store.keywords import read_keywords
from graft_memstore.store.notes import read_stored
from graft_memstore.write.prepare import words_of


def fold_again(connection: Connection, note_id: NoteId) -> None:
    """Let searches find a note that is there by the keywords that it carries now."""
    stored = read_stored(connection, note_id)
    assert stored is not None, "its content was found a moment ago"
    keywords = read_keywords(connection, [note_id]).get(note_id, ())
    delete_words(connection, stored.seq)
    insert_words(connection, stored.seq, words_of(stored.title, stored.body, keywords))
