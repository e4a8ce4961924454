from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import Room, open_room

from graft_memstore.deadline import Deadline
from graft_memstore.model import NewNote
from graft_memstore.upkeep.consolidate import consolidate, plan_consolidation

COLOURS = ("red", "green", "blue")
EDGES = "SELECT count(*) FROM edges WHERE known_to IS NULL AND kind IN ('KEYWORD', 'SEMANTIC')"
OUTDATED = "SELECT count(*) FROM edges WHERE kind IN ('KEYWORD', 'SEMANTIC') AND generation < 1"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with open_room(tmp_path) as made:
        yield made


def fill(room: Room, count: int) -> None:
    for start in range(0, count, 100):
        room.insert_all(
            [
                NewNote(
                    title=f"{['red', 'green', 'blue'][n % 3]} note {n}", keywords=(f"k{n % 9}",)
                )
                for n in range(start, min(start + 100, count))
            ]
        )
    room.wait_until_joined()


@pytest.mark.parametrize("count", [40, 300])
def test_all_edges_are_made_anew_and_those_that_nothing_bears_out_go(
    room: Room, count: int
) -> None:
    fill(room, count)
    stray = """
        INSERT INTO edges (src, dst, kind, weight, known_from)
        SELECT min(seq), max(seq), 'SEMANTIC', 0.001, 1 FROM notes
    """
    room.profile.write(lambda transaction: list(transaction.connection.execute(stray)))
    before = room.count(EDGES)

    *_, last = consolidate(room.profile, Deadline(30.0))

    assert (last.finished, last.done, last.total) == (True, count, count)
    assert room.count(OUTDATED) == 0
    assert room.count("SELECT count(*) FROM edges WHERE weight < 0.01") == 0
    assert 0 < room.count(EDGES) <= before + count * 20


def test_making_them_anew_twice_gives_the_same_edges(room: Room) -> None:
    fill(room, 300)
    all_edges = "SELECT group_concat(src || '-' || dst || '-' || kind) FROM ({})"
    ordered = "SELECT src, dst, kind, keyword_id FROM edges ORDER BY src, dst, kind, keyword_id"

    def edges() -> object:
        with room.profile.snapshot() as connection:
            return connection.execute(all_edges.format(ordered)).fetchall()

    *_, _ = consolidate(room.profile, Deadline(30.0))
    first = edges()
    *_, _ = consolidate(room.profile, Deadline(30.0))

    assert edges() == first


def test_a_dry_run_begins_nothing(room: Room) -> None:
    fill(room, 40)

    planned = plan_consolidation(room.profile)

    assert (planned.total, planned.edges) == (40, room.count(EDGES))
    assert room.count("SELECT count(*) FROM meta WHERE name = 'edges_generation'") == 0


def test_nothing_is_to_be_done_before_the_first_vector(room: Room) -> None:
    (only,) = consolidate(room.profile, Deadline(30.0))

    assert (only.finished, only.total) == (True, 0)


def test_a_process_that_ends_in_between_goes_on_with_the_rest(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        fill(room, 300)
        next(consolidate(room.profile, Deadline(30.0)))

    with open_room(tmp_path) as room:
        room.wait_until_joined()
        *_, last = consolidate(room.profile, Deadline(30.0))

        assert last.finished
        assert room.count(OUTDATED) == 0
