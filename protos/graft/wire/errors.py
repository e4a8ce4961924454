"""Refusals: one class for each reason, and how they travel as rich gRPC errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from graft.memory.v1 import errors_pb2

REASON_PREFIX = "ERROR_REASON_"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldViolation:
    """One field that cannot be taken, and why."""

    field: str
    description: str


class ServiceError(Exception):
    """A refusal that the caller is told about.

    Attributes:
        reason: why, for programs.
        code: the gRPC status that it travels as.
        message: what happened, with the value, then what to do.
        metadata: further facts for programs; never the text of a note.
        violations: fields that cannot be taken.
        retry_after_ms: when to try again, where that makes sense.
    """

    reason: ClassVar["errors_pb2.ErrorReason.ValueType"] = errors_pb2.ERROR_REASON_UNSPECIFIED
    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[FieldViolation] = (),
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.metadata = dict(metadata or {})
        self.violations = tuple(violations)
        self.retry_after_ms = retry_after_ms

    @property
    def reason_name(self) -> str:
        """Name of the reason, as it travels: without the prefix of the enum."""
        return errors_pb2.ErrorReason.Name(self.reason).removeprefix(REASON_PREFIX)


class BadFieldError(ServiceError):
    """A field is missing, malformed or over a limit."""

    reason = errors_pb2.ERROR_REASON_BAD_FIELD
    code = grpc.StatusCode.INVALID_ARGUMENT

    def __init__(self, field_name: str, description: str) -> None:
        super().__init__(
            f"{field_name}: {description}",
            violations=[FieldViolation(field=field_name, description=description)],
        )


class RequestIdReusedError(ServiceError):
    """A request_id was used before with another payload."""

    reason = errors_pb2.ERROR_REASON_REQUEST_ID_REUSED
    code = grpc.StatusCode.INVALID_ARGUMENT


class AmbiguousIdError(ServiceError):
    """A piece of an id fits more than one note or receipt."""

    reason = errors_pb2.ERROR_REASON_AMBIGUOUS_ID
    code = grpc.StatusCode.INVALID_ARGUMENT


class BadPageTokenError(ServiceError):
    """The page token is not one that this listing gave out."""

    reason = errors_pb2.ERROR_REASON_BAD_PAGE_TOKEN
    code = grpc.StatusCode.INVALID_ARGUMENT


class SelfReferenceError(ServiceError):
    """A note cannot replace itself."""

    reason = errors_pb2.ERROR_REASON_SELF_REFERENCE
    code = grpc.StatusCode.INVALID_ARGUMENT


class BadBackupError(ServiceError):
    """A file is no backup, or is damaged."""

    reason = errors_pb2.ERROR_REASON_BAD_BACKUP
    code = grpc.StatusCode.INVALID_ARGUMENT


class NoteNotFoundError(ServiceError):
    """No note has this id."""

    reason = errors_pb2.ERROR_REASON_NOTE_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class ProfileNotFoundError(ServiceError):
    """No profile has this name."""

    reason = errors_pb2.ERROR_REASON_PROFILE_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class ModelNotFoundError(ServiceError):
    """No model of this name is known, or its file is gone."""

    reason = errors_pb2.ERROR_REASON_MODEL_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class ReceiptNotFoundError(ServiceError):
    """No receipt has this id."""

    reason = errors_pb2.ERROR_REASON_RECEIPT_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class EventNotFoundError(ServiceError):
    """The log has no event of this number."""

    reason = errors_pb2.ERROR_REASON_EVENT_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class ItemNotFoundError(ServiceError):
    """The review queue has no item of this number."""

    reason = errors_pb2.ERROR_REASON_ITEM_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class TokenNotFoundError(ServiceError):
    """No access token has this name or id."""

    reason = errors_pb2.ERROR_REASON_TOKEN_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class TokenExistsError(ServiceError):
    """An access token of this name is there already."""

    reason = errors_pb2.ERROR_REASON_TOKEN_EXISTS
    code = grpc.StatusCode.ALREADY_EXISTS


class ProfileExistsError(ServiceError):
    """A profile of this name is there already."""

    reason = errors_pb2.ERROR_REASON_PROFILE_EXISTS
    code = grpc.StatusCode.ALREADY_EXISTS


class WrongStateError(ServiceError):
    """The state of things does not allow it."""

    reason = errors_pb2.ERROR_REASON_WRONG_STATE
    code = grpc.StatusCode.FAILED_PRECONDITION


class KnownTextError(ServiceError):
    """What a note says was taken out of use before, or waits for a reviewer."""

    reason = errors_pb2.ERROR_REASON_KNOWN_TEXT
    code = grpc.StatusCode.FAILED_PRECONDITION


class SupersededAlreadyError(ServiceError):
    """The note that is to be replaced has been replaced before."""

    reason = errors_pb2.ERROR_REASON_SUPERSEDED_ALREADY
    code = grpc.StatusCode.FAILED_PRECONDITION


class SupersedingCycleError(ServiceError):
    """The note that is to be replaced has itself replaced the other."""

    reason = errors_pb2.ERROR_REASON_SUPERSEDING_CYCLE
    code = grpc.StatusCode.FAILED_PRECONDITION


class RejectedTextError(ServiceError):
    """What a note says was rejected."""

    reason = errors_pb2.ERROR_REASON_REJECTED_TEXT
    code = grpc.StatusCode.FAILED_PRECONDITION


class NotLastChangeError(ServiceError):
    """An event is not the last change of its note."""

    reason = errors_pb2.ERROR_REASON_NOT_LAST_CHANGE
    code = grpc.StatusCode.FAILED_PRECONDITION


class SchemaTooNewError(ServiceError):
    """The file was written by a newer program."""

    reason = errors_pb2.ERROR_REASON_SCHEMA_TOO_NEW
    code = grpc.StatusCode.FAILED_PRECONDITION


class ReindexStateError(ServiceError):
    """A reindex to another model runs already."""

    reason = errors_pb2.ERROR_REASON_REINDEX_STATE
    code = grpc.StatusCode.FAILED_PRECONDITION


class NotAllowedError(ServiceError):
    """The caller's role or door may not do this."""

    reason = errors_pb2.ERROR_REASON_NOT_ALLOWED
    code = grpc.StatusCode.PERMISSION_DENIED


