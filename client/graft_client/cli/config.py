"""`graft config`: every setting, where its value comes from, and what the running service has."""

import click

from graft.wire.setting_list import SETTINGS
from graft_client.cli.options import GraftGroup
from graft_client.cli.session import Session, with_session
from graft_client.errors import GraftError


@click.group(cls=GraftGroup)
def config() -> None:
    """Show the settings and their sources.

    Flags beat the environment, that the settings file, that the defaults.

    \b
    Example:
        graft config show
    """


@config.command()
@with_session
def show(session: Session) -> None:
    """Show every setting, its value, its source, and the running service's value if it differs.

    \b
    Example:
        graft config show --json
    """
    settings = session.configuration.settings
    running = _running(session)
    rows = []
    for setting in SETTINGS:
        value = settings.text(setting.name)
        theirs = running.get(setting.name)
        differs = theirs if theirs is not None and theirs != value else None
        rows.append((setting, value, settings.source(setting.name), differs))
    if session.output.as_json:
        for setting, value, source, differs in rows:
            session.output.record(
                {
                    "name": setting.name,
                    "value": value,
                    "source": source,
                    "variable": setting.variable,
                    "running": differs,
                }
            )
        return
    session.output.table(
        ("name", "value", "from", "variable", "the running memstore has"),
        (
            (setting.name, value, source, setting.variable, differs or "")
            for setting, value, source, differs in rows
        ),
    )
    session.output.say(f"graft: home {session.configuration.home.root}")
    if any(differs is not None for *_, differs in rows):
        session.output.say("graft: the memstore takes new values when it is started: graft stop")


@config.command()
@with_session
def check(session: Session) -> None:
    """Check the settings file and the environment.

    \b
    Example:
        graft config check
    """
    path = session.configuration.home.config_file  # reading the settings is the check
    found = path.is_file()
    if session.output.as_json:
        session.output.record({"ok": True, "path": str(path), "exists": found})
    else:
        session.output.line(f"{path} {'is good' if found else 'is not there: defaults hold'}")


@config.command("path")
@with_session
def show_path(session: Session) -> None:
    """Print where the settings file is, whether or not it is there.

    \b
    Example:
        graft config path
    """
    path = str(session.home.config_file)
    if session.output.as_json:
        session.output.record({"path": path})
    else:
        session.output.line(path)


def _running(session: Session) -> dict[str, str]:
    """Ask a running memstore for its settings; without one there is nothing to compare."""
    try:
        memstore = session.graft.status().memstore
    except GraftError as error:
        session.output.say(f"graft: the running memstore does not tell its settings: {error}")
        return {}
    return memstore.settings if memstore is not None else {}
