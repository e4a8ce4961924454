"""Rows of vectors: chunks hold the truth in float32, a vec0 table per model holds their signs.

vec0 knows no foreign keys, so whatever removes chunks must come through here.

Vectors of one model point all roughly one way, so most of their signs are the same and tell
nothing. The signs are therefore those of what is left when the model's centre is taken off: zero
until there are `CENTRE_ROWS` vectors, then their mean, once and for all.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from graft_memstore.model import ChunkRow, ModelId, NoteId
from graft_memstore.store.rows import change, select, select_one

NEAREST_MAX = 4_096
"""The most neighbours that vec0 gives at once."""
BITS_IN_BYTE = 8
REBUILD_ROWS = 1_000
CENTRE_ROWS = 512
"""Vectors whose mean becomes the centre of their model."""

INSERT_CHUNK = """
INSERT INTO chunks (note_id, part, model_id, start_char, end_char, vector)
VALUES (:note_id, :part, :model_id, :start_char, :end_char, :vector)
"""
SELECT_CHUNKS_OF_NOTE = """
SELECT chunk_id, model_id FROM chunks WHERE note_id = :note_id ORDER BY chunk_id
"""
DELETE_CHUNKS_OF_NOTE = "DELETE FROM chunks WHERE note_id = :note_id"
DELETE_CHUNKS_OF_MODEL = "DELETE FROM chunks WHERE model_id = :model_id"
# chunks_by_model gives them in the order of their ids.
SELECT_CHUNKS_AFTER = """
SELECT chunks.chunk_id, notes.seq, notes.scope, chunks.part, chunks.vector
FROM chunks
JOIN notes ON notes.id = chunks.note_id
WHERE chunks.model_id = :model_id AND chunks.chunk_id > :after
ORDER BY chunks.chunk_id
LIMIT :count_max
"""
COUNT_CHUNKS_UNTIL = """
SELECT count(*) FROM chunks WHERE model_id = :model_id AND chunk_id <= :until
"""
SELECT_LAST_CHUNK = """
SELECT ifnull(max(chunk_id), 0) FROM chunks WHERE model_id = :model_id
"""

# chunks_by_model; counts no further than it must.
COUNT_CHUNKS_UP_TO = """
SELECT count(*) FROM (SELECT 1 FROM chunks WHERE model_id = :model_id LIMIT :count_max)
"""
SELECT_CENTRE = "SELECT centre FROM models WHERE model_id = :model_id"
UPDATE_CENTRE = "UPDATE models SET centre = :centre WHERE model_id = :model_id"

# The dimension of a vec0 table is part of its definition, so these alone are made at run time;
# {} takes a number.
CREATE_BITS = (
    "CREATE VIRTUAL TABLE vec_bits_{} USING vec0 (chunk_id INTEGER PRIMARY KEY, bits bit[{}])"
)
DROP_BITS = "DROP TABLE IF EXISTS vec_bits_{}"
INSERT_BITS = "INSERT INTO vec_bits_{} (chunk_id, bits) VALUES (:chunk_id, vec_bit(:bits))"
DELETE_BITS = "DELETE FROM vec_bits_{} WHERE chunk_id = :chunk_id"
SELECT_ALL_BITS = "SELECT chunk_id, bits FROM vec_bits_{}"
SELECT_NEAREST_BITS = """
SELECT chunk_id FROM vec_bits_{} WHERE bits MATCH vec_bit(:bits) AND k = :count_max
"""
SELECT_NEAREST_BITS_AMONG = """
SELECT chunk_id FROM vec_bits_{}
WHERE bits MATCH vec_bit(:bits) AND k = :count_max
  AND chunk_id IN (SELECT value FROM json_each(:chunk_ids))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkBatch:
    """Vectors as they lie in the file, a row each, in the order of their ids."""

    chunk_ids: NDArray[np.int64]
    seqs: NDArray[np.int64]
    scopes: tuple[str, ...]
    parts: NDArray[np.int64]
    vectors: NDArray[np.float32]


