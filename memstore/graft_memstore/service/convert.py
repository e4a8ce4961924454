"""Between the proto's messages and the memstore's own data."""

import grpc

from graft.memory.v1 import note_pb2, notes_service_pb2, recall_service_pb2
from graft.wire.errors import BadFieldError
from graft.wire.metadata import CallMetadata
from graft_memstore.applicability import Applicability, Fit, format_applies_to
from graft_memstore.gate import Hit
from graft_memstore.model import (
    Caller,
    Condition,
    Lifecycle,
    NewNote,
    Note,
    NoteKind,
    Oracle,
    OracleKind,
    ScopeFilter,
    Source,
    SourceKind,
    Trust,
)
from graft_memstore.provenance import SourceCheck, SourceState

LIFECYCLES = {
    Lifecycle.ACTIVE: note_pb2.LIFECYCLE_ACTIVE,
    Lifecycle.SUPERSEDED: note_pb2.LIFECYCLE_SUPERSEDED,
    Lifecycle.RETIRED: note_pb2.LIFECYCLE_RETIRED,
}
TRUSTS = {
    Trust.CANDIDATE: note_pb2.TRUST_CANDIDATE,
    Trust.OBSERVED: note_pb2.TRUST_OBSERVED,
    Trust.VERIFIED: note_pb2.TRUST_VERIFIED,
    Trust.DISPUTED: note_pb2.TRUST_DISPUTED,
    Trust.STALE: note_pb2.TRUST_STALE,
    Trust.HELD: note_pb2.TRUST_HELD,
    Trust.REJECTED: note_pb2.TRUST_REJECTED,
}
KINDS = {
    NoteKind.NOTE: note_pb2.NOTE_KIND_NOTE,
    NoteKind.DEAD_END: note_pb2.NOTE_KIND_DEAD_END,
}
SOURCE_KINDS = {
    SourceKind.FILE: note_pb2.SOURCE_KIND_FILE,
    SourceKind.URL: note_pb2.SOURCE_KIND_URL,
    SourceKind.COMMIT: note_pb2.SOURCE_KIND_COMMIT,
    SourceKind.TEST: note_pb2.SOURCE_KIND_TEST,
    SourceKind.CONVERSATION: note_pb2.SOURCE_KIND_CONVERSATION,
    SourceKind.MANUAL: note_pb2.SOURCE_KIND_MANUAL,
}
HITS = {
    Hit.STRONG: recall_service_pb2.HIT_STRONG,
    Hit.WEAK: recall_service_pb2.HIT_WEAK,
    Hit.MISS: recall_service_pb2.HIT_MISS,
}
CONDITIONS = {
    Condition.SHOWN: note_pb2.NOTE_CONDITION_SHOWN,
    Condition.SUPERSEDED: note_pb2.NOTE_CONDITION_SUPERSEDED,
    Condition.RETIRED: note_pb2.NOTE_CONDITION_RETIRED,
    Condition.HELD: note_pb2.NOTE_CONDITION_HELD,
    Condition.REJECTED: note_pb2.NOTE_CONDITION_REJECTED,
    Condition.EXPIRED: note_pb2.NOTE_CONDITION_EXPIRED,
    Condition.NOT_YET_VALID: note_pb2.NOTE_CONDITION_NOT_YET_VALID,
    Condition.NO_LONGER_VALID: note_pb2.NOTE_CONDITION_NO_LONGER_VALID,
    Condition.DELETED: note_pb2.NOTE_CONDITION_DELETED,
}
FITS = {
    Fit.INSIDE: note_pb2.FIT_INSIDE,
    Fit.OUTSIDE: note_pb2.FIT_OUTSIDE,
    Fit.UNKNOWN: note_pb2.FIT_UNKNOWN,
}
SOURCE_STATES = {
    SourceState.SAME: note_pb2.SOURCE_STATE_SAME,
    SourceState.CHANGED: note_pb2.SOURCE_STATE_CHANGED,
    SourceState.GONE: note_pb2.SOURCE_STATE_GONE,
    SourceState.UNCHECKED: note_pb2.SOURCE_STATE_UNCHECKED,
}
SOURCE_CHECKS = {
    SourceCheck.UNCHECKED: recall_service_pb2.SOURCE_CHECK_UNCHECKED,
    SourceCheck.WAITING: recall_service_pb2.SOURCE_CHECK_WAITING,
    SourceCheck.SAME: recall_service_pb2.SOURCE_CHECK_SAME,
    SourceCheck.CHANGED: recall_service_pb2.SOURCE_CHECK_CHANGED,
    SourceCheck.GONE: recall_service_pb2.SOURCE_CHECK_GONE,
}
ORACLES = {
    OracleKind.REVIEWER: note_pb2.ORACLE_KIND_REVIEWER,
    OracleKind.COMMIT: note_pb2.ORACLE_KIND_COMMIT,
    OracleKind.RUN: note_pb2.ORACLE_KIND_RUN,
}
_ORACLE_OF = {number: kind for kind, number in ORACLES.items()}
_LIFECYCLE_OF = {number: lifecycle for lifecycle, number in LIFECYCLES.items()}
_TRUST_OF = {number: trust for trust, number in TRUSTS.items()}
_KIND_OF = {number: kind for kind, number in KINDS.items()}
_SOURCE_KIND_OF = {number: kind for kind, number in SOURCE_KINDS.items()}


