"""`graft explain`: why an answer was what it was."""

from collections.abc import Iterator

import click

from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import full_time, hit_style
from graft_client.explanations import Explanation, LookedAtNote, WithheldNote
from graft_client.results import short_id

IDENTITY_CHARACTERS = 12


@click.command(cls=GraftCommand)
@click.argument("receipt")
@with_session
def explain(session: Session, receipt: str) -> None:
    """Tell why an answer of query was what it was.

    RECEIPT is what the answer ended with: the whole of it, or 8 or more of its first or last
    digits. Shown are the signals and what each added, the thresholds, the rules, and hidden notes
    that would have been candidates.

    \b
    Example:
        graft explain 5b0c77e1
    """
    explanation = session.graft.explain(receipt)
    if session.output.as_json:
        session.output.record(explanation)
    else:
        _write(session.output, explanation)


def _write(output: Output, told: Explanation) -> None:
    heading = f"{told.hit} {told.probability:.0%}"
    output.line(f"{heading}, answered {full_time(told.at)}", **hit_style(told.hit))
    if told.signals:
        output.line()
        output.table(("signal", "value", "weight", "adds"), _signals(told))
    output.line()
    for name, value in _facts(told):
        output.line(f"{name + ':':<12}{value}")


def _signals(told: Explanation) -> Iterator[tuple[str, str, str, str]]:
    for each in told.signals:
        weight = f"{each.weight:.2f}" if each.weight else "by rule"
        adds = f"{each.contribution:+.2f}" if each.weight else ""
        yield each.name, f"{each.value:.2f}", weight, adds
    yield "without any", "", "", f"{told.bias:+.2f}"
    total = told.bias + sum(each.contribution for each in told.signals)
    yield "together", "", "", f"{total:+.2f} = {told.probability:.0%}"


def _facts(told: Explanation) -> Iterator[tuple[str, str]]:
    for threshold in told.thresholds:
        side = "above" if threshold.distance >= 0 else "below"
        distance = f"{abs(threshold.distance):.0%}".replace("%", " points")
        own = ", the profile's own" if threshold.own else ""
        yield threshold.hit, f"from {threshold.probability:.0%} on{own}; {distance} {side}"
    for rule in told.rules:
        broken = "broken, and lowered the answer" if rule.lowered else "broken"
        yield "rule", f"{rule.name}: {'kept' if rule.kept else broken}"
    for looked_at in told.looked_at:
        yield "looked at", _looked_at(looked_at)
    for withheld in told.withheld:
        yield "withheld", _withheld(withheld)
    for each in told.sources:
        yield "source", f"{printable(each.source.locator)}: {each.state or 'not told yet'}"
    if told.source_check == "unchecked" and not told.sources:
        yield "sources", "not checked"
    yield "arms", ", ".join(told.arms)
    if told.degraded:
        yield "without", ", ".join(told.degraded)
    yield "scopes", "every one" if told.all_scopes else printable(", ".join(told.scopes))
    yield "background", f"{told.background.mean:.3f} ± {told.background.deviation:.3f}"
    yield "model", _model(told)
    yield "log", f"up to event {told.event:,}"
    yield "receipt", told.receipt


def _looked_at(note: LookedAtNote) -> str:
    what = printable(note.title) if note.title else f"({note.now} now)"
    return f"{short_id(note.id)}  {note.probability:.0%}  {what}"


def _withheld(note: WithheldNote) -> str:
    since = f", {note.now} now" if note.now != note.state else ""
    return f"{short_id(note.id)}  {note.state}{since}"


def _model(told: Explanation) -> str:
    if not told.model:
        return "none yet"
    return f"{told.model} ({told.model_identity[:IDENTITY_CHARACTERS]}), index {told.index}"
