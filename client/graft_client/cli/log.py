"""`graft log`: what was done, and whether the files still agree with it."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import click

from graft_client.cli.exits import REFUSED
from graft_client.cli.inputs import TIME
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, day_and_time
from graft_client.errors import InputError
from graft_client.history import Event, LogHead, LogReport
from graft_client.limits import HEAD_BYTES_MAX
from graft_client.results import short_id

F = TypeVar("F", bound=Callable[..., object])

_HEAD = re.compile(r"(?P<hash>[0-9a-f]{64})@(?P<count>\d{1,18})")


class _Listing(NamedTuple):
    """Which events are to be shown."""

    note_id: str
    since: datetime | None
    action: str
    limit: int


def _listing(command: F) -> F:
    """Add the options that say which events are shown; *command* is called with `listing`."""

    @wraps(command)
    def called(*arguments: object, **keywords: object) -> object:
        chosen = _Listing(**{name: keywords.pop(name) for name in _Listing._fields})  # type: ignore[arg-type] # click's own types
        return command(*arguments, listing=chosen, **keywords)

    for option in (
        click.option(
            "--limit",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Events to show at most; 0: all.",
        ),
        click.option("--action", default="", help="Only this, such as retire or refused."),
        click.option(
            "--since", type=TIME, metavar="TIME", help="Only what was done at TIME or later."
        ),
        click.option(
            "--note",
            "note_id",
            metavar="ID",
            default="",
            help="Only what was done to this note; to an erased one by its full id.",
        ),
    ):
        called = option(called)
    return cast("F", called)


@click.command(cls=GraftCommand)
@_listing
@click.option("--verify", is_flag=True, help="Compare the profile with its log instead.")
@click.option(
    "--expect-head",
    metavar="FILE|HASH@COUNT",
    help="With --verify: the log must hold this head, as --head printed it.",
)
@click.option("--head", is_flag=True, help="Print where the log ends, to be kept elsewhere.")
@with_session
def log(
    session: Session, *, listing: _Listing, verify: bool, expect_head: str | None, head: bool
) -> None:
    """Show what was done, newest first: each change and each refusal of one.

    --verify recomputes the chain of events and compares every note, its states, keywords, sources
    and successors with it; rows that do not agree are named, and it ends with 1.

    \b
    Example:
        graft log --note 1f3a9c04
        graft log --head > head.txt && graft log --verify --expect-head head.txt
    """
    if verify + head + any(listing) > 1:
        raise InputError("--verify and --head go with no other option of the listing; leave it out")
    if expect_head is not None and not verify:
        raise InputError("--expect-head goes with --verify; add that")
    if verify:
        _verify(session, None if expect_head is None else _expected(expect_head))
    elif head:
        _write_head(session.output, session.graft.log_head())
    else:
        events = session.graft.log(
            note_id=listing.note_id, since=listing.since, action=listing.action
        )
        _write(session.output, islice(events, listing.limit) if listing.limit else events)


def _write(output: Output, events: Iterator[Event]) -> None:
    if output.as_json:
        for event in events:
            output.record(event)
        return
    output.table(("event", "at", "who", "what", "note", "why"), (_row(event) for event in events))


def _row(event: Event) -> tuple[str, ...]:
    who = f"{event.actor} ({event.session or event.door})"
    what = event.action if event.count == 1 else f"{event.action}, {event.count:,} times"
    note = short_id(event.note_id) if event.note_id else ""
    return str(event.event), day_and_time(event.at), who, what, note, event.reason


def _verify(session: Session, expected: LogHead | None) -> None:
    report, output = session.graft.verify_log(expected=expected), session.output
    if output.as_json:
        output.record(report)
    else:
        _write_report(output, report)
    if not report.ok:
        session.context.exit(REFUSED)


def _write_report(output: Output, report: LogReport) -> None:
    for flaw in report.flaws:
        where = f"{flaw.table} {flaw.row}".rstrip()
        output.line(f"{printable(where)}: {printable(flaw.detail)}", fg="red")
    if report.more:
        output.line(f"and {count_of(report.more, 'row')} more", fg="red")
    if report.ok:
        events, notes = count_of(report.events, "event"), count_of(report.notes, "note")
        agree = "agrees" if report.events == 1 else "agree"
        output.line(f"{events} {agree} with {notes}")
    for each in report.uncovered:
        output.say(f"graft: not covered: {each}")


def _write_head(output: Output, head: LogHead) -> None:
    if output.as_json:
        output.record(head)
    else:
        output.line(f"{head.hash}@{head.count} of profile {head.profile_id}")


def _expected(text: str) -> LogHead:
    """Read a head that was kept: as it was printed for people or programs, or from a file."""
    if _HEAD.match(text):
        return _head_in(text)
    try:
        with Path(text).open("rb") as file:
            kept = file.read(HEAD_BYTES_MAX).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"--expect-head {text!r} is neither HASH@COUNT nor a file that can be read: {error}"
        ) from error
    return _head_in(kept)


def _head_in(text: str) -> LogHead:
    printed = _HEAD.match(text)
    if printed:
        rest = text[printed.end() :].removeprefix(" of profile ").strip()
        return LogHead(profile_id=rest, count=int(printed["count"]), hash=printed["hash"])
    try:
        told = json.loads(text)
        return LogHead(
            profile_id=str(told["profile_id"]), count=int(told["count"]), hash=str(told["hash"])
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{text[:80]!r} is no head of a log; `graft log --head` prints one"
        ) from error