LOCAL_PEER = "unix:"
TOKEN_SESSION = "token:"  # noqa: S105 - no secret


def caller_of(context: grpc.ServicerContext) -> Caller:
    """Read who calls; the local socket and tokens give the role agent.

    Sessions of a token are its own: none is taken for one of this machine's.
    """
    metadata = CallMetadata.read((pair[0], pair[1]) for pair in context.invocation_metadata() or ())
    token = "" if context.peer().startswith(LOCAL_PEER) else metadata.token
    return Caller(
        session=f"{TOKEN_SESSION}{token}:{metadata.session}" if token else metadata.session,
        agent=metadata.agent,
        door=metadata.door,
        bound=metadata.bound,
        token=token,
    )


def scope_filter_of(message: note_pb2.ScopeFilter) -> ScopeFilter:
    """Read a scope filter, unchecked."""
    return ScopeFilter(scopes=tuple(message.scopes), all=message.all)


def lifecycle_of(number: note_pb2.Lifecycle.ValueType) -> Lifecycle | None:
    """Read a lifecycle; None for UNSPECIFIED.

    Raises:
        BadFieldError: nobody knows it.
    """
    if number == note_pb2.LIFECYCLE_UNSPECIFIED:
        return None
    if number not in _LIFECYCLE_OF:
        raise BadFieldError("lifecycle", f"{number} is none that this version knows")
    return _LIFECYCLE_OF[number]


def trust_of(number: note_pb2.Trust.ValueType) -> Trust | None:
    """Read a trust; None for UNSPECIFIED.

    Raises:
        BadFieldError: nobody knows it.
    """
    if number == note_pb2.TRUST_UNSPECIFIED:
        return None
    if number not in _TRUST_OF:
        raise BadFieldError("trust", f"{number} is none that this version knows")
    return _TRUST_OF[number]


