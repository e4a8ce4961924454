"""`graft service`: has the system keep the memstore running."""

import sys

import click

from graft.wire.paths import Home
from graft_client.cli.options import GraftGroup
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.errors import SettingsError
from graft_client.programs import INSTALL_LINE, MEMSTORE_MODULES, missing
from graft_client.service_units import manager as manage
from graft_client.service_units.unit import Unit


@click.group(cls=GraftGroup)
def service() -> None:
    """Have the system keep the memstore running; commands start it by themselves otherwise.

    \b
    Example:
        graft service install
    """


@service.command()
@click.option("--dry-run", is_flag=True, help="Only print what would be installed.")
@with_session
def install(session: Session, dry_run: bool) -> None:
    """Run the memstore from every login on: systemd's user instance, or launchd on macOS.

    It has this home, starts its embedders itself and never ends for idleness; it is started anew
    when it fails. Installing again writes what has changed and starts it anew.

    \b
    Example:
        graft service install --dry-run
    """
    output = session.output
    lacking = missing(MEMSTORE_MODULES)
    if lacking and not dry_run:
        raise SettingsError(f"{', '.join(lacking)} not installed; run: {INSTALL_LINE}")
    unit = _unit(session)
    manager = manage.manager_of(unit, session.environ, sys.platform)
    if dry_run:
        text = manager.content.decode()
        if output.as_json:
            output.record({"path": str(manager.path), "content": text, "dry_run": True})
        else:
            output.say(f"graft: would be written to {manager.path}:")
            output.text(text)
        return
    written = manage.install(manager, unit)
    if output.as_json:
        output.record({"path": str(manager.path), "written": written})
        return
    what = "installed" if written else "it was installed so already, and is started anew:"
    output.line(f"{what} {printable(str(manager.path))}")
    output.say("graft: taken away by: graft service remove")


@service.command()
@with_session
def remove(session: Session) -> None:
    """End what `install` installed and leave nothing of it.

    \b
    Example:
        graft service remove
    """
    manager = manage.manager_of(_unit(session), session.environ, sys.platform)
    was_there = manage.remove(manager)
    if session.output.as_json:
        session.output.record({"path": str(manager.path), "removed": was_there})
    else:
        session.output.line(
            f"removed {printable(str(manager.path))}" if was_there else "none was installed"
        )


@service.command()
@with_session
def status(session: Session) -> None:
    """Show whether the system keeps this home's memstore running.

    \b
    Example:
        graft service status
    """
    manager = manage.manager_of(_unit(session), session.environ, sys.platform)
    found = manage.status(manager)
    output = session.output
    if output.as_json:
        output.record(found)
        return
    if not found.installed:
        output.line("none is installed; commands start the memstore by themselves")
        return
    output.line(f"{found.active or 'the manager cannot be asked'}: {printable(found.path)}")
    if not found.current:
        output.line("it is of another installation or version; renew it: graft service install")


def _unit(session: Session) -> Unit:
    return Unit(
        home=session.home,
        python=sys.executable,
        environ=session.environ,
        is_default=session.home.root == Home.resolve({}).root,
    )
