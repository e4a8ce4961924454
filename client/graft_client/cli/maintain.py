"""`graft maintain` and `graft consolidate`: keep the memory in order."""

from collections.abc import Iterator

import click

from graft_client.cli.options import GraftCommand, GraftGroup
from graft_client.cli.output import Output, ProgressLine, bar, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, day_and_time
from graft_client.limits import IDLE_DAYS, IDLE_DAYS_MAX, UPKEEP_EVENTS_MAX, UPKEEP_ITEMS_MAX
from graft_client.results import short_id
from graft_client.upkeep_reports import (
    DECISIONS,
    Applied,
    ScanReport,
    UpkeepDecision,
    UpkeepItem,
)


@click.group(cls=GraftGroup)
def maintain() -> None:
    """Keep the memory in order: find what somebody should judge, do what loses nothing.

    \b
    Example:
        graft maintain scan
    """


@maintain.command(cls=GraftCommand)
@with_session
def status(session: Session) -> None:
    """Say what waits, when upkeep was last done, and what is worth doing next.

    \b
    Example:
        graft maintain status
    """
    found = session.graft.maintenance.status(scope=session.read_scope)
    output = session.output
    if output.as_json:
        output.record(found)
        return
    times = (("scanned", found.scanned_at), ("did what is safe", found.applied_at))
    rows = [
        *((kind, f"{count:,}") for kind, count in found.waiting.items()),
        ("wait for edges", f"{found.edges_waiting:,}"),
        *((what, "never" if at is None else day_and_time(at)) for what, at in times),
        ("background upkeep", "on" if found.sweeping else "off"),
    ]
    output.table(("what", "how much"), rows)
    if found.next:
        output.say(f"graft: next: {'; '.join(found.next)}")


@maintain.command(cls=GraftCommand)
@click.option(
    "--idle-days",
    type=click.IntRange(0, IDLE_DAYS_MAX),
    default=IDLE_DAYS,
    show_default=True,
    help="Days for which a note may stay without an edge.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, UPKEEP_ITEMS_MAX),
    default=20,
    show_default=True,
    help="Things to show at most; all are kept.",
)
@with_session
def scan(session: Session, idle_days: int, limit: int) -> None:
    """Look through the notes for what somebody should judge, and keep it in the queue.

    Found are notes that contradict each other, that have another value, or that say much the same;
    keywords that are spelled nearly alike; notes that nothing is joined with, that have expired, or
    that are due to be purged. What was judged does not come back.

    \b
    Example:
        graft maintain scan --limit 50
    """
    output = session.output
    line = ProgressLine(output)
    report: ScanReport | None = None
    try:
        for step in session.graft.maintenance.scan(
            idle_days=idle_days, limit=limit, scope=session.read_scope
        ):
            line.draw(f"graft: comparing notes {bar(step.done, step.total)}")
            report = step.report
    finally:
        line.clear()
    assert report is not None, "the last step has it"
    if output.as_json:
        output.record(report)
        return
    output.table(("item", "kind", "how", "what"), _rows(report))
    _talk(output, report)


@maintain.command(cls=GraftCommand)
@click.argument("item", type=click.IntRange(min=1))
@click.option(
    "--decision",
    type=click.Choice(DECISIONS),
    required=True,
    help="approve: do what is proposed; keep-both: leave it so; supersede: one replaces the other.",
)
@click.option("--keep", default="", metavar="ID", help="With supersede: the note that stays.")
@click.option(
    "--reason", default="decided in upkeep", show_default=True, help="Why; kept in the log."
)
@with_session
def resolve(session: Session, item: int, decision: UpkeepDecision, keep: str, reason: str) -> None:
    """Decide one thing that graft maintain scan found, by its number.

    With supersede the newer note of a pair stays, unless --keep names the other. What takes a
    reviewer is refused and named.

    \b
    Example:
        graft maintain resolve 12 --decision supersede --reason "the port was moved"
    """
    if keep and decision != "supersede":
        raise click.UsageError("--keep goes with --decision supersede; leave it out")
    done = session.graft.maintenance.resolve(item, decision, keep=keep, reason=reason)
    output = session.output
    if output.as_json:
        output.record(done)
        return
    changed = f": changed {', '.join(short_id(each) for each in done.changed)}"
    output.line(f"decided item {done.item}, {decision}{changed if done.changed else ''}")
    if done.change_event:
        undo = done.change_event
        output.say(f"graft: event {undo}; graft undo {undo} takes it back")


