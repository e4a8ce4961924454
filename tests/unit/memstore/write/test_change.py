"""Changing what notes are worth: what each verb records, and what it refuses."""

from dataclasses import replace

import pytest
from tests.unit.memstore.room import PERSON, Room

from graft.wire.errors import (
    BadFieldError,
    EventNotFoundError,
    NoteNotFoundError,
    NotLastChangeError,
    ProposedError,
    RequestIdReusedError,
    SelfReferenceError,
    SupersededAlreadyError,
    SupersedingCycleError,
    WrongStateError,
)
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Lifecycle, NewNote, Trust
from graft_memstore.write.change import Time, Times

STATE_ROWS = "SELECT count(*) FROM note_states"
EVENTS = "SELECT count(*) FROM events"


def chain_of(room: Room, *titles: str) -> list[str]:
    """Store notes of which each supersedes the one before."""
    ids: list[str] = []
    for title in titles:
        note = NewNote(title=title, supersedes=ids[-1] if ids else "", reason="moved")
        ids.append(room.insert(note=note).id)
    return ids


@pytest.mark.parametrize(
    ("verb", "lifecycle", "trust"),
    [
        (Verb.RETIRE, Lifecycle.RETIRED, Trust.OBSERVED),
        (Verb.REJECT, Lifecycle.ACTIVE, Trust.REJECTED),
        (Verb.DISPUTE, Lifecycle.ACTIVE, Trust.DISPUTED),
        (Verb.MARK_STALE, Lifecycle.ACTIVE, Trust.STALE),
    ],
)
def test_a_verb_closes_the_state_and_records_the_new_one_with_its_event(
    still_room: Room, verb: Verb, lifecycle: Lifecycle, trust: Trust
) -> None:
    stored = still_room.insert("the port is 6432")
    still_room.clock.ms += 5

    changed = still_room.change(verb, stored.id[-8:], reason="seen on staging")

    note = still_room.note(stored.id)
    assert (changed.id, changed.event, changed.scope) == (stored.id, 2, "user")
    assert (changed.state.lifecycle, changed.state.trust) == (lifecycle, trust)
    assert (note.state.lifecycle, note.state.trust, note.event) == (lifecycle, trust, 2)
    assert note.state.reason == "seen on staging"
    closed = "SELECT count(*) FROM note_states WHERE known_to = known_from + 5"
    assert (still_room.count(STATE_ROWS), still_room.count(closed)) == (2, 1)
    said = f"action = '{verb}' AND reason = 'seen on staging' AND note_id = '{stored.id}'"
    assert still_room.count(f"{EVENTS} WHERE {said}") == 1
    assert still_room.verify().ok


@pytest.mark.parametrize("verb", [Verb.RETIRE, Verb.DISPUTE, Verb.MARK_STALE, Verb.REJECT])
def test_a_verb_is_refused_a_second_time_with_the_state_as_it_is(
    still_room: Room, verb: Verb
) -> None:
    stored = still_room.insert("the port is 6432")
    first = still_room.change(verb, stored.id)

    with pytest.raises(WrongStateError) as refusal:
        still_room.change(verb, stored.id)

    facts = refusal.value.metadata
    assert facts["note_id"] == stored.id
    assert (facts["lifecycle"], facts["trust"]) == (first.state.lifecycle, first.state.trust)
    assert still_room.count(STATE_ROWS) == 2


def test_a_retried_change_answers_the_same_and_changes_nothing(still_room: Room) -> None:
    old, new = still_room.insert("the port is 6432"), still_room.insert("the port is 7000")
    key = still_room.key("SupersedeNote")

    first = still_room.change(Verb.SUPERSEDE, old.id, by=new.id, key=key)
    again = still_room.change(Verb.SUPERSEDE, old.id, by=new.id, key=key)

    assert first == again
    assert first.superseded_by == new.id
    assert still_room.count(EVENTS) == 3
    with pytest.raises(RequestIdReusedError):
        still_room.insert("the port is 8000", key=replace(key, method="InsertNote"))


@pytest.mark.parametrize("verb", list(Verb))
def test_a_reason_is_needed(still_room: Room, verb: Verb) -> None:
    stored = still_room.insert("the port is 6432")

    with pytest.raises(BadFieldError, match="reason"):
        still_room.change(verb, stored.id, by=stored.id, event=1, reason=" ")


def test_restoring_brings_a_retired_note_back_with_its_trust(still_room: Room) -> None:
    stored = still_room.insert("the port is 6432")
    still_room.change(Verb.DISPUTE, stored.id)
    still_room.change(Verb.RETIRE, stored.id)

    changed = still_room.change(Verb.RESTORE, stored.id)

    assert (changed.state.lifecycle, changed.state.trust) == (Lifecycle.ACTIVE, Trust.DISPUTED)
    with pytest.raises(WrongStateError, match="active and disputed"):
        still_room.change(Verb.RESTORE, stored.id)


