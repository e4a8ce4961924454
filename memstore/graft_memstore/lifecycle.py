"""What may become of a note's state, by which verb, and who may say so: the one table of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from graft_memstore.model import Caller, Lifecycle, NoteState, Trust


class Verb(StrEnum):
    """A change of a note's state; the word stands as the action of its event."""

    SUPERSEDE = "supersede"
    RETIRE = "retire"
    RESTORE = "restore"
    REJECT = "reject"
    DISPUTE = "dispute"
    MARK_STALE = "mark-stale"
    SET_TIMES = "set"
    UNDO = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """Which states a verb takes, and what it makes of them; None leaves that axis as it is."""

    lifecycles: frozenset[Lifecycle]
    trusts: frozenset[Trust]
    lifecycle: Lifecycle | None = None
    trust: Trust | None = None


_ACTIVE = frozenset({Lifecycle.ACTIVE})
_EVERY_LIFECYCLE = frozenset(Lifecycle)
_EVERY_TRUST = frozenset(Trust)
_BELIEVED = frozenset({Trust.CANDIDATE, Trust.OBSERVED, Trust.VERIFIED})

TRANSITIONS: Mapping[Verb, Transition] = {
    # A held note waits for a reviewer: replacing it would decide without one.
    Verb.SUPERSEDE: Transition(
        lifecycles=_ACTIVE, trusts=_EVERY_TRUST - {Trust.HELD}, lifecycle=Lifecycle.SUPERSEDED
    ),
    # Of a superseded note restoring would make two answers out of one.
    Verb.RETIRE: Transition(lifecycles=_ACTIVE, trusts=_EVERY_TRUST, lifecycle=Lifecycle.RETIRED),
    Verb.RESTORE: Transition(
        lifecycles=frozenset({Lifecycle.RETIRED}), trusts=_EVERY_TRUST, lifecycle=Lifecycle.ACTIVE
    ),
    Verb.REJECT: Transition(
        lifecycles=_EVERY_LIFECYCLE,
        trusts=_EVERY_TRUST - {Trust.REJECTED},
        trust=Trust.REJECTED,
    ),
    Verb.DISPUTE: Transition(
        lifecycles=_ACTIVE, trusts=_BELIEVED | {Trust.STALE}, trust=Trust.DISPUTED
    ),
    # That somebody says it is wrong weighs more than that its sources have changed.
    Verb.MARK_STALE: Transition(lifecycles=_ACTIVE, trusts=_BELIEVED, trust=Trust.STALE),
    Verb.SET_TIMES: Transition(
        lifecycles=_ACTIVE, trusts=_EVERY_TRUST - {Trust.HELD, Trust.REJECTED}
    ),
}
"""Of every verb but `Verb.UNDO`, which goes back to the state before."""

AGENT = "agent"
"""The role that the local socket gives."""

REVIEWER = "reviewer"
"""The role of whoever has proved the reviewer's passphrase."""

SYSTEM = "system"
"""The role of what goes on in the background."""

MAY: Mapping[str, frozenset[Verb]] = {AGENT: frozenset(Verb)}
"""Which verbs a role may say."""

MAY_UNDO: Mapping[str, frozenset[Verb]] = {AGENT: frozenset(Verb) - {Verb.REJECT}}
"""Which verbs a role may take back; a rejection is taken back by a reviewer."""

ERASING_DOOR = "cli"
"""The door that a person uses; a program of the same user can imitate it, as the docs say."""


def may_erase(caller: Caller) -> bool:
    """Tell whether a caller's delete erases; anybody else's retires."""
    return caller.door == ERASING_DOOR


def allows(verb: Verb, state: NoteState) -> bool:
    """Tell whether *verb* may be said of a note in *state*."""
    transition = TRANSITIONS[verb]
    return state.lifecycle in transition.lifecycles and state.trust in transition.trusts


def after(verb: Verb, state: NoteState) -> NoteState:
    """Return what *verb* makes of a *state* that it takes; times and reason stay as they are."""
    assert allows(verb, state), f"{verb} was said of {state}"
    transition = TRANSITIONS[verb]
    return replace(
        state,
        lifecycle=transition.lifecycle or state.lifecycle,
        trust=transition.trust or state.trust,
    )
