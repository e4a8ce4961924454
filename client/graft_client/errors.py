"""What can go wrong for a caller of Graft, as one tree of exceptions."""

from collections.abc import Mapping
from typing import ClassVar


class GraftError(Exception):
    """Something that was asked of Graft could not be done; the message says what to do next.

    *reason* is a stable word for programs; *details* carries what else is known.
    """

    reason: str = "FAILED"

    def __init__(self, message: str, *, details: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, str] = dict(details or {})


class InputError(GraftError, ValueError):
    """The caller's own argument cannot be sent; nothing was asked of the service."""

    reason = "USAGE"


class SettingsError(GraftError):
    """A setting, its variable or the settings file has a value that cannot be used."""

    reason = "BAD_SETTING"


class NobodyAnsweredError(GraftError):
    """No service answers, and none could be started or none was to be."""

    reason = "NOBODY_ANSWERED"


class DeadlineError(GraftError):
    """The service did not answer in time; a change may or may not have been made."""

    reason = "DEADLINE"


class WrongBuildError(GraftError):
    """The service that runs was built from another version and is too busy to be replaced."""

    reason = "WRONG_BUILD"


class ServiceBugError(GraftError):
    """The service failed in a way that it does not explain; its log has the rest."""

    reason = "INTERNAL"


class RefusedError(GraftError):
    """The service refused; *reason* is a name of ``graft.memory.v1.ErrorReason``."""

    reasons: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        details: Mapping[str, str] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message, details=details)
        self.reason = reason
        self.retry_after_ms = retry_after_ms


class BadFieldError(RefusedError):
    """A field is missing, malformed or over a limit; *details* names it."""

    reasons = frozenset(
        {"BAD_FIELD", "REQUEST_ID_REUSED", "AMBIGUOUS_ID", "BAD_PAGE_TOKEN", "SELF_REFERENCE"}
        | {"BAD_BACKUP"}
    )


class NotFoundError(RefusedError):
    """No note, profile, model, receipt, event or access token goes by that name."""

    reasons = frozenset(
        {
            "NOTE_NOT_FOUND",
            "PROFILE_NOT_FOUND",
            "MODEL_NOT_FOUND",
            "RECEIPT_NOT_FOUND",
            "EVENT_NOT_FOUND",
            "ITEM_NOT_FOUND",
            "TOKEN_NOT_FOUND",
        }
    )


class AlreadyExistsError(RefusedError):
    """It is there already."""

    reasons = frozenset({"PROFILE_EXISTS", "TOKEN_EXISTS"})


class WrongStateError(RefusedError):
    """The note's, the profile's or the service's state does not allow it now.

    *details* of a note's carries "state", "note_id" and, where it was replaced, "head": the last
    of its successors.
    """

    reasons = frozenset(
        {
            "WRONG_STATE",
            "KNOWN_TEXT",
            "REJECTED_TEXT",
            "SECRET_FOUND",
            "SUPERSEDED_ALREADY",
            "SUPERSEDING_CYCLE",
            "NOT_LAST_CHANGE",
            "SCHEMA_TOO_NEW",
            "REINDEX_STATE",
            "NO_REVIEWER",
        }
    )


class NotAllowedError(RefusedError):
    """The caller's role or door may not do this."""

    reasons = frozenset({"NOT_ALLOWED"})


class NoAccessError(RefusedError):
    """The memstore elsewhere takes no token of this caller's: none, a wrong or an ended one."""

    reasons = frozenset({"NO_ACCESS"})


class ProposedError(RefusedError):
    """It was not done: a reviewer alone may, and finds it in the queue.

    *details* carries "proposal", the number of the item, "note_id" and "verb".
    """

    reasons = frozenset({"PROPOSED"})


class NotReadyError(RefusedError):
    """It cannot be done right now; trying again later may work."""

    reasons = frozenset(
        {
            "BUSY",
            "DATABASE_LOCKED",
            "DEADLINE_PASSED",
            "MODEL_NOT_READY",
            "STOPPING",
            "TOO_MANY_ATTEMPTS",
        }
    )


class StorageError(RefusedError):
    """The disk is full or the database file is damaged."""

    reasons = frozenset({"DISK_FULL", "DATABASE_DAMAGED"})


REFUSALS: tuple[type[RefusedError], ...] = (
    BadFieldError,
    NotFoundError,
    AlreadyExistsError,
    WrongStateError,
    NotAllowedError,
    NoAccessError,
    ProposedError,
    NotReadyError,
    StorageError,
)


def refusal_class(reason: str) -> type[RefusedError]:
    """Give the class of a refusal with *reason*; one that is not known yet is a RefusedError."""
    return next((each for each in REFUSALS if reason in each.reasons), RefusedError)
