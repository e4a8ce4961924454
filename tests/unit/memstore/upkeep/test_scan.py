from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, Room, open_room

from graft.wire.errors import ItemNotFoundError, WrongStateError
from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import Verb
from graft_memstore.model import (
    Decision,
    ItemKind,
    Lifecycle,
    NewNote,
    NoteId,
    ScopeFilter,
)
from graft_memstore.store.review_items import ItemFilter, ReviewItem, read_open_items
from graft_memstore.store.uses import Uses, add_uses
from graft_memstore.upkeep.resolve import Resolution, Resolved, resolve_item
from graft_memstore.upkeep.scan import DAY_MS, ScanReport, scan_notes
from graft_memstore.write.state_change import Saying

EVERYWHERE = ScopeFilter(all=True)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with open_room(tmp_path) as made:
        yield made


def scan(room: Room, scope: ScopeFilter = EVERYWHERE, idle_days: int = 30) -> ScanReport:
    room.wait_until_joined()
    *_, last = scan_notes(room.profile, scope, idle_days, Deadline(30.0))
    assert last.report is not None
    return last.report


def waiting(room: Room, *kinds: ItemKind) -> list[ReviewItem]:
    with room.profile.snapshot() as connection:
        return read_open_items(
            connection, ItemFilter(scope=EVERYWHERE, kinds=kinds), count_max=1_000
        )


def resolve(room: Room, item: ReviewItem, decision: Decision, keep: str = "") -> Resolved:
    resolution = Resolution(
        item_id=item.item_id,
        decision=decision,
        keep=keep,
        key=room.key("ResolveItem"),
        saying=Saying(caller=AGENT, reason="because"),
    )
    return resolve_item(room.profile, resolution, 30.0)


def pair(item: ReviewItem) -> tuple[NoteId | None, NoteId | None]:
    return item.note_id, item.other_id


def test_each_kind_of_pair_is_found_and_what_looks_like_one_is_not(room: Room) -> None:
    old_port = room.insert("The pool listens on port 6432").id
    denied = room.insert("Restart the pool during backups").id
    told = room.insert("Deploys go through the staging cluster of the shop first").id
    room.clock.ms += 1_000
    new_port = room.insert("The pool listens on port 7000").id
    denying = room.insert("Do not restart the pool during backups").id
    again = room.insert("Deploys of the shop go through the staging cluster first, always").id
    room.insert("Host web1 serves the shop")
    room.insert("Host web2 serves the shop")

    scan(room)

    assert [pair(each) for each in waiting(room, ItemKind.SUPERSESSION)] == [(old_port, new_port)]
    assert [pair(each) for each in waiting(room, ItemKind.CONTRADICTION)] == [(denied, denying)]
    assert [pair(each) for each in waiting(room, ItemKind.DUPLICATE)] == [(told, again)]
    assert waiting(room, ItemKind.POSSIBLE_CONTRADICTION) == []


def test_two_values_that_came_in_together_contradict_each_other(room: Room) -> None:
    room.insert_all(
        [NewNote(title="The pool listens on 6432"), NewNote(title="The pool listens on 7000")]
    )

    scan(room)

    assert len(waiting(room, ItemKind.POSSIBLE_CONTRADICTION)) == 1
    assert waiting(room, ItemKind.SUPERSESSION) == []


def test_of_many_values_each_is_asked_about_beside_the_last_before_it(room: Room) -> None:
    for port in range(6432, 6440):
        room.clock.ms += 1_000
        room.insert(f"The pool listens on port {port}")

    scan(room)

    assert len(waiting(room, ItemKind.SUPERSESSION)) == 7


def test_a_second_scan_finds_nothing_new_and_a_judged_pair_stays_away(room: Room) -> None:
    room.insert("The pool listens on port 6432")
    room.clock.ms += 1_000
    room.insert("The pool listens on port 7000")
    first, second = scan(room), scan(room)
    resolve(room, waiting(room, ItemKind.SUPERSESSION)[0], Decision.KEEP_BOTH)

    third = scan(room)

    assert (first.new, second.new) == (1, 0)
    assert (third.new, third.judged) == (0, 1)
    assert waiting(room) == []


