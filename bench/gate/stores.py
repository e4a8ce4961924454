"""A corpus in a real store, asked with and without the note that answers."""

import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from bench.fill import open_profiles
from bench.gate.corpora import CorpusNote
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder, model_for
from graft_memstore.ids import IdMaker
from graft_memstore.model import Caller, ModelRole, NewNote, ScopeFilter
from graft_memstore.recall.answer import UNKNOWN_BACKGROUND, Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.signature import understand
from graft_memstore.store.database import Connection, open_connection
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.embed_pending import embed_some
from graft_memstore.write.insert import Inserter, InsertOrder
from graft_memstore.write.receipts import RequestKey

# Only within a transaction that is rolled back.
HIDE = """
UPDATE note_states SET lifecycle = 'retired' WHERE note_id = :note_id AND known_to IS NULL
"""
SECONDS = 600.0
BATCH = 64


class CorpusStore:
    """A profile that holds a corpus."""

    def __init__(
        self, profile: Profile[VectorIndex], embedder: Embedder, notes: Sequence[CorpusNote]
    ) -> None:
        self.profile = profile
        self._embedder = embedder
        inserter = Inserter(embedder, SimilarNotes(lambda: 0), IdMaker(os.urandom))
        self.keys: dict[str, str] = {}
        for start in range(0, len(notes), BATCH):
            batch = notes[start : start + BATCH]
            reply = inserter.insert(
                profile,
                InsertOrder(
                    notes=[
                        NewNote(
                            title=each.title, body=each.body, keywords=each.keywords, scope="user"
                        )
                        for each in batch
                    ],
                    key=RequestKey(
                        request_id=str(uuid.UUID(bytes=os.urandom(16))), method="", payload_hash=b""
                    ),
                    caller=Caller(),
                ),
                Deadline(SECONDS),
            )
            self.keys |= {
                str(stored.id): each.key for stored, each in zip(reply.notes, batch, strict=True)
            }
        while embed_some(profile, embedder, ModelRole.SERVING, Deadline(SECONDS)):
            pass
        assert profile.index is not None
        self.index = profile.index
        with profile.snapshot() as connection:
            self.index.load(connection)
        self.ids = {key: note_id for note_id, key in self.keys.items()}

    def question(self, text: str) -> Question:
        """Return a question as the service would put it."""
        serving, said = self.profile.serving_model, understand(text)
        vector = self._embedder.embed_query(
            model_for(serving, self._embedder), said.focus, 0, Deadline(SECONDS)
        )
        return Question(
            said=said,
            vector=np.frombuffer(vector.values, dtype="<f4"),
            prior=vector.model.background or UNKNOWN_BACKGROUND,
            scope=ScopeFilter(scopes=("user",)),
            now_ms=2**45,
        )

    @contextmanager
    def without(self, *keys: str) -> Iterator[Connection]:
        """Lend a connection to which the notes under *keys* are not there."""
        with closing(open_connection(self.profile.path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                for key in keys:
                    connection.execute(HIDE, {"note_id": self.ids[key]})
                yield connection
            finally:
                connection.execute("ROLLBACK")


@contextmanager
def corpus_store(embedder: Embedder, notes: Sequence[CorpusNote]) -> Iterator[CorpusStore]:
    """Store *notes* in a temporary profile."""
    with tempfile.TemporaryDirectory(prefix="graft-gate-") as folder:
        profiles = open_profiles(Path(folder))
        try:
            yield CorpusStore(profiles.open("default"), embedder, notes)
        finally:
            profiles.close()
