"""What notes are worth over time: one row for each state, the present one without an end."""

import json
from dataclasses import asdict, dataclass

import apsw

from graft_memstore.canonical import encode_fields
from graft_memstore.lifecycle import Act
from graft_memstore.model import EventSeq, Lifecycle, NoteId, NoteState, Oracle, OracleKind, Trust
from graft_memstore.store.rows import Row, change, select, select_one

INSERT_STATE = """
INSERT INTO note_states (
    note_id, lifecycle, trust, valid_from, valid_to, expires_at, known_from, reason, oracle,
    event_id
) VALUES (
    :note_id, :lifecycle, :trust, :valid_from, :valid_to, :expires_at, :known_from, :reason,
    :oracle, :event_id
)
"""

CLOSE_STATE = """
UPDATE note_states SET known_to = :known_to WHERE note_id = :note_id AND known_to IS NULL
"""

SELECT_STATE = """
SELECT lifecycle, trust, valid_from, valid_to, expires_at, known_from, reason, oracle
FROM note_states
WHERE note_id = :note_id AND known_to IS NULL
"""

# note_states_by_note; rows of one instant come in the order in which they were made.
SELECT_LAST_STATES = """
SELECT event_id, lifecycle, trust, valid_from, valid_to, expires_at, known_from, reason, oracle
FROM note_states
WHERE note_id = :note_id
ORDER BY known_from DESC, state_id DESC
LIMIT 2
"""

# note_states_by_note
SELECT_ACTS = """
SELECT
    events.actor, lifecycle, trust, valid_from, valid_to, expires_at, known_from,
    note_states.reason, oracle
FROM note_states
CROSS JOIN events ON events.seq = note_states.event_id
WHERE note_states.note_id = :note_id
ORDER BY state_id DESC
"""

# note_states_by_event
SELECT_LAST_NAMED = "SELECT max(event_id) FROM note_states"

# note_states_by_note
SELECT_STATES_OF_NOTE = """
SELECT
    state_id, event_id, known_to, lifecycle, trust, valid_from, valid_to, expires_at, known_from,
    reason, oracle
FROM note_states
WHERE note_id = :note_id
ORDER BY state_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRow:
    """A row of a note's states, as it stands in the table; *state* None: it is none."""

    state_id: int
    event: EventSeq
    known_to_ms: int | None
    state: NoteState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """A state of a note, and the event that made it."""

    event: EventSeq
    state: NoteState


def insert_state(
    connection: apsw.Connection, note_id: NoteId, state: NoteState, event: EventSeq
) -> None:
    """Make *state* the present one; the one before must be closed."""
    change(
        connection,
        INSERT_STATE,
        {
            "note_id": note_id,
            "lifecycle": state.lifecycle,
            "trust": state.trust,
            "valid_from": state.valid_from_ms,
            "valid_to": state.valid_to_ms,
            "expires_at": state.expires_at_ms,
            "known_from": state.known_from_ms,
            "reason": state.reason,
            "oracle": _oracle_text(state.oracle),
            "event_id": event,
        },
    )


def close_state(connection: apsw.Connection, note_id: NoteId, known_to_ms: int) -> None:
    """End the present state of a note."""
    change(connection, CLOSE_STATE, {"note_id": note_id, "known_to": known_to_ms})


def read_state(connection: apsw.Connection, note_id: NoteId) -> NoteState | None:
    """Return the present state of a note, None for an unknown note."""
    row = select_one(connection, SELECT_STATE, {"note_id": note_id})
    return None if row is None else state_from(row)


def read_last_states(connection: apsw.Connection, note_id: NoteId) -> list[KnownState]:
    """Return the present state of a note and the one before it, if there was one."""
    rows = select(connection, SELECT_LAST_STATES, {"note_id": note_id})
    return [KnownState(event=EventSeq(row[0]), state=state_from(row[1:])) for row in rows]


def read_acts(connection: apsw.Connection, note_id: NoteId) -> list[Act]:
    """Return all that a note was and by whom, the present state first."""
    rows = select(connection, SELECT_ACTS, {"note_id": note_id})
    return [Act(state=state_from(row[1:]), actor=row[0]) for row in rows]


def state_from(row: Row) -> NoteState:
    """Read a state from the eight columns that every statement lists in this order."""
    lifecycle, trust, valid_from, valid_to, expires_at, known_from, reason, oracle = row
    return NoteState(
        lifecycle=Lifecycle(lifecycle),
        trust=Trust(trust),
        valid_from_ms=valid_from,
        valid_to_ms=valid_to,
        expires_at_ms=expires_at,
        known_from_ms=known_from,
        reason=reason,
        oracle=_oracle_from(oracle),
    )


def encode_state(note_id: NoteId, state: NoteState) -> bytes:
    """Return what an event's state digest is made of.

    The oracle stands in it where there is one: states of before there were any keep their digest.
    """
    oracle = _oracle_text(state.oracle)
    return encode_fields(
        note_id,
        state.lifecycle,
        state.trust,
        state.valid_from_ms,
        state.valid_to_ms,
        state.expires_at_ms,
        state.known_from_ms,
        state.reason,
        *(() if oracle is None else (oracle,)),
    )


def _oracle_text(oracle: Oracle | None) -> str | None:
    """Return an oracle as JSON, the same text for the same oracle."""
    if oracle is None:
        return None
    return json.dumps(asdict(oracle), separators=(",", ":"), sort_keys=True)


def _oracle_from(text: str | None) -> Oracle | None:
    if text is None:
        return None
    fields = json.loads(text)
    return Oracle(**{**fields, "kind": OracleKind(fields["kind"])})


def last_named(connection: apsw.Connection) -> int:
    """Return the highest number of an event that a state names, 0 where there is none."""
    row = select_one(connection, SELECT_LAST_NAMED, {})
    return 0 if row is None or row[0] is None else int(row[0])


def read_states_of(connection: apsw.Connection, note_id: NoteId) -> list[StateRow]:
    """Return all states of a note, in the order in which they were made."""
    rows = select(connection, SELECT_STATES_OF_NOTE, {"note_id": note_id})
    return [
        StateRow(
            state_id=row[0],
            event=EventSeq(row[1]),
            known_to_ms=row[2],
            state=_state_or_none(row[3:]),
        )
        for row in rows
    ]


def _state_or_none(row: Row) -> NoteState | None:
    try:
        return state_from(row)
    except (KeyError, TypeError, ValueError):
        return None