def test_times_are_set_one_by_one_and_taken_away(still_room: Room) -> None:
    stored = still_room.insert(note=NewNote(title="the port", valid_from_ms=10, expires_at_ms=90))

    set_one = still_room.change(
        Verb.SET_TIMES, stored.id, times=Times(valid_to=Time(at_ms=50))
    ).state
    cleared = still_room.change(
        Verb.SET_TIMES, stored.id, times=Times(valid_from=Time(at_ms=None))
    ).state

    assert (set_one.valid_from_ms, set_one.valid_to_ms, set_one.expires_at_ms) == (10, 50, 90)
    assert (cleared.valid_from_ms, cleared.valid_to_ms, cleared.expires_at_ms) == (None, 50, 90)
    assert still_room.count(STATE_ROWS) == 3


@pytest.mark.parametrize(
    ("times", "field"),
    [
        (Times(), "valid_from"),
        (Times(valid_to=Time(at_ms=10)), "valid_to"),
        (Times(valid_from=Time(at_ms=10**15)), "valid_from"),
        (Times(expires_at=Time(at_ms=10**15)), "expires_at"),
    ],
)
def test_times_that_cannot_be_are_refused(still_room: Room, times: Times, field: str) -> None:
    stored = still_room.insert(note=NewNote(title="the port", valid_from_ms=10))

    with pytest.raises(BadFieldError) as refusal:
        still_room.change(Verb.SET_TIMES, stored.id, times=times)

    assert [each.field for each in refusal.value.violations] == [field]


def test_superseding_hides_the_old_note_and_names_the_new_one(still_room: Room) -> None:
    old, new = still_room.insert("the port is 6432"), still_room.insert("the port is 7000")

    still_room.change(Verb.SUPERSEDE, old.id, by=new.id[-8:])

    assert still_room.note(old.id).state.lifecycle is Lifecycle.SUPERSEDED
    assert still_room.note(old.id).superseded_by == new.id
    assert still_room.note(new.id).superseded_by is None


def test_a_chain_of_successors_resolves_to_its_head(still_room: Room) -> None:
    first, second, third = chain_of(still_room, "port 1", "port 2", "port 3")

    assert still_room.note(first).superseded_by == third
    assert still_room.note(second).superseded_by == third


def test_only_the_head_of_a_chain_can_be_superseded(still_room: Room) -> None:
    first, second, third = chain_of(still_room, "port 1", "port 2", "port 3")
    other = still_room.insert("port 4").id

    for old in (first, second):
        with pytest.raises(SupersededAlreadyError, match=third) as refusal:
            still_room.change(Verb.SUPERSEDE, old, by=other)
        assert refusal.value.metadata["head"] == third
        assert refusal.value.metadata["state"] == "superseded"


@pytest.mark.parametrize("length", [2, 3, 5])
def test_a_cycle_is_refused(still_room: Room, length: int) -> None:
    ids = chain_of(still_room, *(f"port {number}" for number in range(length)))

    with pytest.raises(SupersedingCycleError) as refusal:
        still_room.change(Verb.SUPERSEDE, ids[-1], by=ids[0])

    assert refusal.value.metadata["head"] == ids[-1]
    assert still_room.note(ids[-1]).state.lifecycle is Lifecycle.ACTIVE


def test_a_note_cannot_supersede_itself(still_room: Room) -> None:
    stored = still_room.insert("port 1")

    with pytest.raises(SelfReferenceError):
        still_room.change(Verb.SUPERSEDE, stored.id, by=stored.id[-8:])
    with pytest.raises(SelfReferenceError):
        still_room.insert(note=NewNote(title="port 1", supersedes=stored.id, reason="r"))


def test_what_no_search_shows_replaces_nothing(still_room: Room) -> None:
    old = still_room.insert("port 1").id
    retired = still_room.insert("port 2").id
    still_room.change(Verb.RETIRE, retired)
    now = still_room.clock.ms
    expired = still_room.insert(note=NewNote(title="port 3", expires_at_ms=now)).id
    later = still_room.insert(note=NewNote(title="port 4", valid_from_ms=now + 1)).id

    for new, state in ((retired, "retired"), (expired, "expired"), (later, "not yet valid")):
        with pytest.raises(WrongStateError) as refusal:
            still_room.change(Verb.SUPERSEDE, old, by=new)
        assert refusal.value.metadata["state"] == state
    assert still_room.note(old).state.lifecycle is Lifecycle.ACTIVE


