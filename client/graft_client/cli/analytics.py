"""`graft analytics`: what the memory gave."""

from datetime import UTC, datetime
from pathlib import Path

import click

from graft_client.analytics_reports import SECONDS_PER_HIT, Analytics
from graft_client.cli.analytics_page import (
    figures_of,
    name_of,
    page_of,
    summary_of,
    title_of,
    total_of,
)
from graft_client.cli.inputs import SINCE, confirm
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.errors import GraftError, InputError
from graft_client.json_output import as_json
from graft_client.results import short_id
from graft_client.whole_files import write_whole

SECONDS_PER_HIT_MAX = 86_400
LEVELS = ("STRONG", "WEAK", "MISS", "hit rate")
DAYS_SHOWN = 14
"""Days of the table that people read; --json and --html have all."""


@click.command(cls=GraftCommand)
@click.option(
    "--since",
    type=SINCE,
    metavar="WHEN",
    help="Only from then on: 30d, 12h or 2w ago, a day (2026-01-31, in UTC) or an instant.",
)
@click.option(
    "--seconds-per-hit",
    type=click.IntRange(0, SECONDS_PER_HIT_MAX),
    default=SECONDS_PER_HIT,
    show_default=True,
    help="What a STRONG answer is taken to save, for the estimate.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write one self-contained page with charts instead.",
)
@click.option("--clear", is_flag=True, help="Forget the figures instead of showing them.")
@click.option("--yes", is_flag=True, help="With --clear: do not ask.")
@with_session
def analytics(
    session: Session,
    *,
    since: datetime | None,
    seconds_per_hit: int,
    html: Path | None,
    clear: bool,
    yes: bool,
) -> None:
    """Show what the memory gave: answers by level, over time, by scope and agent, how fast.

    Kept are figures of the last 100,000 answers, in the profile's file, and no word of what was
    asked. The time saved is an estimate: STRONG answers times --seconds-per-hit. What hooks asked
    about of their own accord is counted beside it, by door.

    \b
    Example:
        graft analytics --since 30d
    """
    if clear:
        if since is not None or html is not None:
            raise InputError("--clear forgets everything; leave --since and --html out")
        _clear(session, yes=yes)
        return
    if yes:
        raise InputError("--yes goes with --clear; leave it out")
    found = session.graft.analytics(since=since, scope=session.read_scope)
    if html is not None:
        _write_page(session.output, html, found, seconds_per_hit)
    elif session.output.as_json:
        shown = as_json(found)
        assert isinstance(shown, dict), "it is a dataclass"
        saved = {
            "seconds_per_hit": seconds_per_hit,
            "seconds_saved": found.strong_given * seconds_per_hit,
        }
        session.output.record({**shown, **saved})
    else:
        _write(session.output, found, seconds_per_hit)


def _write(output: Output, found: Analytics, seconds_per_hit: int) -> None:
    if found.first_at is None:
        output.line("nothing was asked here; --all-scopes looks everywhere")
        return
    for line in summary_of(found, seconds_per_hit):
        output.line(line)
    if found.service is not None and found.embedder is not None:
        output.table(
            ("took", "half", "90 %", "99 %"),
            (
                (name, *(f"{each:.0f} ms" for each in (row.p50_ms, row.p90_ms, row.p99_ms)))
                for name, row in (("service", found.service), ("embedder", found.embedder))
            ),
        )
    output.table(
        ("day", *LEVELS),
        ((f"{each.day:%Y-%m-%d}", *figures_of(each.hits)) for each in found.days[-DAYS_SHOWN:]),
    )
    for title, groups in (
        ("scope", found.scopes),
        ("agent", found.agents),
        ("door", found.doors),
    ):
        output.table(
            (title, *LEVELS),
            ((printable(name_of(each)), *figures_of(each.hits)) for each in groups),
        )
    output.table(
        ("reused", "id", "title"),
        (
            (f"{each.count:,}", short_id(each.id), printable(title_of(each)))
            for each in found.reused
        ),
    )


def _write_page(output: Output, path: Path, found: Analytics, seconds_per_hit: int) -> None:
    page = page_of(found, seconds_per_hit, datetime.now(UTC))
    try:
        write_whole(path, page.encode())
    except OSError as error:
        raise GraftError(f"{path} cannot be written: {error.strerror}") from error
    if output.as_json:
        output.record({"file": str(path)})
    else:
        output.line(f"wrote {path}")


def _clear(session: Session, *, yes: bool) -> None:
    if not yes:
        shown = session.graft.analytics(scope=session.read_scope)
        found = sum(total_of(each.hits) for each in shown.doors)
        if found:
            confirm(session.output, verb="forget", what=count_of(found, "answer"))
    cleared = session.graft.clear_analytics(scope=session.read_scope)
    if session.output.as_json:
        session.output.record(cleared)
    else:
        session.output.line(f"forgot {count_of(cleared.answers, 'answer')}")