@maintain.command("apply-safe", cls=GraftCommand)
@click.option("--dry-run", is_flag=True, help="Show what would be done and do nothing.")
@with_session
def apply_safe(session: Session, dry_run: bool) -> None:
    """Do what loses nothing: merge notes that say the very same, and keywords spelled alike.

    Of notes that say the same the most trusted stays, then the oldest; it takes over the keywords
    and sources of the others and supersedes them. Keywords that differ in case or width become
    one. What has expired is put on record. Each is an event.

    \b
    Example:
        graft maintain apply-safe --dry-run
    """
    done = session.graft.maintenance.apply_safe(dry_run=dry_run, scope=session.read_scope)
    output = session.output
    if output.as_json:
        output.record(done)
        return
    _show_applied(output, done)


@maintain.command(cls=GraftCommand)
@click.option(
    "--limit",
    type=click.IntRange(1, UPKEEP_EVENTS_MAX),
    default=50,
    show_default=True,
    help="Entries to show at most.",
)
@click.option("--note", "note_id", default="", metavar="ID", help="Only what is about this note.")
@with_session
def log(session: Session, limit: int, note_id: str) -> None:
    """List what upkeep did and what was decided of what it found, newest first.

    \b
    Example:
        graft maintain log --limit 10
    """
    events = session.graft.maintenance.log(limit=limit, note_id=note_id)
    output = session.output
    if output.as_json:
        for each in events:
            output.record(each)
        return
    rows = (
        (
            f"{each.event}",
            day_and_time(each.at),
            each.actor,
            each.action,
            short_id(each.note_id) if each.note_id else "",
            each.reason,
        )
        for each in events
    )
    output.table(("event", "when", "who", "what", "note", "why"), rows)


@click.command(cls=GraftCommand)
@click.option("--dry-run", is_flag=True, help="Show what there is to do and do nothing.")
@with_session
def consolidate(session: Session, dry_run: bool) -> None:
    """Make the edges between all notes anew, and propose keywords to merge.

    It goes on in the background, also when this command is ended; searches go on meanwhile.

    \b
    Example:
        graft consolidate
    """
    output = session.output
    line = ProgressLine(output)
    last = None
    try:
        for step in session.graft.maintenance.consolidate(
            dry_run=dry_run, scope=session.read_scope
        ):
            line.draw(f"graft: joining notes {bar(step.done, step.total)}")
            last = step
    finally:
        line.clear()
    assert last is not None, "there is one at least"
    if output.as_json:
        output.record(last)
        return
    notes, edges = count_of(last.total, "note"), count_of(last.edges, "edge")
    variants = count_of(last.keyword_variants, "keyword")
    if dry_run:
        output.line(f"would make the edges of {notes} anew ({edges} now); {variants} to merge")
        return
    output.line(f"made the edges of {notes} anew: {edges}; {variants} to merge")
    if last.keyword_variants:
        output.say("graft: see them with: graft maintain scan")


def _rows(report: ScanReport) -> Iterator[tuple[str, ...]]:
    for item in report.items:
        yield f"{item.id}", item.kind, _how(item), _what(item)


def _how(item: UpkeepItem) -> str:
    if item.kind == "keyword-variant":
        return f"{item.differs}, {count_of(round(item.measure), 'note')}"
    return f"{item.differs} {item.measure:.0%}" if item.other_id else ""


def _what(item: UpkeepItem) -> str:
    if item.kind == "keyword-variant":
        return f"{item.variant} -> {item.keep}"
    if item.note_id is None:
        return ""
    first = f"{short_id(item.note_id)} {item.title}"
    return f"{first} | {short_id(item.other_id)} {item.other_title}" if item.other_id else first


def _talk(output: Output, report: ScanReport) -> None:
    parts = [f"{report.new:,} new"]
    if report.judged:
        parts.append(f"{report.judged:,} judged before")
    if report.withdrawn:
        parts.append(f"{report.withdrawn:,} no more")
    output.say(f"graft: looked at {count_of(report.notes, 'note')}: {', '.join(parts)}")
    if report.waiting:
        output.say(f"graft: {count_of(report.waiting, 'note')} still to embed or join; scan again")
    if report.truncated:
        output.say("graft: there is more; judge some and scan again")
    if report.items:
        output.say("graft: decide one with: graft maintain resolve ITEM --decision …")


def _show_applied(output: Output, done: Applied) -> None:
    would = "would have " if done.dry_run else ""
    for merge in done.merged:
        losers = ", ".join(short_id(each) for each in merge.losers)
        output.line(f"{would}merged {losers} into {short_id(merge.keeper)}")
    for each in done.keywords:
        output.line(f"{would}replaced {printable(each.variant)} by {printable(each.keep)}")
    if done.expired:
        output.line(f"{would}recorded that {count_of(done.expired, 'note')} had expired")
    if not (done.merged or done.keywords or done.expired):
        output.say("graft: nothing to do")
    if done.left:
        output.say(f"graft: {count_of(done.left, 'change')} refused; see graft maintain scan")
    if done.more:
        output.say("graft: there is more; run it again")
