"""The table of states: what each verb takes, and that every view of it says the same."""

from dataclasses import replace
from itertools import product

import apsw
import pytest

from graft_memstore.lifecycle import (
    AGENT,
    REVIEWER,
    TRANSITIONS,
    WAITING,
    Act,
    Ruling,
    Verb,
    after,
    allows,
    is_person,
    ruling_of,
    ruling_of_undo,
    takes_back,
)
from graft_memstore.model import Caller, Lifecycle, NoteState, Oracle, OracleKind, Trust
from graft_memstore.visibility import CONDITION, condition_of
from graft_memstore.write.state_change import DONE

NOW_MS = 100
STATES = [
    NoteState(lifecycle=lifecycle, trust=trust) for lifecycle, trust in product(Lifecycle, Trust)
]


def test_every_verb_but_undo_has_its_row_and_its_word() -> None:
    assert set(TRANSITIONS) == set(Verb) - {Verb.UNDO}
    assert set(DONE) == set(Verb)


REVIEWED = Oracle(kind=OracleKind.REVIEWER, actor=REVIEWER)
CLAIMED = Oracle(kind=OracleKind.RUN, command="make test")


def rulings(state: NoteState, role: str) -> dict[Verb, Ruling]:
    return {verb: ruling_of(verb, state, role) for verb in TRANSITIONS}


@pytest.mark.parametrize("oracle", [None, CLAIMED])
def test_an_agent_may_say_all_but_approve_of_what_no_reviewer_verified(
    oracle: Oracle | None,
) -> None:
    found = rulings(NoteState(oracle=oracle), AGENT)

    assert found.pop(Verb.APPROVE) is Ruling.REFUSED
    assert set(found.values()) == {Ruling.DONE}


@pytest.mark.parametrize("trust", [Trust.VERIFIED, Trust.DISPUTED, Trust.STALE])
def test_of_what_a_reviewer_verified_an_agent_may_doubt_and_propose_alone(trust: Trust) -> None:
    found = rulings(NoteState(trust=trust, oracle=REVIEWED), AGENT)

    assert {verb for verb, ruling in found.items() if ruling is Ruling.DONE} == {
        Verb.DISPUTE,
        Verb.MARK_STALE,
    }
    assert {verb for verb, ruling in found.items() if ruling is Ruling.REFUSED} == {Verb.APPROVE}


@pytest.mark.parametrize("trust", sorted(WAITING))
def test_an_agent_s_check_takes_no_note_past_the_reviewer(trust: Trust) -> None:
    assert ruling_of(Verb.VERIFY, NoteState(trust=trust), AGENT) is Ruling.PROPOSED


def test_a_reviewer_may_say_everything_and_nobody_else_anything() -> None:
    state = NoteState(trust=Trust.VERIFIED, oracle=REVIEWED)

    assert set(rulings(state, REVIEWER).values()) == {Ruling.DONE}
    assert set(rulings(NoteState(), "guest").values()) == {Ruling.REFUSED}
    assert ruling_of_undo(Verb.RETIRE, "guest", "guest") is Ruling.REFUSED


def test_an_agent_takes_back_what_agents_did_but_a_rejection() -> None:
    for verb in set(TRANSITIONS) - {Verb.REJECT}:
        assert ruling_of_undo(verb, AGENT, AGENT) is Ruling.DONE
        assert ruling_of_undo(verb, REVIEWER, AGENT) is Ruling.PROPOSED
        assert ruling_of_undo(verb, AGENT, REVIEWER) is Ruling.DONE
    assert ruling_of_undo(Verb.REJECT, AGENT, AGENT) is Ruling.PROPOSED


RETIRED = NoteState(lifecycle=Lifecycle.RETIRED)
DISPUTED, STALE = NoteState(trust=Trust.DISPUTED), NoteState(trust=Trust.STALE)
VERIFIED, ENDING = NoteState(trust=Trust.VERIFIED), NoteState(valid_to_ms=9)
AT_FIRST = (NoteState(), AGENT)
LIFTED: dict[str, tuple[Verb, NoteState, list[tuple[NoteState, str]], bool]] = {
    "what a reviewer retired": (Verb.RESTORE, NoteState(), [(RETIRED, REVIEWER)], True),
    "what an agent retired": (Verb.RESTORE, NoteState(), [(RETIRED, AGENT)], False),
    "what an agent retired after a reviewer had restored it": (
        Verb.RESTORE,
        NoteState(),
        [(RETIRED, AGENT), (NoteState(), REVIEWER), (RETIRED, AGENT)],
        False,
    ),
    "a doubt of a reviewer": (Verb.VERIFY, VERIFIED, [(DISPUTED, REVIEWER)], True),
    "a doubt of an agent": (Verb.VERIFY, VERIFIED, [(STALE, AGENT)], False),
    "a reviewer's, under a later change of something else": (
        Verb.VERIFY,
        VERIFIED,
        [(replace(STALE, expires_at_ms=9), AGENT), (STALE, REVIEWER)],
        True,
    ),
    "a reviewer's, disputed by an agent as well": (
        Verb.VERIFY,
        VERIFIED,
        [(DISPUTED, AGENT), (STALE, REVIEWER)],
        True,
    ),
    "an agent's, confirmed by a reviewer": (
        Verb.VERIFY,
        VERIFIED,
        [(DISPUTED, REVIEWER), (STALE, AGENT)],
        True,
    ),
    "a reviewer's approval, by a check": (Verb.VERIFY, VERIFIED, [(NoteState(), REVIEWER)], False),
    "an end that a reviewer set": (Verb.SET_TIMES, NoteState(), [(ENDING, REVIEWER)], True),
    "an end that an agent set": (Verb.SET_TIMES, NoteState(), [(ENDING, AGENT)], False),
    "another time than the reviewer's": (
        Verb.SET_TIMES,
        replace(ENDING, expires_at_ms=9),
        [(ENDING, REVIEWER)],
        False,
    ),
    "an end that a reviewer took away": (
        Verb.SET_TIMES,
        ENDING,
        [(NoteState(), REVIEWER), (ENDING, AGENT)],
        True,
    ),
}


