"""How `graft doctor --repair` mends, and says so."""

from collections.abc import Iterator

import graft_client
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session
from graft_client.doctor.places import profile_names
from graft_client.doctor.repairs import repair_places
from graft_client.errors import GraftError
from graft_client.programs import MEMSTORE, embedder_services
from graft_client.repairs import Repair

REPAIR_SECONDS = 600.0
"""What mending one profile may take, or longer where calls may."""


def repair(session: Session, *, start: bool, dry_run: bool) -> None:
    """Mend what can be mended without loss, and say of each what was found."""
    for each in _repairs(session, start=start, dry_run=dry_run):
        _write(session.output, each, dry_run=dry_run)


def _repairs(session: Session, *, start: bool, dry_run: bool) -> Iterator[Repair]:
    home = session.home
    services = [MEMSTORE, *embedder_services(home)]
    yield from repair_places(home, services, dry_run=dry_run)
    # What is wrong with the settings the checks tell; it is in nobody's way here.
    configuration, _ = session.configured_with_what_is_good(autostart="1" if start else "0")
    with graft_client.Graft(configuration=configuration) as graft:
        try:
            if not start and graft.status().memstore is None:
                detail = "not looked into: the memstore does not run; add --start"
                yield Repair(name="profiles", found=0, repaired=False, detail=detail)
                return
            if start:
                graft.start()
        except GraftError as error:
            yield Repair(name=MEMSTORE, found=1, repaired=False, detail=error.message)
            return
        calls = graft.within(max(REPAIR_SECONDS, configuration.timeout_seconds)).maintenance
        for name in [session.chosen_profile] if session.chosen_profile else profile_names(home):
            try:
                yield from calls.repair(profile=name, dry_run=dry_run)
            except GraftError as error:
                yield Repair(
                    name="profile", found=1, repaired=False, detail=error.message, profile=name
                )


def _write(output: Output, each: Repair, *, dry_run: bool) -> None:
    if output.as_json:
        output.record({"repair": each.name, **_rest(each)})
        return
    name = f"{each.name} of {each.profile}" if each.profile else each.name
    if not each.found:
        output.say(f"graft: {name}: nothing to repair")
        return
    mark, color = ("mended", "green") if each.repaired else ("left", "red")
    if dry_run:
        mark, color = "found", "yellow"
    output.line(f"{mark:<6} {name}: {each.found:,}; {printable(each.detail)}", fg=color)


def _rest(each: Repair) -> dict[str, object]:
    return {
        "profile": each.profile,
        "found": each.found,
        "repaired": each.repaired,
        "detail": each.detail,
    }
