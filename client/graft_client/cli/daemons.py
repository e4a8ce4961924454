"""`graft start`, `stop` and `status`: the services as processes."""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from graft_client.authority import ReviewerStatus
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import describe, model_shown
from graft_client.cli.words import count_of, day_and_time, duration
from graft_client.errors import GraftError, SettingsError
from graft_client.results import EmbedderStatus, Status


class ListenOptions(TypedDict):
    """Where to listen besides the socket; None where an option was not given."""

    listen: str | None
    listen_cert: str | None
    listen_key: str | None
    listen_client_ca: str | None


@click.command(cls=GraftCommand)
@click.option("--load", is_flag=True, help="Load the model as well, and wait until it answers.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Listen there too, for callers with a token; until it ends.  [env: GRAFT_LISTEN]",
)
@click.option(
    "--listen-cert",
    metavar="FILE",
    help="Certificate (PEM) for TLS; any but the loopback address needs one.",
)
@click.option("--listen-key", metavar="FILE", help="Private key (PEM) of --listen-cert.")
@click.option(
    "--listen-client-ca",
    metavar="FILE",
    help="Certificates (PEM) that callers' certificates must come from.",
)
@with_session
def start(session: Session, *, load: bool, **listening: Unpack[ListenOptions]) -> None:
    """Start the services; commands do so themselves.

    With --listen callers from other machines get in, each with a token (graft token create), and
    the memstore does not end by itself any more. The setting listen does the same at every start.

    \b
    Example:
        graft start
        graft start --listen 127.0.0.1:7433
    """
    if session.configuration.target is not None:
        raise SettingsError(
            "target (GRAFT_TARGET) names a memstore that is run elsewhere, so none is started"
            " here; unset it to start this home's own"
        )
    wanted = _listening_settings(listening)
    if wanted:
        session.configuration = session.configured_to_start(**wanted)
        _make_way(session)
    with model_shown(session):
        found = session.graft.start()
        if load:
            session.graft.load_model()
            found = session.graft.status()
    _write_status(session.output, found)


def _listening_settings(given: ListenOptions) -> dict[str, str]:
    """Return the settings that options gave; a file's path is one whatever the directory is."""
    found = {name: str(value) for name, value in given.items() if value}
    return {
        name: value if name == "listen" else str(Path(value).expanduser().absolute())
        for name, value in found.items()
    }


def _make_way(session: Session) -> None:
    """End a memstore that runs and listens elsewhere, or nowhere; one that is busy goes on.

    Raises:
        GraftError: it is busy, or listens elsewhere.
    """
    memstore = session.graft.status().memstore
    if memstore is None:
        return
    listens = memstore.listen.partition("://")[2]
    if listens == session.configuration.settings.text("listen"):
        session.output.say("graft: it listens there already; graft stop makes it read new files")
        return
    if memstore.listen:
        raise GraftError(
            f"the memstore (process {memstore.pid}) listens at {memstore.listen} already; end it"
            " first, with: graft stop"
        )
    session.graft.stop(only_if_idle=True)


@click.command(cls=GraftCommand)
@click.option("--force", is_flag=True, help="Kill what does not end by itself.")
@with_session
def stop(session: Session, force: bool) -> None:
    """End the services; calls that run finish first.

    \b
    Example:
        graft stop
    """
    session.do_without_wrong_settings()
    pid = session.graft.stop(force=force)
    if session.output.as_json:
        session.output.record({"stopped": pid})
    else:
        session.output.line("nothing was running" if pid is None else f"stopped process {pid}")


@click.command(cls=GraftCommand)
@with_session
def status(session: Session) -> None:
    """Show how the services are; starts nothing.

    \b
    Example:
        graft status --json
    """
    session.do_without_wrong_settings()
    _write_status(session.output, session.graft.status())


def _write_status(output: Output, found: Status) -> None:
    if output.as_json:
        output.record(found)
        return
    memstore = found.memstore
    if memstore is None:
        output.line("memstore  not running; the next command starts it")
    else:
        work = f", {memstore.pending:,} to embed or to join" if memstore.pending else ""
        work += f", cleaning up {count_of(memstore.erasing, 'note')}" if memstore.erasing else ""
        output.line(f"memstore  process {memstore.pid}, up {duration(memstore.uptime_s)}{work}")
        output.line(f"          {memstore.socket}, version {memstore.version}", dim=True)
        if memstore.listen:
            output.line(f"          listens at {memstore.listen} for callers with a token")
        _write_reviewer(output, memstore.reviewer)
    for embedder in found.embedders:
        _write_embedder(output, embedder)
    if not found.embedders:
        output.line("embedder  not running; it is started when something is to be embedded")


def _write_reviewer(output: Output, reviewer: ReviewerStatus) -> None:
    if reviewer.since is None:
        output.line("reviewer  none; set one up with: graft reviewer init", dim=True)
        return
    output.line(f"reviewer  set up {day_and_time(reviewer.since)}, event {reviewer.event}")
    if reviewer.failures:
        wrong = count_of(reviewer.failures, "wrong passphrase")
        output.line(f"          {wrong} since the last right one", fg="red")
    if reviewer.problem:
        output.line(f"          {reviewer.problem}", fg="red")


def _write_embedder(output: Output, embedder: EmbedderStatus) -> None:
    state = describe(embedder) or embedder.state
    running = f"process {embedder.pid}, up {duration(embedder.uptime_s)}, " if embedder.pid else ""
    backend = f" on {embedder.backend}" if embedder.backend else ""
    output.line(f"embedder  {running}{embedder.model}{backend}: {state}")
    if embedder.problem:
        output.line(f"          {embedder.problem}", fg="red")
    if embedder.socket:
        output.line(f"          {embedder.socket}", dim=True)