def create_bits(connection: apsw.Connection, model_id: ModelId, dimensions: int) -> None:
    """Make the table of signs of a model's vectors."""
    whole_bytes = -(-dimensions // BITS_IN_BYTE) * BITS_IN_BYTE
    connection.execute(CREATE_BITS.format(int(model_id), whole_bytes))


def drop_bits(connection: apsw.Connection, model_id: ModelId) -> None:
    """Remove a model's vectors and their signs."""
    change(connection, DELETE_CHUNKS_OF_MODEL, {"model_id": model_id})
    connection.execute(DROP_BITS.format(int(model_id)))


def insert_chunks(
    connection: apsw.Connection, model_id: ModelId, note_id: NoteId, chunks: Sequence[ChunkRow]
) -> None:
    """Store vectors of one note and their signs."""
    centre = _read_centre(connection, model_id)
    insert_bits = INSERT_BITS.format(int(model_id))
    for chunk in chunks:
        row: dict[str, str | int | bytes] = {
            "note_id": note_id,
            "part": chunk.part,
            "model_id": model_id,
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
            "vector": chunk.vector,
        }
        change(connection, INSERT_CHUNK, row)
        bits = signs(np.frombuffer(chunk.vector, dtype="<f4"), centre)
        change(connection, insert_bits, {"chunk_id": connection.last_insert_rowid(), "bits": bits})
    if centre is None and has_chunks(connection, model_id, CENTRE_ROWS):
        _find_centre(connection, model_id)


def delete_chunks_of_note(connection: apsw.Connection, note_id: NoteId) -> None:
    """Remove every vector of a note, and its signs."""
    rows = list(select(connection, SELECT_CHUNKS_OF_NOTE, {"note_id": note_id}))
    for chunk_id, model_id in rows:
        change(connection, DELETE_BITS.format(int(model_id)), {"chunk_id": chunk_id})
    change(connection, DELETE_CHUNKS_OF_NOTE, {"note_id": note_id})


def signs(vector: NDArray[np.float32], centre: NDArray[np.float32] | None) -> bytes:
    """Return a bit for each component that lies above the centre, filled up to whole bytes."""
    return np.packbits(vector > (0 if centre is None else centre)).tobytes()


def has_chunks(connection: apsw.Connection, model_id: ModelId, count: int) -> bool:
    """Tell whether a model has *count* vectors or more."""
    wanted = {"model_id": model_id, "count_max": count}
    row = select_one(connection, COUNT_CHUNKS_UP_TO, wanted)
    return row is not None and int(row[0]) >= count


def _read_centre(connection: apsw.Connection, model_id: ModelId) -> NDArray[np.float32] | None:
    row = select_one(connection, SELECT_CENTRE, {"model_id": model_id})
    return np.frombuffer(row[0], dtype="<f4") if row and row[0] else None


def _find_centre(connection: apsw.Connection, model_id: ModelId) -> None:
    """Take the mean of the vectors so far as the centre and make their signs anew."""
    batch = next(read_chunks(connection, model_id, 0, 2 * CENTRE_ROWS))
    centre = batch.vectors.mean(axis=0, dtype=np.float64).astype("<f4")
    change(connection, UPDATE_CENTRE, {"model_id": model_id, "centre": centre.tobytes()})
    delete_bits, insert_bits = (
        DELETE_BITS.format(int(model_id)),
        INSERT_BITS.format(int(model_id)),
    )
    for one in read_chunks(connection, model_id, 0, 2 * CENTRE_ROWS):
        for chunk_id, vector in zip(one.chunk_ids.tolist(), one.vectors, strict=True):
            change(connection, delete_bits, {"chunk_id": chunk_id})
            change(connection, insert_bits, {"chunk_id": chunk_id, "bits": signs(vector, centre)})


def count_wrong_bits(connection: apsw.Connection, model_id: ModelId) -> int:
    """Return how many vectors of a model have no signs or others, and signs no vector.

    Raises:
        apsw.Error: the table of signs is damaged, or not there.
    """
    rows = select(connection, SELECT_ALL_BITS.format(int(model_id)), {})
    found: dict[int, bytes] = dict(rows)
    centre, wrong = _read_centre(connection, model_id), 0
    for one in read_chunks(connection, model_id, 0, REBUILD_ROWS):
        for chunk_id, vector in zip(one.chunk_ids.tolist(), one.vectors, strict=True):
            wrong += found.pop(chunk_id, None) != signs(vector, centre)
    return wrong + len(found)


def rebuild_bits(connection: apsw.Connection, model_id: ModelId, dimensions: int) -> None:
    """Make the table of signs of a model's vectors anew.

    Raises:
        apsw.Error: what is left of it cannot be removed.
    """
    connection.execute(DROP_BITS.format(int(model_id)))
    create_bits(connection, model_id, dimensions)
    centre, insert_bits = _read_centre(connection, model_id), INSERT_BITS.format(int(model_id))
    for one in read_chunks(connection, model_id, 0, REBUILD_ROWS):
        for chunk_id, vector in zip(one.chunk_ids.tolist(), one.vectors, strict=True):
            change(connection, insert_bits, {"chunk_id": chunk_id, "bits": signs(vector, centre)})


def nearest_bits(
    connection: apsw.Connection,
    model_id: ModelId,
    vector: NDArray[np.float32],
    count: int,
    among: Iterable[int] | None = None,
) -> list[int]:
    """Return at most *count* chunks whose signs agree most with *vector*'s, best first."""
    wanted: dict[str, bytes | int | str] = {
        "bits": signs(vector, _read_centre(connection, model_id)),
        "count_max": min(count, NEAREST_MAX),
    }
    if among is None:
        rows = select(connection, SELECT_NEAREST_BITS.format(int(model_id)), wanted)
    else:
        rows = connection.execute(
            SELECT_NEAREST_BITS_AMONG.format(int(model_id)),
            wanted | {"chunk_ids": json.dumps(list(among))},
        )
    return [chunk_id for (chunk_id,) in rows]


def read_chunks(
    connection: apsw.Connection, model_id: ModelId, after: int, batch_rows: int
) -> Iterator[ChunkBatch]:
    """Give all vectors of a model with ids above *after*, in batches."""
    while batch := _read_batch(connection, model_id, after, batch_rows):
        yield batch
        after = int(batch.chunk_ids[-1])


def _read_batch(
    connection: apsw.Connection, model_id: ModelId, after: int, batch_rows: int
) -> ChunkBatch | None:
    wanted = {"model_id": model_id, "after": after, "count_max": batch_rows}
    rows = list(select(connection, SELECT_CHUNKS_AFTER, wanted))
    if not rows:
        return None
    ids, seqs, scopes, parts, vectors = zip(*rows, strict=True)
    return ChunkBatch(
        chunk_ids=np.array(ids, dtype=np.int64),
        seqs=np.array(seqs, dtype=np.int64),
        scopes=scopes,
        parts=np.array(parts, dtype=np.int64),
        vectors=matrix_of(vectors),
    )


def matrix_of(vectors: Sequence[bytes]) -> NDArray[np.float32]:
    """Return stored vectors as the rows of a matrix."""
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)


def count_chunks_until(connection: apsw.Connection, model_id: ModelId, until: int) -> int:
    """Return how many vectors of a model have ids up to *until*."""
    wanted = {"model_id": model_id, "until": until}
    row = select_one(connection, COUNT_CHUNKS_UNTIL, wanted)
    return int(row[0]) if row else 0


def last_chunk(connection: apsw.Connection, model_id: ModelId) -> int:
    """Return the highest id among a model's vectors, 0 when there are none."""
    row = select_one(connection, SELECT_LAST_CHUNK, {"model_id": model_id})
    return int(row[0]) if row else 0
