"""The gate measured on a profile's own notes, through the service."""

import threading

import grpc
import pytest
from tests.unit.memstore.room import WAIT_SECONDS
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import daemon_service_pb2 as pb
from graft.wire.errors import read_refusal
from graft_memstore.deadline import Deadline
from graft_memstore.gate_model import GATE_DIGEST, GATE_MODEL
from graft_memstore.model import ModelRole, NewNote
from graft_memstore.recall.own_gate import gate_of
from graft_memstore.store.events import Event, read_events_after
from graft_memstore.store.models import read_model
from graft_memstore.store.own_threshold import OwnThreshold, write_own_threshold
from graft_memstore.upkeep.measure_gate import NOTES_MIN

SECONDS = 30
SUBJECTS = ["alder", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel", "ivy", "yew"]


def store_notes(stubs: Stubs, count: int) -> None:
    notes = [
        NewNote(
            title=f"tool{at} cannot reach {SUBJECTS[at % 10]} behind gateway{at} after restart",
            body=f"Set option{at} of {SUBJECTS[at % 10]} to value{at} before starting worker{at}.",
        )
        for at in range(count)
    ]
    stubs.room.insert_all(notes, wait=True)
    stubs.room.wait_until_embedded()


def measure(stubs: Stubs, *, apply: bool = False) -> list[pb.MeasureGateResponse]:
    return list(stubs.daemon.MeasureGate(pb.MeasureGateRequest(apply=apply), timeout=SECONDS))


def checks(stubs: Stubs) -> dict[str, pb.Check]:
    reply = stubs.daemon.CheckProfile(pb.CheckProfileRequest(), timeout=SECONDS)
    return {each.name: each for each in reply.checks}


def set_own(stubs: Stubs, strong: float, *, gate: str = GATE_DIGEST) -> None:
    """Give the profile a threshold of its own, measured with the model that serves."""
    serving = stubs.room.profile.serving_model
    assert serving is not None
    own = OwnThreshold(strong=strong, gate=gate, model=serving.identity)
    stubs.room.tampered = True
    stubs.room.profile.write(lambda change: write_own_threshold(change.connection, own))


def gate_events(stubs: Stubs) -> list[Event]:
    with stubs.room.profile.snapshot() as connection:
        return [
            each for each in read_events_after(connection, 0, 1000) if each.action.endswith("-gate")
        ]


def strong_of(stubs: Stubs) -> float:
    """Return the threshold that a query would go by."""
    with stubs.room.profile.snapshot() as connection:
        return gate_of(connection, read_model(connection, ModelRole.SERVING)).strong


def test_measuring_tells_how_far_it_is_and_ends_with_figures(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN)

    steps = measure(stubs)

    total = steps[-1].total
    assert [step.done for step in steps] == list(range(total + 1))
    assert [step.HasField("report") for step in steps] == [False] * total + [True]
    report = steps[-1].report
    rates = report.rates
    assert report.notes == NOTES_MIN
    assert report.strong == report.strong_fitted == GATE_MODEL.strong
    assert rates.missed_strong.total == 2 * NOTES_MIN
    assert rates.false_strong.total >= 2 * NOTES_MIN
    assert [(each.kind, each.answerable, each.wrong.total) for each in report.by_kind] == [
        ("mixed", False, NOTES_MIN),
        ("passage", False, NOTES_MIN),
        ("title", False, NOTES_MIN),
        ("passage", True, NOTES_MIN),
        ("title", True, NOTES_MIN),
    ]
    assert rates.false_strong.low <= rates.false_strong.share <= rates.false_strong.high
    asked = rates.missed_strong.total + rates.false_strong.total
    assert sum(each.right.total for each in report.calibration) == asked
    assert not report.applied


def test_a_measurement_leaves_no_trace(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN)
    statement = "SELECT count(*) FROM events"
    before = stubs.room.count(statement)

    measure(stubs)

    assert stubs.room.count(statement) == before
    assert stubs.room.count("SELECT count(*) FROM misses") == 0
    assert strong_of(stubs) == GATE_MODEL.strong


def test_measured_again_it_gives_the_same_figures(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN)

    assert measure(stubs) == measure(stubs)


def test_a_caller_who_leaves_ends_the_measurement_and_nothing_is_applied(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN)
    set_own(stubs, 1.0)
    embedder, third = stubs.room.embedder, threading.Event()

    def wait_from_the_third_on(deadline: Deadline) -> None:
        if len(embedder.asked) >= 2:
            third.set()
            deadline.wait(SECONDS)

    embedder.waits = wait_from_the_third_on
    steps = stubs.daemon.MeasureGate(pb.MeasureGateRequest(apply=True), timeout=SECONDS)
    assert next(steps).done == 0
    assert third.wait(SECONDS)
    steps.cancel()

    deadline = Deadline(WAIT_SECONDS)
    while stubs.activity.calls:
        assert deadline.left() > 0, "the call is still counted"
        deadline.wait(0.01)
    assert len(embedder.asked) == 3
    assert strong_of(stubs) == 1.0
    embedder.waits = lambda _: None
    assert measure(stubs)[-1].HasField("report")


def test_too_few_notes_are_refused_with_the_number_that_it_takes(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN - 1)

    with pytest.raises(grpc.RpcError) as raised:
        measure(stubs)

    refusal = read_refusal(raised.value)
    assert refusal.reason == "WRONG_STATE"
    assert "19 notes" in refusal.message
    assert "takes 20" in refusal.message


def test_a_threshold_that_hands_out_nothing_is_mended_and_reset(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN + 10)
    set_own(stubs, 1.0)

    report = measure(stubs, apply=True)[-1].report

    assert report.strong == 1.0
    assert report.rates.missed_strong.share == 1.0
    assert (report.applied, list(report.objections)) == (True, [])
    assert report.held_out_proposed.missed_strong.count < report.held_out.missed_strong.count
    assert strong_of(stubs) == report.strong_proposed

    again = measure(stubs, apply=True)[-1].report
    assert (again.applied, len(again.objections)) == (False, 1)
    assert strong_of(stubs) == report.strong_proposed

    reset = stubs.daemon.ResetGate(pb.ResetGateRequest(), timeout=SECONDS)
    assert (reset.was_set, reset.strong) == (True, GATE_MODEL.strong)
    assert strong_of(stubs) == GATE_MODEL.strong
    assert not stubs.daemon.ResetGate(pb.ResetGateRequest(), timeout=SECONDS).was_set


def test_who_applies_and_who_resets_is_recorded_with_figures_alone(stubs: Stubs) -> None:
    store_notes(stubs, NOTES_MIN + 10)
    set_own(stubs, 1.0)
    request, metadata = pb.MeasureGateRequest(apply=True), (("graft-door", "cli"),)

    *_, last = stubs.daemon.MeasureGate(request, timeout=SECONDS, metadata=metadata)
    stubs.daemon.ResetGate(pb.ResetGateRequest(), timeout=SECONDS, metadata=metadata)
    stubs.daemon.ResetGate(pb.ResetGateRequest(), timeout=SECONDS, metadata=metadata)

    strong = f"{last.report.strong_proposed:.3f}"
    fitted = f"{GATE_MODEL.strong:.3f}"
    events = gate_events(stubs)
    assert [(each.action, each.door, each.note_id, each.reason) for each in events] == [
        ("apply-gate", "cli", None, f"STRONG from {strong}, before from 1.000"),
        ("reset-gate", "cli", None, f"STRONG from {fitted}, before from {strong}"),
    ]
    assert events[0].digest == events[1].digest
    assert events[0].state_digest == b""
    assert checks(stubs)["audit chain"].ok


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (None, f"STRONG from {GATE_MODEL.strong:.3f}"),
        (GATE_DIGEST, "STRONG from 0.990, the profile's own"),
        ("fitted before", "its own, 0.990, was measured with another model or gate"),
    ],
)
def test_a_check_says_whose_threshold_holds(stubs: Stubs, own: str | None, told: str) -> None:
    store_notes(stubs, NOTES_MIN)
    if own is not None:
        set_own(stubs, 0.99, gate=own)

    finding, report = checks(stubs)["gate"], measure(stubs)[-1].report

    assert finding.ok
    assert told in finding.detail
    assert strong_of(stubs) == report.strong
    assert report.strong_is_own is (own == GATE_DIGEST)
    passed_over = report.strong_passed_over if report.HasField("strong_passed_over") else None
    assert passed_over == (0.99 if own == "fitted before" else None)
