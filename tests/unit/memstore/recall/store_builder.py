"""Fills a real database for tests of recall, and stands in for a model by hashing letters."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from graft_memstore.applicability import parse_applies_to, parse_context
from graft_memstore.lexical import fold, fold_note, trigrams
from graft_memstore.model import Background, ChunkRow, ModelId, NoteId, ScopeFilter
from graft_memstore.recall.answer import Question
from graft_memstore.signature import understand
from graft_memstore.store.applies import set_applies_to
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrate
from graft_memstore.store.signatures import insert_signatures
from graft_memstore.store.vectors import create_bits, delete_chunks_of_note, insert_chunks
from graft_memstore.write.prepare import signatures_of

MODEL = ModelId(1)
DIMENSIONS = 256
NOW_MS = 1_000_000
EVERYWHERE = ScopeFilter(all=True)
PRIOR = Background(mean=0.03, deviation=0.06, count=64.0)

INSERT_EVENT = """
INSERT INTO events (at, actor, channel, door, action, digest, state_digest, reason, prev_hash, hash)
VALUES (0, '', '', '', '', x'', x'', '', x'', x'')
"""
INSERT_MODEL = """
INSERT INTO models (identity, name, dimensions, role)
VALUES ('hashed letters', 'letters', :dimensions, 'serving')
"""
INSERT_NOTE = """
INSERT INTO notes (id, kind, author, channel, scope, content_hash, value_hash, recorded_at, site,
                   hlc, title, body)
VALUES (:id, 'note', '', '', :scope, zeroblob(32), zeroblob(32), :at, '', 1, :title, :body)
"""
UPDATE_KIND = "UPDATE notes SET kind = :kind WHERE id = :id"
INSERT_STATE = """
INSERT INTO note_states (note_id, lifecycle, trust, valid_from, valid_to, expires_at, known_from,
                         reason, event_id)