@pytest.mark.parametrize("what", LIFTED)
def test_nobody_takes_back_by_another_verb_what_a_reviewer_set(what: str) -> None:
    verb, becomes, said, expected = LIFTED[what]
    history = [Act(state=state, actor=actor) for state, actor in [*said, AT_FIRST]]

    assert takes_back(verb, becomes, history) is expected


def test_what_a_reviewer_stored_with_an_end_ends_then() -> None:
    stored = [Act(state=ENDING, actor=REVIEWER)]

    assert takes_back(Verb.SET_TIMES, NoteState(), stored)
    assert not takes_back(Verb.SET_TIMES, replace(ENDING, expires_at_ms=9), stored)


def test_deleting_erases_by_the_person_s_door_until_there_is_a_reviewer() -> None:
    person, agent, reviewer = Caller(door="cli"), Caller(door="mcp"), Caller(actor=REVIEWER)

    assert is_person(person, has_reviewer=False)
    assert not is_person(agent, has_reviewer=False)
    assert is_person(reviewer, has_reviewer=True)
    assert not is_person(person, has_reviewer=True)
    assert not is_person(agent, has_reviewer=True)


@pytest.mark.parametrize("state", STATES)
def test_what_is_not_active_can_only_be_restored_or_rejected(state: NoteState) -> None:
    taken = {verb for verb in TRANSITIONS if allows(verb, state)}

    if state.lifecycle is Lifecycle.SUPERSEDED:
        assert taken <= {Verb.REJECT}
    if state.lifecycle is Lifecycle.RETIRED:
        assert Verb.RESTORE in taken
        assert taken <= {Verb.REJECT, Verb.RESTORE}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("verb", list(TRANSITIONS))
def test_no_verb_but_restore_and_approve_shows_what_was_hidden(
    verb: Verb, state: NoteState
) -> None:
    if not allows(verb, state):
        return

    becomes = after(verb, state)

    hidden = condition_of(state, NOW_MS) != "shown"
    if hidden and condition_of(becomes, NOW_MS) == "shown":
        assert verb in {Verb.RESTORE, Verb.APPROVE}
        assert becomes.trust is state.trust or verb is Verb.APPROVE


@pytest.mark.parametrize("trust", list(Trust))
def test_what_is_held_can_only_be_approved_or_taken_away(trust: Trust) -> None:
    taken = {verb for verb in TRANSITIONS if allows(verb, NoteState(trust=trust))}

    if trust is Trust.HELD:
        assert taken == {Verb.APPROVE, Verb.REJECT, Verb.RETIRE}
    if trust is Trust.REJECTED:
        assert taken == {Verb.RETIRE, Verb.SUPERSEDE}


@pytest.mark.parametrize("state", STATES)
def test_the_condition_in_code_is_that_of_the_statement(state: NoteState) -> None:
    connection = apsw.Connection(":memory:")
    columns = "lifecycle", "trust", "expires_at", "valid_from", "valid_to"
    connection.execute(f"CREATE TABLE state ({', '.join(columns)})")
    times = (None, NOW_MS - 1, NOW_MS, NOW_MS + 1)
    for expires, begins, ends in product(times, repeat=3):
        timed = NoteState(
            lifecycle=state.lifecycle,
            trust=state.trust,
            expires_at_ms=expires,
            valid_from_ms=begins,
            valid_to_ms=ends,
        )
        row = (timed.lifecycle, timed.trust, expires, begins, ends)
        connection.execute("DELETE FROM state")
        connection.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?)", row)

        for valid_at in (NOW_MS, NOW_MS - 1, NOW_MS + 1):
            ((said,),) = connection.execute(
                f"SELECT {CONDITION} FROM state",  # noqa: S608
                {"now": NOW_MS, "valid_at": valid_at},
            )

            assert condition_of(timed, NOW_MS, valid_at) == said
    connection.close()