class NoAccessError(ServiceError):
    """A call from outside shows no token that lets it in; which way it fails is not told."""

    reason = errors_pb2.ERROR_REASON_NO_ACCESS
    code = grpc.StatusCode.UNAUTHENTICATED


class ProposedError(ServiceError):
    """It was not done: it waits for a reviewer."""

    reason = errors_pb2.ERROR_REASON_PROPOSED
    code = grpc.StatusCode.FAILED_PRECONDITION


class SecretFoundError(ServiceError):
    """A note to store holds what looks like a secret."""

    reason = errors_pb2.ERROR_REASON_SECRET_FOUND
    code = grpc.StatusCode.FAILED_PRECONDITION


class NoReviewerError(ServiceError):
    """No reviewer has been set up."""

    reason = errors_pb2.ERROR_REASON_NO_REVIEWER
    code = grpc.StatusCode.FAILED_PRECONDITION


class TooManyAttemptsError(ServiceError):
    """Wrong passphrases came shortly before."""

    reason = errors_pb2.ERROR_REASON_TOO_MANY_ATTEMPTS
    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class BusyError(ServiceError):
    """A queue is full."""

    reason = errors_pb2.ERROR_REASON_BUSY
    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class ModelNotReadyError(ServiceError):
    """The model is not loaded yet, or cannot be."""

    reason = errors_pb2.ERROR_REASON_MODEL_NOT_READY
    code = grpc.StatusCode.UNAVAILABLE


class DatabaseLockedError(ServiceError):
    """Another program holds the database's write lock."""

    reason = errors_pb2.ERROR_REASON_DATABASE_LOCKED
    code = grpc.StatusCode.UNAVAILABLE


class DiskFullError(ServiceError):
    """The disk is full; nothing was stored."""

    reason = errors_pb2.ERROR_REASON_DISK_FULL
    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class StoppingError(ServiceError):
    """The service is stopping."""

    reason = errors_pb2.ERROR_REASON_STOPPING
    code = grpc.StatusCode.UNAVAILABLE


class DatabaseDamagedError(ServiceError):
    """The database file is damaged."""

    reason = errors_pb2.ERROR_REASON_DATABASE_DAMAGED
    code = grpc.StatusCode.DATA_LOSS


class DeadlinePassedError(ServiceError):
    """The caller's deadline passed before the work was done."""

    reason = errors_pb2.ERROR_REASON_DEADLINE_PASSED
    code = grpc.StatusCode.DEADLINE_EXCEEDED


def to_status(error: ServiceError, domain: str) -> grpc.Status:
    """Build the rich status that *error* travels as; *domain* is "graft.memory" or the like."""
    details: list[any_pb2.Any] = []

    def add(
        message: error_details_pb2.ErrorInfo
        | error_details_pb2.BadRequest
        | error_details_pb2.RetryInfo,
    ) -> None:
        packed = any_pb2.Any()
        packed.Pack(message)
        details.append(packed)

    add(
        error_details_pb2.ErrorInfo(
            reason=error.reason_name, domain=domain, metadata=error.metadata
        )
    )
    if error.violations:
        add(
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field=violation.field, description=violation.description
                    )
                    for violation in error.violations
                ]
            )
        )
    if error.retry_after_ms is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(error.retry_after_ms)
        add(error_details_pb2.RetryInfo(retry_delay=delay))
    number = code_pb2.Code.Value(error.code.name)
    status: grpc.Status = rpc_status.to_status(
        status_pb2.Status(code=number, message=error.message, details=details)
    )
    return status


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a failed call told.

    Attributes:
        code: the gRPC status.
        reason: name of the ErrorReason without prefix; empty when the other end sent none,
            as when nobody answers.
        message: the other end's sentence; empty without a reason, since gRPC's own words are
            not for people.
        metadata: further facts.
        violations: fields that could not be taken.
        retry_after_ms: when to try again; None when nobody said.
    """

    code: grpc.StatusCode
    reason: str = ""
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[FieldViolation, ...] = ()
    retry_after_ms: int | None = None


def read_refusal(error: grpc.RpcError) -> Refusal:
    """Read what *error*, raised by a call, tells."""
    # What a stub raises is a Call as well; the types do not say so.
    call = cast("grpc.Call", error)
    status = rpc_status.from_call(call)
    code = call.code()
    if status is None:
        return Refusal(code=code)
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    retry_after_ms = None
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
        if detail.Unpack(retry):
            retry_after_ms = retry.retry_delay.ToMilliseconds()
    return Refusal(
        code=code,
        reason=info.reason,
        message=status.message if info.reason else "",
        metadata=dict(info.metadata),
        violations=tuple(
            FieldViolation(field=each.field, description=each.description)
            for each in bad.field_violations
        ),
        retry_after_ms=retry_after_ms,
    )
