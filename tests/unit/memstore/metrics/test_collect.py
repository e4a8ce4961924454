"""What is told of open profiles: how far the model is behind, and since when."""

from pathlib import Path

from prometheus_client import CollectorRegistry
from tests.unit.memstore.room import START_MS, Room, open_room

from graft_memstore.metrics.collect import HomeCollector


def told(room: Room, name: str) -> float | None:
    registry = CollectorRegistry()
    registry.register(HomeCollector(room.profiles, lambda _: [], lambda _: 0, room.clock, "1+2"))
    return registry.get_sample_value(name, {"profile": "default"})


def test_what_has_waited_longest_for_a_vector_has_its_age(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a first title", "its body waits, for nobody embeds in the background")
        room.clock.ms = START_MS + 60_000
        room.insert("a second title", "its body waits as well")
        room.clock.ms = START_MS + 90_500

        assert told(room, "graft_pending_vectors") == 2
        assert told(room, "graft_pending_oldest_seconds") == 90.5


def test_where_nothing_waits_there_is_no_age(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        room.insert("a title", "a body", wait=True)
        room.wait_until_embedded()
        room.clock.ms = START_MS + 60_000

        assert told(room, "graft_pending_oldest_seconds") == 0


def test_a_clock_that_was_ahead_makes_no_age_below_nothing(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a title", "a body")
        room.clock.ms = START_MS - 60_000

        assert told(room, "graft_pending_oldest_seconds") == 0
