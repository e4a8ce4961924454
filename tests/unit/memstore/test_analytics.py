"""Answers are summed up as counting them by hand does."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.analytics import (
    DAY_MS,
    DAYS_FILLED_MAX,
    GROUPS_MAX,
    REUSED_MAX,
    Hits,
    percentiles,
    summarise,
)
from graft_memstore.gate import Hit
from graft_memstore.model import NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer."""

    at_ms: int = 0
    scope: str = "user"
    door: str = "mcp"
    agent: str = ""
    hit: Hit = Hit.STRONG
    note_id: NoteId | None = None
    degraded: bool = False
    service_ms: float = 1.0
    embed_ms: float = 0.5


ANSWERS = st.builds(
    Answer,
    at_ms=st.integers(0, 40 * DAY_MS),
    scope=st.sampled_from(["user", "project:a", "*"]),
    door=st.sampled_from(["cli", "mcp", "hook"]),
    agent=st.sampled_from(["", "codex"]),
    hit=st.sampled_from(list(Hit)),
    note_id=st.sampled_from([None, NoteId("1"), NoteId("2")]),
    degraded=st.booleans(),
    service_ms=st.floats(0, 1e6),
)


@given(st.lists(ANSWERS, max_size=60))
def test_every_answer_is_counted_once_in_each_way(answers: list[Answer]) -> None:
    answers = sorted(answers, key=lambda each: each.at_ms)
    asked = [each for each in answers if each.door != "hook"]

    gave = summarise(answers)

    strong = [each.hit for each in asked].count(Hit.STRONG)
    assert (gave.hits.strong, gave.hits.total) == (strong, len(asked))
    for groups in (gave.by_day, gave.by_scope, gave.by_agent):
        assert sum(each.total for each in groups.values()) == len(asked)
    assert sum(each.total for each in gave.by_door.values()) == len(answers)
    given = [each.note_id for each in answers if each.hit is Hit.STRONG and each.note_id]
    assert gave.reused == {note: given.count(note) for note in gave.reused}
    assert gave.notes_given == len(set(given))
    days = list(gave.by_day)
    assert days == list(range(days[0], days[-1] + 1, DAY_MS)) if days else not asked


def test_of_nothing_there_is_nothing() -> None:
    gave = summarise([])

    assert gave.hits == Hits()
    assert (gave.by_day, gave.service_ms, gave.reused, gave.first_at_ms) == ({}, (), {}, None)


def test_days_between_are_there_unless_a_clock_was_far_off() -> None:
    near = summarise([Answer(at_ms=DAY_MS - 1), Answer(at_ms=3 * DAY_MS)])
    far = summarise([Answer(at_ms=0), Answer(at_ms=DAYS_FILLED_MAX * 10 * DAY_MS)])

    assert [each.total for each in near.by_day.values()] == [1, 0, 0, 1]
    assert len(far.by_day) == 2


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentiles([]) == ()
    assert percentiles([7.0]) == (7.0, 7.0, 7.0)
    assert percentiles([float(each) for each in range(1, 101)]) == (50.0, 90.0, 99.0)
    assert percentiles([3.0, 1.0, 2.0]) == (2.0, 3.0, 3.0)


def test_the_largest_groups_and_the_most_reused_notes_are_named() -> None:
    many = [
        Answer(scope=f"s{number}", note_id=NoteId(f"{number:03}"))
        for number in range(GROUPS_MAX + 20)
        for _ in range(number % 7 + 1)
    ]

    gave = summarise(many)

    counts = [each.total for each in gave.by_scope.values()]
    assert len(counts) == GROUPS_MAX
    assert counts == sorted(counts, reverse=True)
    assert list(gave.reused.values()) == [7] * REUSED_MAX
    assert gave.notes_given == GROUPS_MAX + 20