def test_another_note_about_a_judged_thing_is_asked_about_again(room: Room) -> None:
    for port in (6432, 7000):
        room.clock.ms += 1_000
        room.insert(f"The pool listens on port {port}")
    scan(room)
    resolve(room, waiting(room, ItemKind.SUPERSESSION)[0], Decision.KEEP_BOTH)
    room.clock.ms += 1_000
    newest = room.insert("The pool listens on port 8000").id

    scan(room)

    assert [each.other_id for each in waiting(room, ItemKind.SUPERSESSION)] == [newest]


def test_what_is_no_more_is_taken_out(room: Room) -> None:
    room.insert("The pool listens on port 6432")
    room.clock.ms += 1_000
    newer = room.insert("The pool listens on port 7000").id
    scan(room)
    room.delete(newer)

    assert scan(room).found == {}
    assert waiting(room) == []


def test_superseding_by_an_item_keeps_the_newer_note_and_can_be_undone(room: Room) -> None:
    older = room.insert("The pool listens on port 6432").id
    room.clock.ms += 1_000
    room.insert("The pool listens on port 7000")
    scan(room)

    resolved = resolve(room, waiting(room, ItemKind.SUPERSESSION)[0], Decision.SUPERSEDE)

    assert resolved.changed == (older,)
    assert room.note(older).state.lifecycle is Lifecycle.SUPERSEDED
    assert room.note(older).event == resolved.change


def test_the_older_note_may_be_the_one_that_stays(room: Room) -> None:
    older = room.insert("The pool listens on port 6432").id
    room.clock.ms += 1_000
    newer = room.insert("The pool listens on port 7000").id
    scan(room)

    resolve(room, waiting(room, ItemKind.SUPERSESSION)[0], Decision.SUPERSEDE, keep=older)

    assert room.note(newer).state.lifecycle is Lifecycle.SUPERSEDED
    assert room.note(older).state.lifecycle is Lifecycle.ACTIVE


def test_a_decision_that_the_kind_does_not_take_changes_nothing(room: Room) -> None:
    room.insert("The pool listens on port 6432")
    room.clock.ms += 1_000
    room.insert("The pool listens on port 7000")
    scan(room)
    item = waiting(room, ItemKind.SUPERSESSION)[0]
    events = room.count("SELECT count(*) FROM events")

    with pytest.raises(WrongStateError, match="by supersede or keep-both it can"):
        resolve(room, item, Decision.APPROVE)

    assert waiting(room) == [item]
    assert room.count("SELECT count(*) FROM events") == events


def test_a_thing_is_decided_once(room: Room) -> None:
    room.insert("The pool listens on port 6432")
    room.clock.ms += 1_000
    room.insert("The pool listens on port 7000")
    scan(room)
    item = waiting(room)[0]
    resolve(room, item, Decision.KEEP_BOTH)

    with pytest.raises(WrongStateError, match="decided already: keep-both"):
        resolve(room, item, Decision.SUPERSEDE)


def test_a_number_under_which_nothing_waits_is_said_so(room: Room) -> None:
    room.insert("a note")
    resolution = Resolution(
        item_id=99,
        decision=Decision.KEEP_BOTH,
        keep="",
        key=room.key("ResolveItem"),
        saying=Saying(caller=AGENT, reason="because"),
    )

    with pytest.raises(ItemNotFoundError, match="99"):
        resolve_item(room.profile, resolution, 30.0)


def test_keywords_that_are_alike_are_found_and_become_one(room: Room) -> None:
    for number in range(3):
        room.insert(note=NewNote(title=f"note {number}", keywords=("pool",)))
    carrier = room.insert(note=NewNote(title="another", keywords=("pools", "http2"))).id
    room.insert(note=NewNote(title="one more", keywords=("http3",)))
    scan(room)
    (item,) = waiting(room, ItemKind.KEYWORD_VARIANT)

    resolve(room, item, Decision.APPROVE)

    assert item.detail == {"variant": "pools", "keep": "pool", "differs": "form"}
    assert room.note(carrier).keywords == ("http2", "pool")
    assert scan(room).found.get(ItemKind.KEYWORD_VARIANT) is None


