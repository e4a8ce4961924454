"""Models whose vectors a profile holds: the one that serves, and the one it moves to."""

import apsw

from graft_memstore.model import Model, ModelId, ModelRole
from graft_memstore.store.rows import change, select_one

SELECT_MODEL_BY_ROLE = """
SELECT model_id, identity, name, dimensions, role FROM models WHERE role = :role
"""

INSERT_MODEL = """
INSERT INTO models (identity, name, dimensions, role)
VALUES (:identity, :name, :dimensions, :role)
"""

UPDATE_ROLE = "UPDATE models SET role = :role WHERE model_id = :model_id"

DELETE_MODEL = "DELETE FROM models WHERE model_id = :model_id"


def read_model(connection: apsw.Connection, role: ModelRole) -> Model | None:
    """Return the model of *role*, None when there is none."""
    row = select_one(connection, SELECT_MODEL_BY_ROLE, {"role": role})
    if row is None:
        return None
    model_id, identity, name, dimensions, _ = row
    return Model(
        model_id=ModelId(model_id), identity=identity, name=name, dimensions=dimensions, role=role
    )


def insert_model(
    connection: apsw.Connection, *, identity: str, name: str, dimensions: int, role: ModelRole
) -> Model:
    """Add a model; its table of bits is made beside it by the caller."""
    change(
        connection,
        INSERT_MODEL,
        {"identity": identity, "name": name, "dimensions": dimensions, "role": role},
    )
    return Model(
        model_id=ModelId(connection.last_insert_rowid()),
        identity=identity,
        name=name,
        dimensions=dimensions,
        role=role,
    )


def set_role(connection: apsw.Connection, model_id: ModelId, role: ModelRole) -> None:
    """Give a model another role; nobody may have that role at the time."""
    change(connection, UPDATE_ROLE, {"model_id": model_id, "role": role})


def delete_model(connection: apsw.Connection, model_id: ModelId) -> None:
    """Take a model away; its vectors must be gone."""
    change(connection, DELETE_MODEL, {"model_id": model_id})