def new_note_of(message: notes_service_pb2.NewNote, field: str) -> NewNote:
    """Read a note to store; *field* names it in refusals.

    Raises:
        BadFieldError: its kind, or a source's, is none that this version knows.
    """
    kind = message.kind or note_pb2.NOTE_KIND_NOTE
    if kind not in _KIND_OF:
        raise BadFieldError(f"{field}.kind", f"{kind} is none that this version knows")
    return NewNote(
        title=message.title,
        body=message.body,
        keywords=tuple(message.keywords),
        kind=_KIND_OF[kind],
        scope=message.scope,
        author=message.author,
        sources=tuple(source_of(source, field) for source in message.sources),
        valid_from_ms=message.valid_from_ms if message.HasField("valid_from_ms") else None,
        valid_to_ms=message.valid_to_ms if message.HasField("valid_to_ms") else None,
        expires_at_ms=message.expires_at_ms if message.HasField("expires_at_ms") else None,
        applies_to=tuple(message.applies_to),
        supersedes=message.supersedes,
        reason=message.reason,
        restore=message.restore,
        candidate=message.candidate,
    )


def note_message(note: Note, condition: Condition) -> note_pb2.Note:
    """Pack a note, and whether searches show it."""
    state = note.state
    return note_pb2.Note(
        id=note.id,
        title=note.title,
        body=note.body,
        kind=KINDS[note.kind],
        keywords=note.keywords,
        author=note.author,
        scope=note.scope,
        lifecycle=LIFECYCLES[state.lifecycle],
        trust=TRUSTS[state.trust],
        valid_from_ms=state.valid_from_ms,
        valid_to_ms=state.valid_to_ms,
        expires_at_ms=state.expires_at_ms,
        recorded_at_ms=note.recorded_at_ms,
        sources=[source_message(source) for source in note.sources],
        pending=note.pending,
        superseded_by=note.superseded_by or "",
        state_reason=state.reason,
        state_event=note.event,
        condition=CONDITIONS[condition],
        oracle=None if state.oracle is None else _oracle_message(state.oracle),
        applies_to=[format_applies_to(each) for each in note.applies_to],
    )


def applicability_message(finding: Applicability) -> note_pb2.Applicability:
    """Pack what one of a note's ranges means for a question."""
    return note_pb2.Applicability(
        name=finding.asks_for,
        range=finding.range,
        fit=FITS[finding.fit],
        here=finding.here,
        words=finding.words,
    )


def oracle_of(message: note_pb2.Oracle) -> Oracle:
    """Read what a note is to be verified by; who says so is not the caller's to tell.

    Raises:
        BadFieldError: its kind is none that this version knows.
    """
    if message.kind not in _ORACLE_OF:
        raise BadFieldError("oracle.kind", f"{message.kind} is none that this version knows")
    kind = _ORACLE_OF[message.kind]
    if kind is OracleKind.COMMIT:
        return Oracle(kind=kind, commit=message.commit)
    if kind is OracleKind.RUN:
        return Oracle(
            kind=kind,
            command=message.command,
            exit_code=message.exit_code,
            output_digest=message.output_digest,
        )
    return Oracle(kind=kind)


def _oracle_message(oracle: Oracle) -> note_pb2.Oracle:
    return note_pb2.Oracle(
        kind=ORACLES[oracle.kind],
        commit=oracle.commit,
        command=oracle.command,
        exit_code=oracle.exit_code,
        output_digest=oracle.output_digest,
        actor=oracle.actor,
        session=oracle.session,
        door=oracle.door,
        at_ms=oracle.at_ms,
    )


def source_of(message: note_pb2.Source, field: str) -> Source:
    """Read a source of the note that *field* holds.

    Raises:
        BadFieldError: its kind is none that this version knows.
    """
    if message.kind not in _SOURCE_KIND_OF:
        raise BadFieldError(
            f"{field}.sources", f"kind {message.kind} is none that this version knows"
        )
    return Source(
        kind=_SOURCE_KIND_OF[message.kind],
        locator=message.locator,
        project=message.project,
        fingerprint=message.fingerprint,
    )


def source_message(source: Source) -> note_pb2.Source:
    """Pack a source."""
    return note_pb2.Source(
        kind=SOURCE_KINDS[source.kind],
        locator=source.locator,
        project=source.project,
        observed_at_ms=source.observed_at_ms,
        fingerprint=source.fingerprint,
        id=source.source_id,
    )
