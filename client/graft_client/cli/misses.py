"""`graft misses`: questions that nothing answered."""

from collections.abc import Iterator

import click

from graft_client.cli.inputs import confirm
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, day_and_time
from graft_client.errors import InputError
from graft_client.explanations import Misses
from graft_client.limits import MISSES, MISSES_MAX
from graft_client.results import short_id


@click.command(cls=GraftCommand)
@click.option(
    "--limit",
    type=click.IntRange(1, MISSES_MAX),
    default=MISSES,
    show_default=True,
    help="Groups to show at most.",
)
@click.option("--clear", is_flag=True, help="Erase all of them instead of showing them.")
@click.option("--yes", is_flag=True, help="With --clear: do not ask.")
@with_session
def misses(session: Session, limit: int, clear: bool, yes: bool) -> None:
    """List questions that nothing answered, grouped by meaning, most asked first.

    Those that a later note may answer stand last, with its id. They are kept in the profile's file
    alone; the setting misses (GRAFT_MISSES=0) switches that off.

    \b
    Example:
        graft misses --limit 10
    """
    if clear:
        _clear(session, yes=yes)
        return
    if yes:
        raise InputError("--yes goes with --clear; leave it out")
    found = session.graft.misses(limit=limit, scope=session.read_scope)
    output = session.output
    if output.as_json:
        for group in found.groups:
            output.record(group)
        return
    output.table(("asked", "last", "question", "answered by"), _rows(found))
    _talk(output, found)


def _rows(found: Misses) -> Iterator[tuple[str, ...]]:
    for group in found.groups:
        answered = short_id(group.answered_by) if group.answered_by else ""
        yield f"{group.count:,}", day_and_time(group.last_at), group.question, answered


def _talk(output: Output, found: Misses) -> None:
    if not found.kept:
        output.say("graft: questions are not kept now (the setting misses is off)")
    elif not found.groups:
        output.say("graft: nothing was asked in vain here; --all-scopes looks everywhere")


def _clear(session: Session, *, yes: bool) -> None:
    output = session.output
    if not yes:
        found = session.graft.misses(limit=MISSES_MAX, scope=session.read_scope)
        if found.groups:
            confirm(output, verb="erase", what=_counted(found))
    cleared = session.graft.clear_misses(scope=session.read_scope)
    if output.as_json:
        output.record(cleared)
        return
    groups = count_of(cleared.groups, "group")
    rest = "; cleaning the file goes on in the background" if cleared.erasing else ""
    output.line(f"erased {count_of(cleared.questions, 'question')} in {groups}{rest}")


def _counted(found: Misses) -> str:
    questions = sum(group.count for group in found.groups)
    return f"{count_of(questions, 'question')} in {count_of(len(found.groups), 'group')}"
