"""`graft profile` and `graft reindex`: separate memories, and the model of each."""

import time

import click
from click.shell_completion import CompletionItem

from graft.wire.models import BGE_M3, STARTER, RegistryError, read_registry
from graft_client.cli.options import GraftCommand, GraftGroup, given
from graft_client.cli.output import ProgressLine, bar
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import size
from graft_client.errors import GraftError, NotReadyError
from graft_client.results import ReindexProgress
from graft_client.settings import configure


@click.group(cls=GraftGroup)
def profile() -> None:
    """Keep separate memories in one home.

    \b
    Example:
        graft profile add work
    """


@profile.command("list")
@with_session
def list_profiles(session: Session) -> None:
    """List the profiles; * marks the one in use.

    \b
    Example:
        graft profile list
    """
    profiles = session.graft.profiles()
    if session.output.as_json:
        for each in profiles:
            session.output.record(each)
        return
    current = session.configuration.profile
    session.output.table(
        ("", "name", "model", "dimensions", "size"),
        (
            (
                "*" if each.name == current else "",
                each.name,
                each.model or "none yet",
                str(each.dimensions or ""),
                size(each.file_bytes),
            )
            for each in profiles
        ),
    )


@profile.command()
@with_session
def current(session: Session) -> None:
    """Print the profile that calls go to.

    \b
    Example:
        graft profile current
    """
    settings = session.configuration.settings
    name, source = session.configuration.profile, settings.source("profile")
    if session.output.as_json:
        session.output.record({"name": name, "source": source})
        return
    session.output.line(name)
    session.output.say(f"graft: chosen by {source}")


@profile.command()
@click.argument("name")
@with_session
def add(session: Session, name: str) -> None:
    """Make the profile NAME.

    \b
    Example:
        graft profile add work
    """
    added = session.graft.add_profile(name)
    if session.output.as_json:
        session.output.record(added)
    else:
        session.output.line(f"added {added.name}; use it with --profile {added.name}")


def complete_models(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the models that this home knows."""
    names = {STARTER, BGE_M3}
    try:
        registered = read_registry(configure(home=given(context).get("home")).home).get(
            "registered"
        )
        names.update(registered if isinstance(registered, dict) else ())
    except (RegistryError, GraftError):
        pass  # the two that are always known are offered all the same
    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]


@click.command(cls=GraftCommand)
@click.option(
    "--model",
    shell_complete=complete_models,
    help="Model to move the profile to; without it, the reindex that runs is followed.",
)
@click.option("--detach", is_flag=True, help="Do not wait for the end.")
@with_session
def reindex(session: Session, model: str | None, detach: bool) -> None:
    """Move the profile to another model.

    Every note is embedded anew; the old vectors answer until the switch. Ctrl-C ends the
    waiting, not the reindex.

    \b
    Example:
        graft reindex --model bge-m3
    """
    if model is not None:
        session.graft.start_reindex(model)
    line = ProgressLine(session.output)
    try:
        last = _follow(session, line, detach=detach)
    finally:
        line.clear()
    if session.output.as_json:
        session.output.record(last)
    elif last.state != "none":
        session.output.line(
            f"moving to {last.target_model}: {last.done:,} of {last.total:,} notes;"
            " it goes on in the background"
        )
    elif last.serving_model:
        session.output.line(f"the profile answers with {last.serving_model}")
    else:
        session.output.line("the profile has no vectors yet")


def _follow(session: Session, line: ProgressLine, *, detach: bool) -> ReindexProgress:
    """Draw progress until the reindex ends; give up where it stands still because of a problem."""
    stuck_since: tuple[int, float] | None = None
    for progress in session.graft.reindex_progress():
        if detach or progress.state == "none":
            return progress
        line.draw(f"graft: moving to {progress.target_model} {bar(progress.done, progress.total)}")
        if not progress.problem:
            stuck_since = None
        elif stuck_since is None or stuck_since[0] != progress.done:
            stuck_since = (progress.done, time.monotonic())
        elif time.monotonic() - stuck_since[1] > session.configuration.timeout_seconds:
            raise NotReadyError(f"the reindex waits: {progress.problem}", reason="MODEL_NOT_READY")
    raise GraftError("the reindex was not followed to its end; graft reindex goes on watching it")
