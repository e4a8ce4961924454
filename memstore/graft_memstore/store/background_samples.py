"""A sample of the cosines between a model's titles, and how large the store was then.

Each row names its two notes and goes with either of them, so that nothing is left of a note that
is deleted.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from graft_memstore.model import ModelId
from graft_memstore.store.rows import change, select, select_one

SELECT_SAMPLE = """
SELECT cosine FROM background_samples WHERE model_id = :model_id ORDER BY src, dst
"""

SELECT_SAMPLED_SIZE = "SELECT sampled_titles, sampled_pairs FROM models WHERE model_id = :model_id"

INSERT_SAMPLE = """
INSERT INTO background_samples (model_id, src, dst, cosine)
SELECT :model_id, older.seq, newer.seq, :cosine
FROM notes AS older, notes AS newer
WHERE older.seq = :src AND newer.seq = :dst
"""

DELETE_SAMPLE = "DELETE FROM background_samples WHERE model_id = :model_id"

UPDATE_SAMPLED_SIZE = """
UPDATE models SET sampled_titles = :titles, sampled_pairs = :pairs WHERE model_id = :model_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPair:
    """Two notes' numbers, the older one's first, and the cosine of their titles."""

    src: int
    dst: int
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSize:
    """Titles that there were when a sample was drawn, and pairs that it had."""

    titles: int
    pairs: int


def read_sample(connection: apsw.Connection, model_id: ModelId) -> list[float]:
    """Return the cosines of a model's sample."""
    return [cosine for (cosine,) in select(connection, SELECT_SAMPLE, {"model_id": model_id})]


def read_sampled_size(connection: apsw.Connection, model_id: ModelId) -> SampledSize:
    """Return how large store and sample were when it was drawn; zeros before the first."""
    row = select_one(connection, SELECT_SAMPLED_SIZE, {"model_id": model_id})
    titles, pairs = (0, 0) if row is None else row
    return SampledSize(titles=titles, pairs=pairs)


def replace_sample(
    connection: apsw.Connection, model_id: ModelId, titles: int, pairs: Iterable[SampledPair]
) -> None:
    """Put a new sample, drawn from so many *titles*, in the place of the one before."""
    change(connection, DELETE_SAMPLE, {"model_id": model_id})
    count = 0
    for pair in pairs:
        count += change(
            connection,
            INSERT_SAMPLE,
            {"model_id": model_id, "src": pair.src, "dst": pair.dst, "cosine": pair.cosine},
        )
    change(
        connection, UPDATE_SAMPLED_SIZE, {"model_id": model_id, "titles": titles, "pairs": count}
    )
