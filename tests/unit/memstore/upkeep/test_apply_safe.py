from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, Room, open_room

from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import Verb
from graft_memstore.model import (
    Decision,
    Lifecycle,
    NewNote,
    ScopeFilter,
    Source,
    SourceKind,
)
from graft_memstore.store.keywords import read_keywords
from graft_memstore.upkeep.apply_safe import Applied, apply_safe, plan_safe
from graft_memstore.upkeep.resolve import Resolution, resolve_item
from graft_memstore.upkeep.scan import scan_notes
from graft_memstore.write.change import Time, Times
from graft_memstore.write.state_change import Saying

EVERYWHERE = ScopeFilter(all=True)
DAY_MS = 24 * 60 * 60 * 1000


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    # What has expired is recorded by the call alone here, not in the background.
    with open_room(tmp_path, sweep=False) as made:
        yield made


def apply(room: Room, scope: ScopeFilter = EVERYWHERE) -> Applied:
    return apply_safe(room.profile, scope, AGENT, Deadline(30.0))


def events(room: Room, action: str) -> int:
    return room.count(f"SELECT count(*) FROM events WHERE action = '{action}'")  # noqa: S608


def url(locator: str) -> Source:
    return Source(kind=SourceKind.URL, locator=locator)


def test_notes_that_say_the_same_become_one_with_all_keywords_and_sources(room: Room) -> None:
    keeper = room.insert(
        note=NewNote(title="The pool", keywords=("one",), sources=(url("https://a.example"),))
    ).id
    loser = room.insert(
        note=NewNote(title="THE  POOL", keywords=("two",), sources=(url("https://b.example"),))
    ).id
    room.insert("The pools")

    done = apply(room)

    assert [(each.keeper, each.losers) for each in done.merged] == [(keeper, (loser,))]
    assert room.note(keeper).keywords == ("one", "two")
    assert [each.locator for each in room.note(keeper).sources] == [
        "https://a.example",
        "https://b.example",
    ]
    assert room.note(loser).state.lifecycle is Lifecycle.SUPERSEDED
    assert room.note(loser).superseded_by == keeper


def test_a_merge_that_was_undone_is_not_made_again(room: Room) -> None:
    keeper = room.insert("The pool").id
    loser = room.insert("THE POOL").id
    apply(room)
    room.clock.ms += 1

    room.change(Verb.UNDO, event=room.note(loser).event)

    assert plan_safe(room.profile, EVERYWHERE).merged == []
    assert apply(room).merged == []
    assert room.note(loser).state.lifecycle is Lifecycle.ACTIVE
    other = room.insert("the pool").id
    assert [(each.keeper, each.losers) for each in apply(room).merged] == [(keeper, (other,))]
    assert room.note(loser).state.lifecycle is Lifecycle.ACTIVE


@pytest.mark.parametrize("carried", [("CI",), ("CI", "ci")])
def test_a_keyword_that_was_brought_back_is_not_replaced_again(
    room: Room, carried: tuple[str, ...]
) -> None:
    for number in range(3):
        room.insert(note=NewNote(title=f"note {number}", keywords=("ci",)))
    carrier = room.insert(note=NewNote(title="another", keywords=carried)).id
    apply(room)
    event = room.count("SELECT max(event_id) FROM keyword_edits")

    room.change(Verb.UNDO, event=event)

    assert room.note(carrier).keywords == carried
    assert plan_safe(room.profile, EVERYWHERE).keywords == []
    assert apply(room).keywords == []
    *_, last = scan_notes(room.profile, EVERYWHERE, 30, Deadline(30.0))
    assert last.report is not None
    assert last.report.judged == 1
    assert room.count("SELECT count(*) FROM review_items WHERE kind = 'keyword-variant'") == 1
    assert room.note(carrier).keywords == carried
    room.insert(note=NewNote(title="elsewhere", keywords=("Db",)))
    room.insert(note=NewNote(title="elsewhere too", keywords=("DB",)))
    assert len(apply(room).keywords) == 1


def test_keywords_that_somebody_keeps_both_stay(room: Room) -> None:
    room.insert(note=NewNote(title="one", keywords=("ci",)))
    room.insert(note=NewNote(title="two", keywords=("ci",)))
    room.insert(note=NewNote(title="another", keywords=("CI",)))
    list(scan_notes(room.profile, EVERYWHERE, 30, Deadline(30.0)))
    resolution = Resolution(
        item_id=1,
        decision=Decision.KEEP_BOTH,
        keep="",
        key=room.key("ResolveItem"),
        saying=Saying(caller=AGENT, reason="two things"),
    )

    resolve_item(room.profile, resolution, 20.0)

    assert apply(room).keywords == []


