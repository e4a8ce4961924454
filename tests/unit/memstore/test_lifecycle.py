"""The table of states: what each verb takes, and that every view of it says the same."""

from itertools import product

import apsw
import pytest

from graft_memstore.lifecycle import MAY, MAY_UNDO, TRANSITIONS, Verb, after, allows
from graft_memstore.model import Lifecycle, NoteState, Trust
from graft_memstore.visibility import CONDITION, condition_of
from graft_memstore.write.state_change import DONE

NOW_MS = 100
STATES = [
    NoteState(lifecycle=lifecycle, trust=trust) for lifecycle, trust in product(Lifecycle, Trust)
]


def test_every_verb_but_undo_has_its_row_and_its_word() -> None:
    assert set(TRANSITIONS) == set(Verb) - {Verb.UNDO}
    assert set(DONE) == set(Verb)


def test_an_agent_may_say_every_verb_and_take_back_all_but_a_rejection() -> None:
    assert {"agent": frozenset(Verb)} == MAY
    assert {"agent": frozenset(Verb) - {Verb.REJECT}} == MAY_UNDO


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
def test_no_verb_but_restore_shows_what_was_hidden(verb: Verb, state: NoteState) -> None:
    if not allows(verb, state):
        return

    becomes = after(verb, state)

    hidden = condition_of(state, NOW_MS) != "shown"
    if hidden and condition_of(becomes, NOW_MS) == "shown":
        assert verb is Verb.RESTORE
        assert becomes.trust is state.trust


@pytest.mark.parametrize("trust", list(Trust))
def test_nothing_but_a_rejection_is_said_of_what_waits_for_a_reviewer(trust: Trust) -> None:
    taken = {verb for verb in TRANSITIONS if allows(verb, NoteState(trust=trust))}

    if trust is Trust.HELD:
        assert taken == {Verb.REJECT, Verb.RETIRE}
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
