"""The calls that measure the gate, as values, and how their replies are read."""

from graft.memory.v1 import daemon_service_pb2 as pb
from graft_client.gate_reports import (
    CalibrationBin,
    GateKindRate,
    GateRate,
    GateRates,
    GateReport,
    GateReset,
    GateStep,
)
from graft_client.operation import Operation, sendable
from graft_client.operations import DAEMON


def measure_gate(profile: str, *, apply: bool) -> Operation[pb.MeasureGateResponse, GateStep]:
    """Measure the gate; a call that is answered with a stream."""
    with sendable():
        request = pb.MeasureGateRequest(profile=profile, apply=apply)
    return Operation(
        path=f"{DAEMON}/MeasureGate",
        request=request,
        reply=pb.MeasureGateResponse,
        read=_step,
    )


def reset_gate(profile: str) -> Operation[pb.ResetGateResponse, GateReset]:
    """Take a profile's own threshold away."""
    with sendable():
        request = pb.ResetGateRequest(profile=profile)
    return Operation(
        path=f"{DAEMON}/ResetGate",
        request=request,
        reply=pb.ResetGateResponse,
        read=lambda reply: GateReset(was_set=reply.was_set, strong=reply.strong),
    )


def _step(reply: pb.MeasureGateResponse) -> GateStep:
    report = _report(reply.report) if reply.HasField("report") else None
    return GateStep(done=reply.done, total=reply.total, report=report)


def _report(report: pb.GateReport) -> GateReport:
    return GateReport(
        notes=report.notes,
        strong=report.strong,
        strong_is_own=report.strong_is_own,
        strong_fitted=report.strong_fitted,
        strong_passed_over=report.strong_passed_over
        if report.HasField("strong_passed_over")
        else None,
        strong_proposed=report.strong_proposed,
        rates=_rates(report.rates),
        by_kind=tuple(
            GateKindRate(kind=each.kind, answerable=each.answerable, wrong=_rate(each.wrong))
            for each in report.by_kind
        ),
        held_out=_rates(report.held_out),
        held_out_proposed=_rates(report.held_out_proposed),
        calibration=tuple(
            CalibrationBin(
                low=each.low, high=each.high, predicted=each.predicted, right=_rate(each.right)
            )
            for each in report.calibration
        ),
        objections=tuple(report.objections),
        applied=report.applied,
    )


def _rates(rates: pb.GateRates) -> GateRates:
    return GateRates(
        false_strong=_rate(rates.false_strong), missed_strong=_rate(rates.missed_strong)
    )


def _rate(rate: pb.GateRate) -> GateRate:
    return GateRate(
        count=rate.count, total=rate.total, share=rate.share, low=rate.low, high=rate.high
    )
