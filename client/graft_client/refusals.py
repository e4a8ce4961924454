"""How a failed call becomes an error of Graft, in words for people."""

from collections.abc import Mapping

import grpc

from graft.wire.errors import Refusal
from graft_client.errors import (
    DeadlineError,
    GraftError,
    NobodyAnsweredError,
    RefusedError,
    ServiceBugError,
    WrongBuildError,
    refusal_class,
)

UNAVAILABLE_RETRIES_MAX = 3
BUSY_RETRIES_MAX = 20
FIRST_PAUSE_SECONDS = 0.05


class Retries:
    """Decides for one call that may be repeated whether it is, and after how long a pause."""

    def __init__(self) -> None:
        self._unavailable = 0
        self._busy = 0

    def pause_seconds(self, refusal: Refusal, left_seconds: float) -> float | None:
        """Return the pause before the next try; None when there is to be none."""
        pause = None
        if refusal.reason == "BUSY" and self._busy < BUSY_RETRIES_MAX:
            self._busy += 1
            pause = (refusal.retry_after_ms or 0) / 1000 or FIRST_PAUSE_SECONDS
        elif went_away(refusal) and self._unavailable < UNAVAILABLE_RETRIES_MAX:
            pause = FIRST_PAUSE_SECONDS * 2**self._unavailable
            self._unavailable += 1
        return pause if pause is not None and pause < left_seconds else None


def went_away(refusal: Refusal) -> bool:
    """Tell whether nobody answers any more: the service has stopped or is stopping."""
    return refusal.code is grpc.StatusCode.UNAVAILABLE and refusal.reason in {"", "STOPPING"}


def to_graft_error(refusal: Refusal, *, whom: str, log: str, seconds: float) -> GraftError:
    """Say what *refusal* means.

    Args:
        refusal: what the call told.
        whom: the service, such as "the memstore (process 12)".
        log: where its log is.
        seconds: how long the call was given.
    """
    if refusal.reason:
        return refusal_class(refusal.reason)(
            refusal.message,
            reason=refusal.reason,
            details=_details(refusal),
            retry_after_ms=refusal.retry_after_ms,
        )
    match refusal.code:
        case grpc.StatusCode.UNAVAILABLE:
            return NobodyAnsweredError(
                f"{whom} does not answer any more; try again, and where that does not help run:"
                f" graft stop --force (its log is {log})"
            )
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineError(
                f"{whom} did not answer within {seconds:g} s; run graft status to see what it"
                " does, or give it more time with --timeout SECONDS"
            )
        case grpc.StatusCode.UNIMPLEMENTED:
            return WrongBuildError(
                f"{whom} is of another version and does not know this call; run: graft stop"
            )
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            return RefusedError(
                "the request or its answer is larger than a message may be; ask for less at once",
                reason="TOO_LARGE",
            )
        case _:
            return ServiceBugError(
                f"{whom} failed inside ({refusal.code.name}); what happened is in {log}"
            )


def _details(refusal: Refusal) -> Mapping[str, str]:
    details = dict(refusal.metadata)
    for violation in refusal.violations:
        details[f"field:{violation.field}"] = violation.description
    return details
