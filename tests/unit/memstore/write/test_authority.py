"""Who may do what to whose note: what an agent may not do is proposed, and nothing else happens."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.memstore.room import AGENT, WAIT_SECONDS, Room

from graft.wire.errors import (
    BadFieldError,
    NotAllowedError,
    ProposedError,
    RejectedTextError,
)
from graft_memstore.lifecycle import Verb
from graft_memstore.model import (
    Caller,
    Decision,
    ItemKind,
    Lifecycle,
    NewNote,
    NoteId,
    Oracle,
    OracleKind,
    ScopeFilter,
    Source,
    SourceKind,
    Trust,
)
from graft_memstore.store.applies import read_applies_to
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.review_items import (
    ItemFilter,
    ReviewItem,
    decide_item,
    read_open_items,
)
from graft_memstore.store.rows import change
from graft_memstore.store.sources import read_sources
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.change import Time, Times
from graft_memstore.write.source_changes import add_note_sources
from graft_memstore.write.state_change import Saying

REVIEWER = Caller(actor="reviewer", door="cli")
BY_HAND = Oracle(kind=OracleKind.REVIEWER)
RUN = Oracle(kind=OracleKind.RUN, command="make test", output_digest="0" * 64)


def waiting(room: Room) -> list[ReviewItem]:
    everything = ItemFilter(scope=ScopeFilter(all=True))
    with room.profile.snapshot() as connection:
        return read_open_items(connection, everything, count_max=50)


def reviewed(room: Room, title: str = "the port is 6432") -> str:
    note_id = room.insert(title).id
    room.change(Verb.VERIFY, note_id, caller=REVIEWER, oracle=BY_HAND)
    return note_id


FORBIDDEN: dict[str, Callable[[Room, str], object]] = {
    "retire": lambda room, note: room.change(Verb.RETIRE, note),
    "reject": lambda room, note: room.change(Verb.REJECT, note),
    "supersede": lambda room, note: room.change(
        Verb.SUPERSEDE, note, by=room.insert("the port is 7000").id
    ),
    "set": lambda room, note: room.change(
        Verb.SET_TIMES, note, times=Times(expires_at=Time(at_ms=5))
    ),
    "delete": lambda room, note: room.delete(note, caller=AGENT),
    "reject a note that says the same": lambda room, _: room.change(
        Verb.REJECT, room.insert("The Port is 6432").id
    ),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_an_agent_may_not_do_waits_for_the_reviewer(still_room: Room, what: str) -> None:
    note = reviewed(still_room)
    before = still_room.note(note).state

    with pytest.raises(ProposedError, match="waits for the reviewer as item") as raised:
        FORBIDDEN[what](still_room, note)

    assert still_room.note(note).state == before
    (item,) = waiting(still_room)
    assert raised.value.metadata["proposal"] == str(item.item_id)
    assert item.kind is ItemKind.PROPOSAL
    assert item.event is not None


def a_file(fingerprint: str) -> Source:
    return Source(kind=SourceKind.FILE, locator="a.py", project="p", fingerprint=fingerprint)


def test_an_agent_says_of_no_reviewed_note_that_it_holds_for_its_changed_source(
    still_room: Room,
) -> None:
    was, now = (a_file("blake3:" + digit * 64) for digit in "ab")
    port = NewNote(title="the port is 6432", sources=(was,))
    note = still_room.insert(note=port).id
    still_room.change(Verb.VERIFY, note, caller=REVIEWER, oracle=BY_HAND)
    said = still_room.key("AddSources"), Saying(caller=AGENT, reason="")

    with pytest.raises(NotAllowedError, match="a reviewer verified"):
        add_note_sources(still_room.profile, note, [now], said, WAIT_SECONDS)
    again = still_room.insert(note=replace(port, sources=(now,), keywords=("port",)))

    assert (again.id, again.duplicate) == (note, True)
    with still_room.profile.snapshot() as connection:
        (kept,) = read_sources(connection, [NoteId(note)])[NoteId(note)]
    assert kept.fingerprint == was.fingerprint


def test_an_agent_makes_no_reviewed_note_apply_to_something_else(still_room: Room) -> None:
    note = reviewed(still_room)
    narrower = NewNote(title="the port is 6432", applies_to=("os:windows",))

    with pytest.raises(NotAllowedError, match="what it applies to"):
        still_room.insert(note=narrower)

    with still_room.profile.snapshot() as connection:
        assert read_applies_to(connection, [NoteId(note)]) == {}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_an_agent_may_do_all_of_it_to_a_note_that_it_only_claims_to_have_checked(
    still_room: Room, what: str
) -> None:
    note = still_room.insert("the port is 6432").id
    still_room.change(Verb.VERIFY, note, oracle=RUN)

    FORBIDDEN[what](still_room, note)

    assert waiting(still_room) == []


def test_disputing_a_reviewed_note_takes_its_protection_from_it_not(still_room: Room) -> None:
    note = reviewed(still_room)

    still_room.change(Verb.DISPUTE, note)

    assert still_room.note(note).state.trust is Trust.DISPUTED
    for verb in (Verb.RETIRE, Verb.REJECT):
        with pytest.raises(ProposedError):
            still_room.change(verb, note)
    with pytest.raises(ProposedError):
        still_room.change(Verb.VERIFY, note, oracle=RUN)


def test_a_proposal_is_made_once_and_not_again_after_it_was_turned_down(still_room: Room) -> None:
    note = reviewed(still_room)
    for _ in range(2):
        with pytest.raises(ProposedError):
            still_room.change(Verb.RETIRE, note)
    (item,) = waiting(still_room)
    events = still_room.count("SELECT count(*) FROM events WHERE action = 'propose'")

    def turn_down(transaction: Transaction) -> None:
        draft = EventDraft(caller=REVIEWER, action="x", note_id=None, content_hash=b"")
        event, at_ms = transaction.record(draft), transaction.at_ms
        connection = transaction.connection
        decide_item(connection, item.item_id, Decision.REJECT, event=event, at_ms=at_ms)

    still_room.profile.write(turn_down)

    assert events == 1
    with pytest.raises(NotAllowedError, match="turned this down"):
        still_room.change(Verb.RETIRE, note)
    still_room.change(Verb.DISPUTE, note)
    with pytest.raises(ProposedError):
        still_room.change(Verb.RETIRE, note)


def test_a_correction_of_a_reviewed_note_is_kept_as_a_candidate(still_room: Room) -> None:
    note = reviewed(still_room)

    stored = still_room.insert(
        note=NewNote(title="the port is 7000", supersedes=note, reason="it moved")
    )

    assert stored.trust is Trust.CANDIDATE
    assert stored.superseded is None
    assert still_room.note(note).state.lifecycle is Lifecycle.ACTIVE
    found = {each.kind: each for each in waiting(still_room)}
    assert found[ItemKind.PROPOSAL].item_id == stored.proposal
    assert found[ItemKind.PROPOSAL].other_id == stored.id
    assert found[ItemKind.CANDIDATE].note_id == stored.id


@pytest.mark.parametrize("caller", [AGENT, REVIEWER])
def test_what_nobody_has_looked_at_waits_whoever_saves_it(still_room: Room, caller: Caller) -> None:
    note = NewNote(title="the port is 6432", candidate=True)
    stored = still_room.insert_all([note], caller=caller).notes[0]
    still_room.insert_all([NewNote(title="the port is 7000")], caller=caller)

    assert stored.trust is Trust.CANDIDATE
    assert [each.note_id for each in waiting(still_room)] == [stored.id]


def test_an_agent_takes_back_neither_a_rejection_nor_what_a_reviewer_did(still_room: Room) -> None:
    note = still_room.insert("the port is 6432").id
    other = still_room.insert("the port is 7000").id
    rejected = still_room.change(Verb.REJECT, note).event
    retired = still_room.change(Verb.RETIRE, other, caller=REVIEWER).event

    for event in (rejected, retired):
        with pytest.raises(ProposedError):
            still_room.change(Verb.UNDO, event=event)

    assert still_room.note(note).state.trust is Trust.REJECTED
    assert still_room.note(other).state.lifecycle is Lifecycle.RETIRED
    assert len(waiting(still_room)) == 2


SET: dict[str, Callable[[Room, str, Caller], object]] = {
    "retired": lambda room, note, caller: room.change(Verb.RETIRE, note, caller=caller),
    "disputed": lambda room, note, caller: room.change(Verb.DISPUTE, note, caller=caller),
    "stale": lambda room, note, caller: room.change(Verb.MARK_STALE, note, caller=caller),
    "ended": lambda room, note, caller: room.change(
        Verb.SET_TIMES, note, times=Times(valid_to=Time(at_ms=5)), caller=caller
    ),
}
LIFT: dict[str, tuple[str, Callable[[Room, str], object]]] = {
    "restore": ("retired", lambda room, note: room.change(Verb.RESTORE, note)),
    "insert and restore": (
        "retired",
        lambda room, _: room.insert(
            note=NewNote(title="the port is 6432", restore=True, reason="x")
        ),
    ),
    "verify what was disputed": (
        "disputed",
        lambda room, note: room.change(Verb.VERIFY, note, oracle=RUN),
    ),
    "verify what was stale": (
        "stale",
        lambda room, note: room.change(Verb.VERIFY, note, oracle=RUN),
    ),
    "set": (
        "ended",
        lambda room, note: room.change(
            Verb.SET_TIMES, note, times=Times(valid_to=Time(at_ms=None))
        ),
    ),
}


@pytest.mark.parametrize("how", LIFT)
def test_an_agent_takes_back_by_no_other_verb_what_a_reviewer_did(
    still_room: Room, how: str
) -> None:
    what, lift = LIFT[how]
    note = still_room.insert("the port is 6432").id
    SET[what](still_room, note, REVIEWER)
    before = still_room.note(note).state

    with pytest.raises(ProposedError, match="as a reviewer left it"):
        lift(still_room, note)

    assert still_room.note(note).state == before
    (item,) = waiting(still_room)
    assert (item.kind, item.note_id) == (ItemKind.PROPOSAL, note)


@pytest.mark.parametrize("how", LIFT)
def test_an_agent_takes_back_what_an_agent_did(still_room: Room, how: str) -> None:
    what, lift = LIFT[how]
    note = still_room.insert("the port is 6432").id
    SET[what](still_room, note, AGENT)
    before = still_room.note(note).state

    lift(still_room, note)

    assert still_room.note(note).state != before
    assert waiting(still_room) == []


def test_a_reviewer_who_takes_back_a_rejection_lets_the_text_be_said_again(
    still_room: Room,
) -> None:
    note = still_room.insert("the port is 6432").id
    rejected = still_room.change(Verb.REJECT, note).event
    with pytest.raises(RejectedTextError):
        still_room.insert("The port is 6432", "")
    (item,) = waiting(still_room)

    still_room.change(Verb.UNDO, event=rejected, caller=REVIEWER)

    assert item.kind is ItemKind.RESTATED_REJECTION
    assert still_room.note(note).state.trust is Trust.OBSERVED
    assert still_room.insert("The port is 6432").trust is Trust.OBSERVED
    assert still_room.count("SELECT count(*) FROM tombstones WHERE lifted_by IS NOT NULL") == 1
    again = still_room.change(Verb.REJECT, note)
    assert again.others == 1
    with pytest.raises(RejectedTextError):
        still_room.insert("the port is 6432")


def test_what_was_rejected_for_every_scope_is_taken_back_there(still_room: Room) -> None:
    still_room.insert(note=NewNote(title="the port is 6432", scope="project:x"))
    everywhere = still_room.insert("the port is 6432").id
    still_room.change(Verb.REJECT, everywhere)
    taken_along = still_room.count("SELECT max(seq) FROM events")

    with pytest.raises(RejectedTextError, match="every scope"):
        still_room.change(Verb.UNDO, event=taken_along, caller=REVIEWER)


def test_the_queue_counts_how_often_a_rejection_is_run_into(still_room: Room) -> None:
    note = still_room.insert("the port is 6432").id
    still_room.change(Verb.REJECT, note)

    for _ in range(3):
        with pytest.raises(RejectedTextError):
            still_room.insert("the port is 6432")

    (item,) = waiting(still_room)
    assert item.measure == 3
    assert not re.search(r"\b6432\b", str(item))


def test_a_held_note_waits_until_it_is_judged_or_taken_away(still_room: Room) -> None:
    note = still_room.insert("the staging pooler listens on port 6432").id
    still_room.change(Verb.REJECT, note)
    held = still_room.insert("on port 6432 the staging pooler listens").id
    (item,) = waiting(still_room)

    retired = still_room.change(Verb.RETIRE, held)
    emptied = waiting(still_room)
    still_room.change(Verb.UNDO, event=retired.event)

    assert (item.kind, item.note_id, item.detail) == (ItemKind.HELD, held, {"rejected": note})
    assert emptied == []
    assert [each.note_id for each in waiting(still_room)] == [held]
    still_room.change(Verb.APPROVE, held, caller=REVIEWER)
    assert still_room.note(held).state.trust is Trust.OBSERVED
    assert waiting(still_room) == []


@pytest.mark.parametrize(
    ("oracle", "error", "says"),
    [
        (BY_HAND, NotAllowedError, "by hand"),
        (None, BadFieldError, "oracle"),
        (Oracle(kind=OracleKind.COMMIT, commit="abc"), BadFieldError, "whole hash"),
        (
            Oracle(kind=OracleKind.RUN, command="x", exit_code=1, output_digest="0" * 64),
            BadFieldError,
            "failed",
        ),
        (Oracle(kind=OracleKind.RUN, command="x", output_digest="0"), BadFieldError, "SHA-256"),
        (Oracle(kind=OracleKind.RUN, output_digest="0" * 64), BadFieldError, "command"),
    ],
)
def test_what_verifies_nothing_is_refused(
    still_room: Room, oracle: Oracle | None, error: type[Exception], says: str
) -> None:
    note = still_room.insert().id

    with pytest.raises(error, match=says):
        still_room.change(Verb.VERIFY, note, oracle=oracle)

    assert still_room.note(note).state.trust is Trust.OBSERVED


def test_a_note_tells_by_what_it_was_verified_and_the_log_would_notice_another_word(
    still_room: Room,
) -> None:
    note = still_room.insert().id

    still_room.change(Verb.VERIFY, note, oracle=RUN)

    state = still_room.note(note).state
    assert state.trust is Trust.VERIFIED
    assert state.oracle is not None
    assert (state.oracle.command, state.oracle.actor, state.oracle.session) == (
        "make test",
        "agent",
        "s-1",
    )
    assert still_room.verify().ok
    still_room.tampered = True
    forged = "UPDATE note_states SET oracle = replace(oracle, '\"run\"', '\"reviewer\"')"
    still_room.profile.run(lambda connection: change(connection, forged, {}))
    assert not still_room.verify().ok


def test_an_agent_may_not_approve(still_room: Room) -> None:
    note = still_room.insert("the staging pooler listens on port 6432").id
    still_room.change(Verb.REJECT, note)
    held = still_room.insert("on port 6432 the staging pooler listens").id

    with pytest.raises(NotAllowedError, match="graft review"):
        still_room.change(Verb.APPROVE, held)

    assert still_room.note(held).state.trust is Trust.HELD
