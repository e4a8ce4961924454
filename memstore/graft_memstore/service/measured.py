"""How the gate does on a profile's own notes, as the proto tells it."""

from collections.abc import Iterator

from graft.memory.v1 import daemon_service_pb2 as pb
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder
from graft_memstore.gate_model import GATE_MODEL
from graft_memstore.measurement import Rate, Rates
from graft_memstore.model import Caller
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.measure_gate import (
    Measurement,
    apply_threshold,
    measure_gate,
    reset_threshold,
)


def measured(
    profile: Profile[VectorIndex],
    embedder: Embedder,
    request: pb.MeasureGateRequest,
    caller: Caller,
    deadline: Deadline,
) -> Iterator[pb.MeasureGateResponse]:
    """Answer how far measuring is, and at the end what came out; apply it if that is wanted.

    Raises:
        ServiceError: see `measure_gate`.
    """
    for step in measure_gate(profile, embedder, deadline):
        reply = pb.MeasureGateResponse(done=step.done, total=step.total)
        if step.measurement is not None:
            applied = request.apply and not step.measurement.objections
            if applied:
                apply_threshold(profile, step.measurement, caller, deadline.for_work())
            reply.report.CopyFrom(_report(step.measurement, applied=applied))
        yield reply


def reset(
    profile: Profile[VectorIndex], caller: Caller, wait_seconds: float
) -> pb.ResetGateResponse:
    """Take the profile's own threshold away.

    Raises:
        ServiceError: see `reset_threshold`.
    """
    own = reset_threshold(profile, caller, wait_seconds)
    return pb.ResetGateResponse(was_set=own is not None, strong=GATE_MODEL.strong)


def _report(measurement: Measurement, *, applied: bool) -> pb.GateReport:
    return pb.GateReport(
        notes=measurement.notes,
        strong=measurement.gate.strong,
        strong_is_own=measurement.gate.strong_is_own,
        strong_fitted=GATE_MODEL.strong,
        strong_passed_over=measurement.passed_over,
        strong_proposed=measurement.proposed,
        rates=_rates(measurement.rates),
        by_kind=[
            pb.GateKindRate(kind=each.kind, answerable=each.answerable, wrong=_rate(each.wrong))
            for each in measurement.by_kind
        ],
        held_out=_rates(measurement.held_out),
        held_out_proposed=_rates(measurement.held_out_proposed),
        calibration=[
            pb.CalibrationBin(
                low=each.low, high=each.high, predicted=each.predicted, right=_rate(each.right)
            )
            for each in measurement.calibration
        ],
        objections=measurement.objections,
        applied=applied,
    )


def _rates(rates: Rates) -> pb.GateRates:
    return pb.GateRates(
        false_strong=_rate(rates.false_strong), missed_strong=_rate(rates.missed_strong)
    )


def _rate(rate: Rate) -> pb.GateRate:
    low, high = rate.interval
    return pb.GateRate(count=rate.count, total=rate.total, share=rate.share, low=low, high=high)
