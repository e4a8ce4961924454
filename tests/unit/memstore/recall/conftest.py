"""An empty store, or a served one, for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.recall.served import Served, serve
from tests.unit.memstore.recall.store_builder import DIMENSIONS, MODEL, NoteStore, open_store
from tests.unit.memstore.room import Room

from graft_memstore.recall.index import VectorIndex


@pytest.fixture
def store(tmp_path: Path) -> Iterator[NoteStore]:
    with open_store(tmp_path / "graft.db") as opened:
        yield opened


@pytest.fixture(params=["bits", "int8"])
def any_index(request: pytest.FixtureRequest) -> str:
    """Name each state of the index in turn."""
    name = request.param
    assert isinstance(name, str)
    return name


@pytest.fixture
def cold_index() -> VectorIndex:
    """An index that was never loaded: the file's bits answer."""
    return VectorIndex(MODEL, DIMENSIONS)


@pytest.fixture
def served(room: Room) -> Iterator[Served]:
    """A room and the stub that asks it."""
    with serve(room) as opened:
        yield opened
