"""The queue: what was judged does not come back until its evidence changes."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.memstore.room import AGENT, Room

from graft_memstore.model import Decision, EventSeq, ItemId, ItemKind, NewNote, NoteId, ScopeFilter
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.review_items import (
    ItemFilter,
    NewItem,
    ReviewItem,
    count_open_items,
    decide_item,
    drop_moot_items,
    evidence_of,
    open_item,
    read_decided_items,
    read_open_items,
)

EVERYWHERE = ItemFilter(scope=ScopeFilter(all=True))


@pytest.fixture
def pair(still_room: Room) -> NewItem:
    """Two notes of two scopes that may be duplicates."""
    one = still_room.insert(note=NewNote(title="one", scope="a"))
    other = still_room.insert(note=NewNote(title="other", scope="b"))
    return NewItem(
        kind=ItemKind.DUPLICATE,
        evidence=evidence_of(one.id, other.id, b"their words"),
        note_id=one.id,
        other_id=other.id,
        measure=0.93,
        detail={"cosine": 0.93},
    )


def put(room: Room, item: NewItem) -> ReviewItem:
    return room.profile.write(
        lambda transaction: open_item(transaction.connection, item, transaction.at_ms)
    )


def decide(room: Room, item_id: ItemId, decision: Decision) -> bool:
    def job(transaction: Any) -> bool:
        draft = EventDraft(caller=AGENT, action="test", note_id=None, content_hash=b"")
        event: EventSeq = transaction.record(draft)
        connection, at_ms = transaction.connection, transaction.at_ms
        return decide_item(connection, item_id, decision, event=event, at_ms=at_ms)

    return room.profile.write(job)


def waiting(room: Room, wanted: ItemFilter = EVERYWHERE, **page: int) -> list[ReviewItem]:
    with room.profile.snapshot() as connection:
        return read_open_items(connection, wanted, **{"count_max": 10, **page})


def test_an_item_comes_back_as_it_was_put_in(still_room: Room, pair: NewItem) -> None:
    put(still_room, pair)

    (found,) = waiting(still_room)
    assert found.note_id == pair.note_id
    assert found.other_id == pair.other_id
    assert found.measure == 0.93
    assert found.detail == {"cosine": 0.93}
    assert found.decision is None


def test_the_same_evidence_is_one_item_with_the_newest_measure(
    still_room: Room, pair: NewItem
) -> None:
    first = put(still_room, pair)

    second = put(still_room, replace(pair, measure=0.95))

    assert second.item_id == first.item_id
    assert [each.measure for each in waiting(still_room)] == [0.95]


def test_a_judged_pair_comes_back_with_other_evidence_alone(
    still_room: Room, pair: NewItem
) -> None:
    assert decide(still_room, put(still_room, pair).item_id, Decision.KEEP_BOTH)

    again = put(still_room, pair)

    assert again.decision is Decision.KEEP_BOTH
    assert waiting(still_room) == []
    changed = replace(pair, evidence=evidence_of(pair.note_id, pair.other_id, b"other words"))
    assert put(still_room, changed).decision is None
    assert len(waiting(still_room)) == 1


def test_what_is_decided_is_decided_once(still_room: Room, pair: NewItem) -> None:
    item_id = put(still_room, pair).item_id

    assert decide(still_room, item_id, Decision.KEEP_BOTH)
    assert not decide(still_room, item_id, Decision.REJECT)

    with still_room.profile.snapshot() as connection:
        (found,) = read_decided_items(connection, EVERYWHERE, count_max=10)
    assert found.decision is Decision.KEEP_BOTH


def test_an_item_is_seen_where_all_its_scopes_are_looked_at(
    still_room: Room, pair: NewItem
) -> None:
    put(still_room, pair)

    assert waiting(still_room, ItemFilter(scope=ScopeFilter(scopes=("a", "b"))))
    assert not waiting(still_room, ItemFilter(scope=ScopeFilter(scopes=("a",))))
    assert not waiting(still_room, ItemFilter(scope=ScopeFilter(scopes=("b",))))


def test_items_are_listed_in_pages_and_counted_by_kind(still_room: Room, pair: NewItem) -> None:
    put(still_room, pair)
    put(still_room, replace(pair, kind=ItemKind.CONTRADICTION))
    without_note = NewItem(kind=ItemKind.KEYWORD_VARIANT, evidence=evidence_of("CI"), scope="a")
    put(still_room, without_note)

    (first,) = waiting(still_room, count_max=1)
    rest = waiting(still_room, after=first.item_id)

    assert [each.kind for each in rest] == [ItemKind.CONTRADICTION, ItemKind.KEYWORD_VARIANT]
    only = ItemFilter(scope=ScopeFilter(all=True), kinds=(ItemKind.CONTRADICTION,))
    assert [each.kind for each in waiting(still_room, only)] == [ItemKind.CONTRADICTION]
    with still_room.profile.snapshot() as connection:
        assert count_open_items(connection, EVERYWHERE) == {
            ItemKind.DUPLICATE: 1,
            ItemKind.CONTRADICTION: 1,
            ItemKind.KEYWORD_VARIANT: 1,
        }


def test_what_is_moot_leaves_the_queue_but_proposals_and_judgements_stay(
    still_room: Room, pair: NewItem
) -> None:
    judged = replace(pair, evidence=evidence_of("judged"))
    decide(still_room, put(still_room, judged).item_id, Decision.KEEP_BOTH)
    proposal = replace(pair, kind=ItemKind.PROPOSAL)
    put(still_room, proposal)
    put(still_room, pair)

    note_id = NoteId(str(pair.other_id))
    still_room.profile.write(lambda change: drop_moot_items(change.connection, note_id))

    assert [each.kind for each in waiting(still_room)] == [ItemKind.PROPOSAL]
    assert put(still_room, judged).decision is Decision.KEEP_BOTH


def test_an_item_goes_with_the_note_that_it_is_about(still_room: Room, pair: NewItem) -> None:
    put(still_room, pair)

    still_room.delete(str(pair.other_id))

    assert waiting(still_room) == []