VALUES (:id, :lifecycle, :trust, :valid_from, :valid_to, :expires_at, 0, '', 1)
"""
INSERT_WORDS = """
INSERT INTO notes_fts (rowid, title, body, keywords, cjk)
VALUES (:seq, :title, :body, :keywords, :cjk)
"""
INSERT_PIECES = "INSERT INTO notes_pieces (rowid, pieces) VALUES (:seq, :pieces)"
INSERT_KEYWORD = "INSERT OR IGNORE INTO keywords (keyword) VALUES (:keyword)"
INSERT_NOTE_KEYWORD = """
INSERT INTO note_keywords (note_id, keyword_id, origin, known_from)
SELECT :id, keyword_id, 'author', 0 FROM keywords WHERE keyword = :keyword
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a test wants to be true of a note."""

    lifecycle: str = "active"
    trust: str = "observed"
    valid_from: int | None = None
    valid_to: int | None = None
    expires_at: int | None = None


class NoteStore:
    """A database with notes in it."""

    def __init__(self, connection: apsw.Connection, dimensions: int = DIMENSIONS) -> None:
        self.connection = connection
        self._count = 0
        with connection:
            connection.execute(INSERT_EVENT)
            connection.execute(INSERT_MODEL, {"dimensions": dimensions})
            create_bits(connection, MODEL, dimensions)

    def add(
        self,
        title: str,
        body: str = "",
        *,
        keywords: Sequence[str] = (),
        scope: str = "user",
        state: State | None = None,
        vectors: Iterable[NDArray[np.float32]] | None = None,
    ) -> NoteId:
        """Store a note; without *vectors* it gets those of its letters."""
        self._count += 1
        note_id = NoteId(f"{self._count:032x}")
        row = {"id": note_id, "scope": scope, "at": self._count, "title": title, "body": body}
        if vectors is None:
            vectors = (embed(title), embed(f"{title}\n\n{body}"))
        with self.connection:
            self.connection.execute(INSERT_NOTE, row)
            seq = self.connection.last_insert_rowid()
            self.set_state(note_id, state or State())
            self._add_words(seq, title, body, keywords)
            insert_signatures(self.connection, seq, signatures_of(title, body))
            for keyword in keywords:
                self.connection.execute(INSERT_KEYWORD, {"keyword": keyword})
                self.connection.execute(INSERT_NOTE_KEYWORD, {"id": note_id, "keyword": keyword})
            insert_chunks(self.connection, MODEL, note_id, [*_chunks(vectors)])
        return note_id

    def mark(self, note_id: NoteId, *applies_to: str, kind: str = "note") -> NoteId:
        """Make a note one of another kind, and say what it applies to."""
        with self.connection:
            self.connection.execute(UPDATE_KIND, {"id": note_id, "kind": kind})
            ranges = [parse_applies_to(each) for each in applies_to]
            set_applies_to(self.connection, note_id, ranges, NOW_MS)
        return note_id

    def set_state(self, note_id: NoteId, state: State) -> None:
        """Give a note another state, and forget the one before."""
        self.connection.execute("DELETE FROM note_states WHERE note_id = :id", {"id": note_id})
        self.connection.execute(
            INSERT_STATE,
            {
                "id": note_id,
                "lifecycle": state.lifecycle,
                "trust": state.trust,
                "valid_from": state.valid_from,
                "valid_to": state.valid_to,
                "expires_at": state.expires_at,
            },
        )

    def delete(self, note_id: NoteId) -> None:
        """Erase a note from every table."""
        wanted = {"id": note_id}
        with self.connection:
            delete_chunks_of_note(self.connection, note_id)
            ((seq,),) = self.connection.execute("SELECT seq FROM notes WHERE id = :id", wanted)
            self.connection.execute("DELETE FROM notes_fts WHERE rowid = :seq", {"seq": seq})
            self.connection.execute("DELETE FROM notes_pieces WHERE rowid = :seq", {"seq": seq})
            self.connection.execute("DELETE FROM notes WHERE id = :id", wanted)

    def _add_words(self, seq: int, title: str, body: str, keywords: Sequence[str]) -> None:
        folded = fold_note(title, body, keywords)
        self.connection.execute(
            INSERT_WORDS,
            {
                "seq": seq,
                "title": folded.title,
                "body": folded.body,
                "keywords": folded.keywords,
                "cjk": folded.cjk,
            },
        )
        self.connection.execute(INSERT_PIECES, {"seq": seq, "pieces": folded.pieces})


@contextmanager
def open_store(path: Path, dimensions: int = DIMENSIONS) -> Iterator[NoteStore]:
    """Open a new database at *path* and close it in the end."""
    connection = open_connection(path)
    try:
        migrate(connection, path)
        yield NoteStore(connection, dimensions)
    finally:
        connection.close()


def embed(text: str) -> NDArray[np.float32]:
    """Return a unit vector that is near for texts with the same runs of letters."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    for run in trigrams(fold(text)):
        digest = blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        place = int.from_bytes(digest, "little")
        vector[place % DIMENSIONS] += 1.0 if place & (1 << 40) else -1.0
    vector[0] += 1e-3
    return unit(vector)


def unit(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return *vector* at length one."""
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def ask(
    text: str,
    *,
    scope: ScopeFilter = EVERYWHERE,
    with_vector: bool = True,
    keywords: tuple[str, ...] = (),
    keywords_min: int = 0,
    context: Sequence[str] = (),
) -> Question:
    """Return a question at `NOW_MS`."""
    said = understand(text)
    return Question(
        said=said,
        vector=embed(said.focus) if with_vector else None,
        prior=PRIOR,
        scope=scope,
        now_ms=NOW_MS,
        keywords=keywords,
        keywords_min=keywords_min,
        context=parse_context(context),
    )


def _chunks(vectors: Iterable[NDArray[np.float32]]) -> Iterator[ChunkRow]:
    for part, vector in enumerate(vectors):
        yield ChunkRow(part=part, start_char=0, end_char=1, vector=vector.tobytes())
