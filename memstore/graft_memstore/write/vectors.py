"""Puts vectors into a profile: only those of its model, which the first vector fixes."""

from collections.abc import Sequence

from graft_memstore.embedding import ModelFacts, WindowVector
from graft_memstore.model import ChunkRow, Model, ModelId, ModelRole, NoteId
from graft_memstore.store.database import Connection
from graft_memstore.store.models import insert_model, read_model
from graft_memstore.store.vectors import create_bits, insert_chunks


def serving_model_of(connection: Connection, facts: ModelFacts) -> Model | None:
    """Return the profile's model if *facts* tell of it, None when they tell of another.

    The first vector of a profile fixes its model: then it is entered here.
    """
    serving = read_model(connection, ModelRole.SERVING)
    if serving is None:
        return add_model(connection, facts, ModelRole.SERVING)
    return serving if serving.identity == facts.identity else None


def add_model(connection: Connection, facts: ModelFacts, role: ModelRole) -> Model:
    """Enter a model with its empty table of bits."""
    model = insert_model(
        connection,
        identity=facts.identity,
        name=facts.name,
        dimensions=facts.dimensions,
        role=role,
    )
    create_bits(connection, model.model_id, model.dimensions)
    return model


def store_title(
    connection: Connection, model_id: ModelId, note_id: NoteId, window: WindowVector
) -> None:
    """Store the vector of a title's first window."""
    store_windows(connection, model_id, note_id, [window], first_part=0)


def store_windows(
    connection: Connection,
    model_id: ModelId,
    note_id: NoteId,
    windows: Sequence[WindowVector],
    *,
    first_part: int,
    offset: int = 0,
) -> None:
    """Store the vectors of windows that follow one another.

    Args:
        connection: of the writer.
        model_id: model that made them.
        note_id: note that they are of.
        windows: in the order of the text.
        first_part: number of the first of them.
        offset: where in the note's text the text began that was embedded.
    """
    insert_chunks(
        connection,
        model_id,
        note_id,
        [
            ChunkRow(
                part=first_part + number,
                start_char=offset + window.start_char,
                end_char=offset + window.end_char,
                vector=window.values,
            )
            for number, window in enumerate(windows)
        ],
    )
