"""A question put to one snapshot of a profile, with what answers it there."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graft_memstore.embedding import QueryVector
from graft_memstore.model import Model, ModelRole
from graft_memstore.recall.answer import UNKNOWN_BACKGROUND, Question
from graft_memstore.recall.index import VectorIndex, index_of
from graft_memstore.recall.receipt import NO_INDEX, Snapshot
from graft_memstore.service.looking_back import AsOf
from graft_memstore.store.database import Connection
from graft_memstore.store.events import read_last_seq
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as of one snapshot, and what answers it there.

    Attributes:
        index: of *model*; None without one.
        model: the model that serves; None before the first vector.
        vector_model: identity of the model that made the question's vector; empty without one.
    """

    question: Question
    index: VectorIndex | None
    model: Model | None
    vector_model: str


def in_snapshot(
    profile: Profile[VectorIndex],
    connection: Connection,
    question: Question,
    vector: QueryVector | None,
) -> Asked:
    """Return the question as of this snapshot, and the model that serves in it.

    Vectors of two models are never compared: where the profile has moved to another one since
    the question was embedded, the vector arm is down for this call.
    """
    serving = read_model(connection, ModelRole.SERVING)
    if vector and serving and vector.model.identity != serving.identity:
        vector = None
    looks_back = AsOf(valid_at_ms=question.valid_at_ms, known_at_ms=question.known_at_ms)
    instants = looks_back.seen_from(profile.now_ms(connection))
    asked = replace(question, now_ms=instants.now_ms, known_at_ms=instants.known_at_ms)
    if vector is not None:
        prior = vector.model.background or UNKNOWN_BACKGROUND
        asked = replace(asked, vector=_values(vector), prior=prior)
    return Asked(
        question=asked,
        index=index_of(serving, profile.index),
        model=serving,
        vector_model="" if vector is None else vector.model.identity,
    )


def snapshot_of(connection: Connection, asked: Asked) -> Snapshot:
    """Return what a receipt tells of the state in which a question was answered."""
    return Snapshot(
        at_ms=asked.question.now_ms,
        event=read_last_seq(connection),
        model=asked.model,
        index=NO_INDEX if asked.index is None else asked.index.state,
    )


def _values(vector: QueryVector) -> NDArray[np.float32]:
    return np.frombuffer(vector.values, dtype="<f4")
