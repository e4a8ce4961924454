import grpc
import pytest

from graft.memory.v1 import errors_pb2
from graft.wire.errors import FieldViolation, Refusal
from graft_client.cli.exits import code_of
from graft_client.errors import REFUSALS, GraftError, RefusedError, refusal_class
from graft_client.refusals import BUSY_RETRIES_MAX, Retries, to_graft_error

GONE = Refusal(code=grpc.StatusCode.UNAVAILABLE)
BUSY = Refusal(code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="BUSY", retry_after_ms=200)


def told(refusal: Refusal) -> GraftError:
    return to_graft_error(refusal, whom="the memstore (process 7)", log="/h/m.log", seconds=30)


def test_every_reason_of_the_protos_has_a_class_of_its_own() -> None:
    names = [
        name.removeprefix("ERROR_REASON_")
        for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name
    ]
    known = {reason for each in REFUSALS for reason in each.reasons}

    assert known == set(names) - {"UNSPECIFIED"}
    assert all(refusal_class(name) is not RefusedError for name in known)


def test_a_reason_of_a_newer_service_is_a_refusal_all_the_same() -> None:
    error = told(Refusal(code=grpc.StatusCode.ABORTED, reason="NEW_ONE", message="no"))

    assert (type(error), error.reason, error.message) == (RefusedError, "NEW_ONE", "no")


def test_a_refusal_keeps_what_the_service_told() -> None:
    error = told(
        Refusal(
            code=grpc.StatusCode.INVALID_ARGUMENT,
            reason="BAD_FIELD",
            message="title: longer than 1,024 characters",
            metadata={"limit": "1024"},
            violations=(FieldViolation(field="title", description="too long"),),
        )
    )

    assert error.details == {"limit": "1024", "field:title": "too long"}
    assert code_of(error) == 1


@pytest.mark.parametrize(
    ("code", "reason", "exit_code", "next_command"),
    [
        (grpc.StatusCode.UNAVAILABLE, "NOBODY_ANSWERED", 3, "graft stop --force"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE", 3, "graft status"),
        (grpc.StatusCode.UNIMPLEMENTED, "WRONG_BUILD", 1, "graft stop"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE", 1, "ask for less"),
        (grpc.StatusCode.INTERNAL, "INTERNAL", 1, "/h/m.log"),
        (grpc.StatusCode.UNKNOWN, "INTERNAL", 1, "/h/m.log"),
    ],
)
def test_a_failure_without_reason_is_put_in_our_own_words(
    code: grpc.StatusCode, reason: str, exit_code: int, next_command: str
) -> None:
    error = told(Refusal(code=code))

    assert error.reason == reason
    assert code_of(error) == exit_code
    assert next_command in error.message


def test_a_service_that_went_away_is_tried_three_times_more() -> None:
    retries = Retries()

    pauses = [retries.pause_seconds(GONE, 30) for _ in range(4)]

    assert pauses == [0.05, 0.1, 0.2, None]


def test_a_busy_service_is_asked_again_when_it_says() -> None:
    retries = Retries()

    pauses = [retries.pause_seconds(BUSY, 30) for _ in range(BUSY_RETRIES_MAX + 1)]

    assert pauses == [0.2] * BUSY_RETRIES_MAX + [None]


def test_no_pause_goes_past_the_deadline() -> None:
    assert Retries().pause_seconds(BUSY, 0.1) is None


@pytest.mark.parametrize("reason", ["DATABASE_LOCKED", "MODEL_NOT_READY"])
def test_what_the_service_has_waited_for_itself_is_not_tried_again(reason: str) -> None:
    refusal = Refusal(code=grpc.StatusCode.UNAVAILABLE, reason=reason)

    assert Retries().pause_seconds(refusal, 30) is None