def test_the_words_of_a_keyword_leave_the_queue_with_the_last_note_that_carried_it(
    room: Room,
) -> None:
    room.insert(note=NewNote(title="a note", keywords=("pool",)))
    carrier = room.insert(note=NewNote(title="another", keywords=("pools",))).id
    scan(room)
    assert len(waiting(room, ItemKind.KEYWORD_VARIANT)) == 1

    room.delete(carrier)

    assert room.count("SELECT count(*) FROM review_items WHERE detail LIKE '%pools%'") == 0


def test_a_note_that_nothing_is_joined_with_is_found_after_a_time(room: Room) -> None:
    alone = room.insert("Grafana dashboards").id
    joined = NewNote(title="a pool", keywords=("pool",))
    room.insert(note=joined)
    room.insert(note=NewNote(title="a pool again", keywords=("pool",)))

    early = scan(room)
    room.clock.ms += 31 * DAY_MS
    late = scan(room)

    assert ItemKind.ISOLATED not in early.found
    assert late.found[ItemKind.ISOLATED] == 1
    assert waiting(room, ItemKind.ISOLATED)[0].note_id == alone


def test_a_note_that_was_never_given_out_is_found_after_a_time(room: Room) -> None:
    used = room.insert(note=NewNote(title="a pool", keywords=("pool",))).id
    unused = room.insert(note=NewNote(title="a pool again", keywords=("pool",))).id
    room.profile.write(
        lambda transaction: add_uses(
            transaction.connection, used, Uses(got=1, last_at_ms=room.clock.ms)
        )
    )

    early = scan(room)
    room.clock.ms += 31 * DAY_MS
    scan(room)

    assert ItemKind.NEVER_USED not in early.found
    assert [each.note_id for each in waiting(room, ItemKind.NEVER_USED)] == [unused]


def test_expired_and_long_retired_notes_are_found_and_others_are_not(room: Room) -> None:
    now = room.clock.ms
    expired = room.insert(note=NewNote(title="last week", expires_at_ms=now + DAY_MS)).id
    room.insert(note=NewNote(title="next year", expires_at_ms=now + 400 * DAY_MS))
    retired = room.insert("retired long ago").id
    room.change(Verb.RETIRE, retired)
    room.clock.ms += 30 * DAY_MS
    room.change(Verb.RETIRE, room.insert("retired just now").id)

    scan(room)

    assert [each.note_id for each in waiting(room, ItemKind.EXPIRED)] == [expired]
    assert [each.note_id for each in waiting(room, ItemKind.PURGE_DUE)] == [retired]


def test_a_scan_of_one_scope_finds_and_takes_out_nothing_elsewhere(room: Room) -> None:
    for scope in ("project:a", "project:b"):
        for port in (6432, 7000):
            room.clock.ms += 1_000
            room.insert(note=NewNote(title=f"The pool listens on port {port}", scope=scope))
    assert scan(room).new == 2

    report = scan(room, ScopeFilter(scopes=("project:a",)))

    assert (report.notes, report.found) == (2, {ItemKind.SUPERSESSION: 1})
    assert len(waiting(room, ItemKind.SUPERSESSION)) == 2


def test_above_a_few_hundred_notes_pairs_come_from_the_edges(room: Room) -> None:
    words = ("amber", "birch", "cedar", "dune", "ember", "frost", "grove")
    notes = [
        NewNote(title=f"{words[n % 7]} {words[n // 7 % 7]} {words[n // 49 % 7]} item-{n}x{n * n}")
        for n in range(300)
    ]
    for start in range(0, len(notes), 100):
        room.insert_all(notes[start : start + 100])
    older = room.insert("Restart the pool during backups").id
    newer = room.insert("Do not restart the pool during backups").id

    report = scan(room)

    assert report.notes == 302
    assert report.waiting == 0
    assert [pair(each) for each in waiting(room, ItemKind.CONTRADICTION)] == [(older, newer)]


def test_a_scan_that_is_broken_off_has_written_nothing(room: Room) -> None:
    room.insert("The pool listens on port 6432")
    room.clock.ms += 1_000
    room.insert("The pool listens on port 7000")
    room.wait_until_joined()

    steps = scan_notes(room.profile, EVERYWHERE, 30, Deadline(30.0))
    next(steps), next(steps)
    del steps

    assert waiting(room) == []