def test_unknown_notes_are_refused_by_their_field(still_room: Room) -> None:
    stored = still_room.insert("port 1")

    with pytest.raises(NoteNotFoundError):
        still_room.change(Verb.SUPERSEDE, stored.id, by="f" * 32)
    with pytest.raises(BadFieldError, match="by: "):
        still_room.change(Verb.SUPERSEDE, stored.id, by="1234567")


def test_erasing_a_note_of_a_chain_joins_its_ends(still_room: Room) -> None:
    first, second, third = chain_of(still_room, "port 1", "port 2", "port 3")

    still_room.delete(second, caller=PERSON)

    assert still_room.note(first).superseded_by == third


def test_a_note_whose_successor_was_erased_is_told_how_to_come_back(still_room: Room) -> None:
    first, second = chain_of(still_room, "port 1", "port 2")
    superseded = still_room.note(first).event
    still_room.delete(second, caller=PERSON)
    other = still_room.insert("port 3").id

    with pytest.raises(SupersededAlreadyError, match=f"graft undo {superseded}") as refusal:
        still_room.change(Verb.SUPERSEDE, first, by=other)

    assert refusal.value.metadata["head"] == ""
    still_room.change(Verb.UNDO, event=superseded)
    assert still_room.note(first).state.lifecycle is Lifecycle.ACTIVE


@pytest.mark.parametrize("verb", [Verb.RETIRE, Verb.DISPUTE, Verb.MARK_STALE])
def test_undoing_a_change_brings_the_state_before_it_back(still_room: Room, verb: Verb) -> None:
    stored = still_room.insert("port 1")
    event = still_room.change(verb, stored.id).event

    undone = still_room.change(Verb.UNDO, event=event, reason="it was right")

    assert (undone.state.lifecycle, undone.state.trust) == (Lifecycle.ACTIVE, Trust.OBSERVED)
    assert undone.event == event + 1
    assert still_room.count(STATE_ROWS) == 3


def test_undoing_a_superseding_parts_the_notes_and_undoing_that_joins_them(
    still_room: Room,
) -> None:
    first, second = chain_of(still_room, "port 1", "port 2")

    parted = still_room.change(Verb.UNDO, event=still_room.note(first).event)
    apart = still_room.note(first)
    still_room.change(Verb.UNDO, event=parted.event)

    assert (apart.state.lifecycle, apart.superseded_by) == (Lifecycle.ACTIVE, None)
    joined = still_room.note(first)
    assert (joined.state.lifecycle, joined.superseded_by) == (Lifecycle.SUPERSEDED, second)


def test_undoing_never_makes_a_cycle(still_room: Room) -> None:
    first, second = chain_of(still_room, "port 1", "port 2")
    parted = still_room.change(Verb.UNDO, event=still_room.note(first).event)
    still_room.change(Verb.SUPERSEDE, second, by=first)

    with pytest.raises(SupersedingCycleError):
        still_room.change(Verb.UNDO, event=parted.event)

    assert still_room.note(second).superseded_by == first


def test_only_the_last_change_of_a_note_can_be_undone(still_room: Room) -> None:
    stored = still_room.insert("port 1")
    first = still_room.change(Verb.DISPUTE, stored.id).event
    last = still_room.change(Verb.RETIRE, stored.id).event

    with pytest.raises(NotLastChangeError) as refusal:
        still_room.change(Verb.UNDO, event=first)

    assert refusal.value.metadata == {"note_id": stored.id, "event": str(last)}


def test_what_cannot_be_undone_is_refused(still_room: Room) -> None:
    kept, erased = still_room.insert("port 1"), still_room.insert("port 2")
    rejected = still_room.insert("port 3")
    reject = still_room.change(Verb.REJECT, rejected.id).event
    gone = still_room.delete(erased.id).event

    with pytest.raises(EventNotFoundError):
        still_room.change(Verb.UNDO, event=99)
    with pytest.raises(WrongStateError, match="graft retire"):
        still_room.change(Verb.UNDO, event=kept.event)
    with pytest.raises(WrongStateError) as refusal:
        still_room.change(Verb.UNDO, event=gone)
    assert refusal.value.metadata["state"] == "deleted"
    with pytest.raises(ProposedError, match="reviewer"):
        still_room.change(Verb.UNDO, event=reject)


def test_a_note_that_comes_back_is_joined_with_those_that_came_meanwhile(
    still_room: Room,
) -> None:
    stored = still_room.insert("port 1")
    still_room.change(Verb.RETIRE, stored.id)
    asked = still_room.count("SELECT asked FROM edges_pending")

    still_room.change(Verb.RESTORE, stored.id)

    assert still_room.count("SELECT asked FROM edges_pending") == asked + 1
