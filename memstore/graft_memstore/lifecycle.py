"""What may become of a note's state, by which verb, and who may say so: the one table of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from itertools import pairwise

from graft_memstore.model import Caller, Lifecycle, NoteState, OracleKind, Trust


class Verb(StrEnum):
    """A change of a note's state; the word stands as the action of its event."""

    SUPERSEDE = "supersede"
    RETIRE = "retire"
    RESTORE = "restore"
    REJECT = "reject"
    DISPUTE = "dispute"
    MARK_STALE = "mark-stale"
    SET_TIMES = "set"
    VERIFY = "verify"
    APPROVE = "approve"
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
_DOUBTED = frozenset({Trust.DISPUTED, Trust.STALE})

WAITING = frozenset({Trust.CANDIDATE, Trust.HELD})
"""A note of such a trust waits for a reviewer."""

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
    Verb.VERIFY: Transition(
        lifecycles=_ACTIVE, trusts=_EVERY_TRUST - {Trust.HELD, Trust.REJECTED}, trust=Trust.VERIFIED
    ),
    Verb.APPROVE: Transition(lifecycles=_ACTIVE, trusts=WAITING, trust=Trust.OBSERVED),
}
"""Of every verb but `Verb.UNDO`, which goes back to the state before."""

AGENT = "agent"
"""The role that the local socket gives."""

REVIEWER = "reviewer"
"""The role of whoever has proved the reviewer's passphrase."""

SYSTEM = "system"
"""The role of what goes on in the background."""

MAY: Mapping[str, frozenset[Verb]] = {
    AGENT: frozenset(Verb) - {Verb.APPROVE},
    REVIEWER: frozenset(Verb),
}
"""Which verbs a role may say at all."""

MAY_OF_REVIEWED = frozenset({Verb.DISPUTE, Verb.MARK_STALE})
"""What an agent may say of a note that a reviewer verified; all else it may propose."""

LIFTING = frozenset({Verb.RESTORE, Verb.VERIFY, Verb.SET_TIMES})
"""What an agent may propose alone where it would take back what a reviewer's act set."""

MAY_UNDO: Mapping[str, frozenset[Verb]] = {
    AGENT: frozenset(Verb) - {Verb.REJECT},
    REVIEWER: frozenset(Verb),
}
"""Which verbs a role may take back; what else it would take back it may propose."""

PERSONS_DOOR = "cli"
"""The door that a person uses; a program of the same user can imitate it, as the docs say."""

REVIEWING_DOORS = frozenset({"cli", "web", "library"})
"""The doors through which a reviewer may come; an agent's own never are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A state of a note, and the role of whoever made it so."""

    state: NoteState
    actor: str


class Ruling(Enum):
    """What becomes of something that a role says."""

    DONE = "done"
    PROPOSED = "proposed"
    REFUSED = "refused"


def ruling_of(verb: Verb, state: NoteState, role: str) -> Ruling:
    """Tell what becomes of a verb that is said of a note in *state*; see `ruling_of_undo`."""
    if verb not in MAY.get(role, frozenset()):
        return Ruling.REFUSED
    if role == REVIEWER:
        return Ruling.DONE
    if is_protected(state) and verb not in MAY_OF_REVIEWED:
        return Ruling.PROPOSED
    # A claim that it was checked would else take a note past whoever is to look at it.
    if state.trust in WAITING and verb is Verb.VERIFY:
        return Ruling.PROPOSED
    return Ruling.DONE


def ruling_of_undo(action: str, actor: str, role: str) -> Ruling:
    """Tell what becomes of taking back the *action* of an *actor*."""
    if Verb.UNDO not in MAY.get(role, frozenset()):
        return Ruling.REFUSED
    if role == REVIEWER:
        return Ruling.DONE
    return Ruling.DONE if actor == role and action in MAY_UNDO[role] else Ruling.PROPOSED


def is_protected(state: NoteState) -> bool:
    """Tell whether a reviewer verified a note; a claim of anybody else protects nothing."""
    return state.oracle is not None and state.oracle.kind is OracleKind.REVIEWER


def takes_back(verb: Verb, becomes: NoteState, history: Sequence[Act]) -> bool:
    """Tell whether *verb* would lift what a reviewer's act set, by making *becomes* of a note.

    Args:
        verb: what is said.
        becomes: what it makes of the note.
        history: all that the note was, the present state first.
    """
    present = history[0].state
    return verb in LIFTING and any(
        aspect(becomes) != aspect(present) and _reviewer_set(aspect, history) for aspect in _ASPECTS
    )


def _reviewer_set(aspect: Callable[[NoteState], object], history: Sequence[Act]) -> bool:
    """Tell whether a reviewer was the last to change *aspect* of a note."""
    nothing = Act(state=NoteState(), actor=SYSTEM)
    for act, before in pairwise([*history, nothing]):
        if aspect(act.state) != aspect(before.state):
            return act.actor == REVIEWER
    return False


def _doubt(state: NoteState) -> Trust | None:
    return state.trust if state.trust in _DOUBTED else None


_ASPECTS: tuple[Callable[[NoteState], object], ...] = (
    lambda state: state.lifecycle,
    _doubt,
    # What a reviewer marked as stale stays theirs where an agent disputes it as well.
    lambda state: _doubt(state) is not None,
    lambda state: state.valid_from_ms,
    lambda state: state.valid_to_ms,
    lambda state: state.expires_at_ms,
)
"""What of a state somebody sets, and somebody else may lift."""


def is_person(caller: Caller, *, has_reviewer: bool) -> bool:
    """Tell whether a caller may decide what no agent does: to erase, to let a secret be.

    Where no reviewer has been set up, the person's door is all that there is to go by, and a token
    proves nothing of who sits there.
    """
    if has_reviewer:
        return caller.actor == REVIEWER
    return caller.door == PERSONS_DOOR and not caller.token


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
