"""A memstore's inside for each test that wants one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import Room, open_room


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A home whose background threads run."""
    with open_room(tmp_path) as opened:
        yield opened


@pytest.fixture
def still_room(tmp_path: Path) -> Iterator[Room]:
    """A home where nothing happens in the background."""
    with open_room(tmp_path, watched=False) as opened:
        yield opened
