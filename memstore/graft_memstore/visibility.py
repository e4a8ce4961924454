"""Which notes a read may see, and how far each may go: the one place that says so."""

import json

from graft_memstore.model import Condition, Lifecycle, NoteState, ScopeFilter, Trust

VISIBLE = """
visible (seq, note_id, title, scope, trust, recorded_at) AS NOT MATERIALIZED (
    SELECT notes.seq, notes.id, notes.title, notes.scope, state.trust, notes.recorded_at
    FROM notes
    JOIN note_states AS state ON state.note_id = notes.id AND state.known_to IS NULL
    WHERE state.lifecycle = 'active'
      AND state.trust NOT IN ('held', 'rejected')
      AND (state.expires_at IS NULL OR state.expires_at > :now)
      AND (state.valid_from IS NULL OR state.valid_from <= :now)
      AND (state.valid_to IS NULL OR state.valid_to > :now)
      AND (:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))
)
"""
"""Common table expression of the notes that a search may see.

Parameters: ``:scopes`` (a JSON list), ``:all_scopes`` (0 or 1) and ``:now`` (UTC milliseconds).
Every statement of a search joins it, inside the arm and before its LIMIT. ``known_to IS NULL`` is
the present row of a state, whatever the clock says, so a clock that goes back hides nothing.
"""

CONDITION = """
CASE
    WHEN state.lifecycle <> 'active' THEN state.lifecycle
    WHEN state.trust IN ('held', 'rejected') THEN state.trust
    WHEN state.expires_at <= :now THEN 'expired'
    WHEN state.valid_from > :now THEN 'not yet valid'
    WHEN state.valid_to <= :now THEN 'no longer valid'
    ELSE 'shown'
END
"""
"""Why `VISIBLE` leaves a note of an asked scope out, in the words of `model.Condition`.

For the present row ``state`` of a note; takes ``:now``.
"""

MAY_HIDE = """
(state.lifecycle <> 'active' OR state.trust IN ('held', 'rejected')
 OR state.expires_at IS NOT NULL OR state.valid_from IS NOT NULL OR state.valid_to IS NOT NULL)
"""
"""What the index note_states_hiding is of: the few present states that `VISIBLE` may leave out."""

NEVER_SHOWN = frozenset({Trust.HELD, Trust.REJECTED})
"""No search shows a note of such a trust."""

MAY_BE_STRONG = frozenset({Trust.OBSERVED, Trust.VERIFIED})
"""A note of another trust is at most WEAK."""

RANKED_BELOW = frozenset({Trust.DISPUTED, Trust.STALE})
"""In a ranked search these stand below all others."""


def visible_parameters(scope: ScopeFilter, now_ms: int) -> dict[str, str | int]:
    """Return the named parameters of `VISIBLE`."""
    return {
        "scopes": json.dumps(scope.scopes),
        "all_scopes": int(scope.all),
        "now": now_ms,
    }


def condition_of(state: NoteState, now_ms: int) -> Condition:
    """Return what `CONDITION` says of a note's present state."""
    if state.lifecycle is not Lifecycle.ACTIVE:
        return Condition(state.lifecycle)
    if state.trust in NEVER_SHOWN:
        return Condition(state.trust)
    if state.expires_at_ms is not None and state.expires_at_ms <= now_ms:
        return Condition.EXPIRED
    if state.valid_from_ms is not None and state.valid_from_ms > now_ms:
        return Condition.NOT_YET_VALID
    if state.valid_to_ms is not None and state.valid_to_ms <= now_ms:
        return Condition.NO_LONGER_VALID
    return Condition.SHOWN
