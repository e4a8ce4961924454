"""Which notes a read may see, and how far each may go: the one place that says so."""

import json
import re
from dataclasses import dataclass

from graft_memstore.model import Condition, Lifecycle, NoteState, ScopeFilter, Trust

Parameters = dict[str, str | int | None]

_IS_PRESENT = re.compile(r"\b(\w+\.)?known_to IS NULL")
_WAS_KNOWN = r"(\1known_from <= :known_at AND (\1known_to IS NULL OR \1known_to > :known_at))"


class Timed(str):
    """A statement that reads present rows, and as `then` what was known at ``:known_at``.

    Attributes:
        then: the same statement, each ``known_to IS NULL`` in it turned into that.
    """

    __slots__ = ("then",)

    then: str

    def at(self, known_at_ms: int | None) -> str:
        """Return the form that reads what was known at an instant; None: what is known now."""
        return self if known_at_ms is None else self.then


def timed(statement: str, then: str | None = None) -> Timed:
    """Return *statement*, and what it reads of the past: itself as of then, unless *then* is."""
    made = Timed(statement)
    made.then = _IS_PRESENT.sub(_WAS_KNOWN, then or statement)
    return made


VISIBLE = """
visible (seq, note_id, title, scope, trust, recorded_at, state_id) AS NOT MATERIALIZED (
    SELECT notes.seq, notes.id, notes.title, notes.scope, state.trust, notes.recorded_at,
           state.state_id
    FROM notes
    JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
    WHERE state.lifecycle = 'active'
      AND state.trust NOT IN ('held', 'rejected')
      AND (state.expires_at IS NULL OR state.expires_at > :now)
      AND (state.valid_from IS NULL OR state.valid_from <= :valid_at)
      AND (state.valid_to IS NULL OR state.valid_to > :valid_at)
      AND (:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))
)
"""
"""Common table expression of the notes that a search may see; takes `View.parameters`.

Every statement of a search joins it, inside the arm and before its LIMIT, and is `timed`, so that
it can read the past. ``known_to IS NULL`` is the present row of a state, whatever the clock says,
so a clock that goes back hides nothing.
"""

CONDITION = """
CASE
    WHEN state.lifecycle <> 'active' THEN state.lifecycle
    WHEN state.trust IN ('held', 'rejected') THEN state.trust
    WHEN state.expires_at <= :now THEN 'expired'
    WHEN state.valid_from > :valid_at THEN 'not yet valid'
    WHEN state.valid_to <= :valid_at THEN 'no longer valid'
    ELSE 'shown'
END
"""
"""Why `VISIBLE` leaves a note of an asked scope out, in the words of `model.Condition`.

For the row ``state`` of a note; takes ``:now`` and ``:valid_at``.
"""

MAY_HIDE = """
(state.lifecycle <> 'active' OR state.trust IN ('held', 'rejected')
 OR state.expires_at IS NOT NULL OR state.valid_from IS NOT NULL OR state.valid_to IS NOT NULL)
"""
"""What the index note_states_hiding is of: the few present states that `VISIBLE` may leave out."""

NEVER_SHOWN = frozenset({Trust.HELD, Trust.REJECTED})
"""No search shows a note of such a trust."""

MAY_BE_STRONG = frozenset({Trust.OBSERVED, Trust.VERIFIED})
"""A note of another trust is at most WEAK, and is shown with why."""

RANKED_BELOW = frozenset({Trust.DISPUTED, Trust.STALE})
"""In a ranked search these stand below all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a read looks at: which scopes, and by which clocks.

    Attributes:
        now_ms: what expiry goes by; of a read of the past the instant that it looks back to.
        valid_at_ms: when what a note says must be true; None: now.
        known_at_ms: what was known at this instant is read; None: what is known now.
    """

    scope: ScopeFilter
    now_ms: int
    valid_at_ms: int | None = None
    known_at_ms: int | None = None

    def parameters(self, **more: str | int | None) -> Parameters:
        """Return the named parameters of `VISIBLE` in both its forms, and *more*."""
        return {
            "scopes": json.dumps(self.scope.scopes),
            "all_scopes": int(self.scope.all),
            "now": self.now_ms,
            "valid_at": self.now_ms if self.valid_at_ms is None else self.valid_at_ms,
            "known_at": self.known_at_ms,
            **more,
        }


def condition_of(state: NoteState, now_ms: int, valid_at_ms: int | None = None) -> Condition:
    """Return what `CONDITION` says of a note's state; *valid_at_ms* None means now."""
    valid_at_ms = now_ms if valid_at_ms is None else valid_at_ms
    if state.lifecycle is not Lifecycle.ACTIVE:
        return Condition(state.lifecycle)
    if state.trust in NEVER_SHOWN:
        return Condition(state.trust)
    if state.expires_at_ms is not None and state.expires_at_ms <= now_ms:
        return Condition.EXPIRED
    if state.valid_from_ms is not None and state.valid_from_ms > valid_at_ms:
        return Condition.NOT_YET_VALID
    if state.valid_to_ms is not None and state.valid_to_ms <= valid_at_ms:
        return Condition.NO_LONGER_VALID
    return Condition.SHOWN
