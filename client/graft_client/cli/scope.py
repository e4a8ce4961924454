"""`graft scope`: which scopes there are, which this directory has, and moving what one holds."""

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.inputs import confirm
from graft_client.cli.options import GraftCommand, GraftGroup
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.scope import ALL_SCOPES, read_scopes, write_scope

if TYPE_CHECKING:
    from graft_client.client import Graft
    from graft_client.filing_reports import ScopeMoved


class How(TypedDict):
    """How a scope is to be moved."""

    reason: str
    dry_run: bool
    yes: bool


@click.group(cls=GraftGroup)
def scope() -> None:
    """Show scopes, and move what one holds.

    \b
    Example:
        graft scope current
    """


@scope.command("list", cls=GraftCommand)
@with_session
def list_scopes(session: Session) -> None:
    """List the scopes that hold notes, with how many searches show and do not show.

    All of them, unless --scope names one.

    \b
    Example:
        graft scope list
    """
    found = session.graft.filing.scopes(scope=session.read_scope or ALL_SCOPES)
    if session.output.as_json:
        for each in found:
            session.output.record(each)
        return
    session.output.table(
        ("scope", "notes", "hidden"),
        ((each.scope, f"{each.notes:,}", f"{each.hidden_notes:,}") for each in found),
    )


@scope.command("current", cls=GraftCommand)
@with_session
def current(session: Session) -> None:
    """Show where notes are saved from here, and where questions look.

    Nothing is started.

    \b
    Example:
        graft scope current
    """
    configuration = session.configuration
    project, chosen = configuration.project(), configuration.settings.text("scope")
    saved = write_scope(project, chosen)
    looked_at = read_scopes(project, session.read_scope or chosen)
    if session.output.as_json:
        session.output.record(
            {
                "write": saved,
                "read": list(looked_at.scopes),
                "all_scopes": looked_at.all,
                "project": None if project is None else project.scope,
                "path": None if project is None else project.path_scope,
            }
        )
        return
    session.output.line(f"saves to: {printable(saved)}")
    where = "every scope" if looked_at.all else ", ".join(looked_at.scopes)
    session.output.line(f"looks at: {printable(where)}")


@scope.command("move", cls=GraftCommand)
@click.argument("old")
@click.argument("new")
@click.option(
    "--reason", default="the scope was moved", show_default=True, help="Why; kept in the log."
)
@click.option("--dry-run", is_flag=True, help="Count what would move and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_reviewer_option
@with_session
def move(session: Session, old: str, new: str, *, as_reviewer: bool, **how: Unpack[How]) -> None:
    """Move every note of the scope OLD to the scope NEW; what OLD rejected, NEW rejects too.

    A note whose text was rejected or taken out of use in NEW stays; one that a reviewer verified
    moves with --as-reviewer alone. Moving NEW to OLD brings back what was in NEW before as well.

    \b
    Example:
        graft scope move project:/home/me/app project:github.com/me/app --dry-run
    """
    output = session.output
    with acting(session, as_reviewer=as_reviewer) as graft:
        moved = _move(graft, output, old, new, how)
    if output.as_json:
        output.record(moved)
        return
    verb = "would move" if how["dry_run"] else "moved"
    output.line(
        f"{verb} {count_of(moved.moved, 'note')} to {printable(new)}, where "
        f"{count_of(moved.rejections, 'more rejection')} count"
    )
    if moved.left:
        output.line(f"  {count_of(moved.left, 'note')} stay: there their text is out of use")
    if moved.reviewed:
        output.line(
            f"  {count_of(moved.reviewed, 'note')} stay: a reviewer verified them; move them with "
            "--as-reviewer"
        )
    if moved.duplicates:
        output.line(f"  {count_of(moved.duplicates, 'note')} say what an active note there says")


def _move(graft: "Graft", output: Output, old: str, new: str, how: How) -> "ScopeMoved":
    """Move what a scope holds, or count it; ask before unless that is not wanted."""
    filing, reason, dry_run = graft.filing, how["reason"], how["dry_run"]
    if not dry_run and not how["yes"]:
        count = filing.move_scope(old, new, reason=reason, dry_run=True).moved
        confirm(output, verb="move", what=f"{count_of(count, 'note')} from {old} to {new}")
    return filing.move_scope(old, new, reason=reason, dry_run=dry_run)