@pytest.mark.parametrize(
    "other",
    [
        NewNote(title="THE POOL", scope="project:elsewhere"),
        NewNote(title="THE POOL", valid_from_ms=1_000),
        NewNote(title="THE POOL", applies_to=("pypi:django>=4",)),
    ],
)
def test_a_note_that_says_something_of_its_own_is_left_alone(room: Room, other: NewNote) -> None:
    room.insert("The pool")
    kept = room.insert(note=other).id

    assert apply(room).merged == []
    assert room.note(kept).state.lifecycle is Lifecycle.ACTIVE


def test_a_doubted_note_is_left_alone(room: Room) -> None:
    room.insert("The pool")
    doubted = room.insert("THE POOL").id
    room.change(Verb.DISPUTE, doubted)

    assert apply(room).merged == []
    assert room.note(doubted).state.lifecycle is Lifecycle.ACTIVE


def test_keywords_that_differ_in_case_or_width_become_one_and_no_others(room: Room) -> None:
    for number in range(2):
        room.insert(note=NewNote(title=f"note {number}", keywords=("ci",)))
    carrier = room.insert(note=NewNote(title="another", keywords=("CI", "cis"))).id

    done = apply(room)

    assert [(each.variant, each.keep) for each in done.keywords] == [("CI", "ci")]
    assert done.notes_with_keywords == 1
    assert room.note(carrier).keywords == ("ci", "cis")
    assert events(room, "merge-keyword") == 1


def test_what_a_note_carried_before_is_still_known_of_then(room: Room) -> None:
    room.insert(note=NewNote(title="one", keywords=("ci",)))
    room.insert(note=NewNote(title="two", keywords=("ci",)))
    carrier = room.insert(note=NewNote(title="another", keywords=("CI",))).id
    then = room.clock.ms
    room.clock.ms += 1_000
    apply(room)

    with room.profile.snapshot() as connection:
        assert read_keywords(connection, [carrier], then)[carrier] == ("CI",)
        assert read_keywords(connection, [carrier])[carrier] == ("ci",)


def test_expiry_is_recorded_once_and_the_note_is_as_it_was(room: Room) -> None:
    expired = NewNote(title="last week", expires_at_ms=room.clock.ms + DAY_MS)
    note_id = room.insert(note=expired).id
    room.insert(note=NewNote(title="next year", expires_at_ms=room.clock.ms + 400 * DAY_MS))
    room.clock.ms += 2 * DAY_MS

    first, second = apply(room), apply(room)

    assert (first.expired, second.expired) == (1, 0)
    assert events(room, "expire") == 1
    assert room.note(note_id).state.lifecycle is Lifecycle.ACTIVE


def test_a_note_that_is_given_another_time_may_expire_again(room: Room) -> None:
    note_id = room.insert(note=NewNote(title="n", expires_at_ms=room.clock.ms + DAY_MS)).id
    room.clock.ms += 2 * DAY_MS
    apply(room)
    later = Times(expires_at=Time(at_ms=room.clock.ms + DAY_MS))
    room.change(Verb.SET_TIMES, note_id, times=later)
    room.clock.ms += 2 * DAY_MS

    assert apply(room).expired == 1


def test_a_dry_run_tells_the_same_and_does_nothing(room: Room) -> None:
    room.insert(note=NewNote(title="The pool", keywords=("ci",)))
    room.insert(note=NewNote(title="THE POOL", keywords=("CI",)))
    room.insert(note=NewNote(title="n", keywords=("ci",), expires_at_ms=room.clock.ms + DAY_MS))
    room.clock.ms += 2 * DAY_MS
    before = room.count("SELECT count(*) FROM events")

    planned = plan_safe(room.profile, EVERYWHERE)

    assert (len(planned.merged), planned.expired) == (1, 1)
    assert room.count("SELECT count(*) FROM events") == before
    assert apply(room).merged == planned.merged


def test_it_stays_in_the_scopes_that_are_asked(room: Room) -> None:
    for scope in ("project:a", "project:b"):
        room.insert(note=NewNote(title="The pool", scope=scope))
        room.insert(note=NewNote(title="THE POOL", scope=scope))

    done = apply(room, ScopeFilter(scopes=("project:a",)))

    assert len(done.merged) == 1
    assert len(apply(room).merged) == 1
