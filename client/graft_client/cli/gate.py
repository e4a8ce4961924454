"""How `graft doctor --gate` shows the gate's measure of itself."""

from collections.abc import Iterator

from graft_client.cli.exits import REFUSED
from graft_client.cli.output import Output, ProgressLine, bar, printable
from graft_client.cli.session import Session
from graft_client.cli.words import count_of
from graft_client.gate_reports import GateRate, GateReport


def measure(session: Session, *, apply: bool) -> None:
    """Measure the gate on the profile's notes and show what came out."""
    output = session.output
    line = ProgressLine(output)
    report = None
    try:
        for step in session.graft.measure_gate(apply=apply):
            line.draw(f"graft: asking {bar(step.done, step.total)}")
            report = step.report
    finally:
        line.clear()
    assert report is not None, "the last step has it"
    if output.as_json:
        output.record(report)
    else:
        _show(output, report)
    _talk(output, report, apply=apply)
    if apply and not report.applied:
        session.context.exit(REFUSED)


def reset(session: Session) -> None:
    """Let the threshold that comes with the program hold again."""
    done = session.graft.reset_gate()
    if session.output.as_json:
        session.output.record(done)
        return
    what = "its own threshold is gone" if done.was_set else "it had no threshold of its own"
    session.output.line(f"{what}; STRONG from {done.strong:.3f}")


def _show(output: Output, report: GateReport) -> None:
    _write_rates(output, "false STRONG", report.rates.false_strong, report, answerable=False)
    _write_rates(output, "missed STRONG", report.rates.missed_strong, report, answerable=True)
    output.table(("probability", "answers", "predicted", "right"), _rows(report))
    own = ", the profile's own" if report.strong_is_own else ""
    output.line(f"threshold      STRONG from {report.strong:.3f}{own}")
    if report.strong_proposed != report.strong:
        before, after = report.held_out, report.held_out_proposed
        output.line(
            f"proposed       STRONG from {report.strong_proposed:.3f}; on questions held out: "
            f"false STRONG {before.false_strong.count} -> {_of(after.false_strong)}, "
            f"missed STRONG {before.missed_strong.count} -> {_of(after.missed_strong)}"
        )


def _write_rates(
    output: Output, name: str, rate: GateRate, report: GateReport, *, answerable: bool
) -> None:
    output.line(f"{name:<15}{_rate(rate)}")
    for each in report.by_kind:
        if each.answerable is answerable:
            output.line(f"  {printable(each.kind):<13}{_rate(each.wrong)}")


def _talk(output: Output, report: GateReport, *, apply: bool) -> None:
    output.say(
        f"graft: asked of {count_of(report.notes, 'note')}, each question with and without its note"
    )
    if report.strong_passed_over is not None:
        output.say(
            f"graft: the profile's own threshold, {report.strong_passed_over:.3f}, is passed over: "
            "it was measured with another model or gate"
        )
    if report.applied:
        output.say("graft: applied; undo with: graft doctor --gate --reset")
    elif report.objections:
        refused = "not applied" if apply else "nothing to apply"
        output.say(f"graft: {refused}: {'; '.join(report.objections)}")
    else:
        output.say("graft: apply it with: graft doctor --gate --apply")


def _rows(report: GateReport) -> Iterator[tuple[str, ...]]:
    for each in report.calibration:
        yield (
            f"{each.low:.1f} to {each.high:.1f}",
            f"{each.right.total:,}",
            f"{each.predicted:.0%}",
            f"{each.right.share:.0%} ({each.right.low:.0%} to {each.right.high:.0%})",
        )


def _rate(rate: GateRate) -> str:
    return f"{rate.share:.1%} ({rate.low:.1%} to {rate.high:.1%}): {_of(rate)}"


def _of(rate: GateRate) -> str:
    return f"{rate.count:,} of {rate.total:,}"
