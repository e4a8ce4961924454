"""`graft doctor`: looks at everything that can be wrong and says what to do."""

from collections.abc import Callable, Iterator
from functools import partial

import click

import graft_client
from graft.wire.build import build_id
from graft_client.cli import doctor_repair
from graft_client.cli import gate as gate_command
from graft_client.cli.exits import REFUSED
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.doctor.places import check_places, profile_names
from graft_client.doctor.processes import check_locks, check_status
from graft_client.doctor.programs import check_models, check_programs
from graft_client.errors import GraftError, InputError, StorageError
from graft_client.programs import MEMSTORE, embedder_services
from graft_client.results import Check


@click.command(cls=GraftCommand)
@click.option("--start", is_flag=True, help="Start the memstore, to look into the profiles.")
@click.option("--repair", is_flag=True, help="Repair first what can be without loss.")
@click.option("--dry-run", is_flag=True, help="With --repair: only tell what would be done.")
@click.option("--gate", is_flag=True, help="Measure the gate on the profile's notes instead.")
@click.option("--apply", is_flag=True, help="With --gate: use the proposed threshold if better.")
@click.option("--reset", is_flag=True, help="With --gate: undo --apply, and measure nothing.")
@with_session
def doctor(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    start: bool,
    repair: bool,
    dry_run: bool,
    gate: bool,
    apply: bool,
    reset: bool,
) -> None:
    """Check all that can be wrong, and with --repair mend what can be.

    Looks at the home, the services, the models and the profiles, and says what to do. Ends with
    1 when something is wrong. With --profile only that profile is looked into.

    --repair starts the memstore, which finishes or removes what an earlier process left, and
    mends modes of files, records and sockets of services that have ended, halves of files, and in
    each profile what is made of its notes: SQLite's indexes, the words and the signs of vectors
    that are searched, what waits for a vector. It says of each what was found and whether it could
    be mended, then checks. Notes, the log and rejections are never touched.

    With --gate it asks questions made of the profile's own notes, each with its note there and
    with that note hidden, and says how often a STRONG is false and how often one is missed, how
    far probabilities hold, and whether another threshold would make fewer mistakes of one kind
    and no more of the other. Questions are made of a title, of the longest passage, or of the
    halves of two titles (mixed), which nothing answers. It takes 20 notes. --apply is refused,
    with 1, where questions that the threshold was not chosen by speak against it.

    \b
    Example:
        graft doctor --start
    """
    _check_options(repair=repair, dry_run=dry_run, gate=gate, gates_own=apply or reset)
    if gate:
        _gate(session, apply=apply, reset=reset)
        return
    start = start or (repair and not dry_run)
    if repair:
        doctor_repair.repair(session, start=start, dry_run=dry_run)
    _look(session, start=start)


def _check_options(*, repair: bool, dry_run: bool, gate: bool, gates_own: bool) -> None:
    """See that the options go together.

    Raises:
        InputError: they do not.
    """
    if dry_run and not repair:
        raise InputError("--dry-run goes with --repair")
    if repair and gate:
        raise InputError("--repair and --gate cannot both be meant; leave one out")
    if gates_own and not gate:
        raise InputError("--apply and --reset go with --gate")


def _look(session: Session, *, start: bool) -> None:
    """Check everything and say what is wrong; where something is, end with 1."""
    output, wrong = session.output, 0
    for check in _checks(session, start=start):
        wrong += not check.ok
        if output.as_json:
            output.record(check)
        else:
            mark, color = ("ok", "green") if check.ok else ("wrong", "red")
            output.line(f"{mark:<6} {_name(check)}: {printable(check.detail)}", fg=color)
    output.say(
        f"graft: {count_of(wrong, 'thing is', 'things are')} wrong"
        if wrong
        else "graft: all is well"
    )
    if wrong:
        session.context.exit(REFUSED)


def _gate(session: Session, *, apply: bool, reset: bool) -> None:
    if apply and reset:
        raise InputError("--apply or --reset, not both")
    if reset:
        gate_command.reset(session)
    else:
        gate_command.measure(session, apply=apply)


def _checks(session: Session, *, start: bool) -> Iterator[Check]:
    home = session.home
    configuration, problems = session.configured_with_what_is_good(autostart="1" if start else "0")
    for problem in problems:
        yield Check(name="settings", ok=False, detail=problem)
    if not problems:
        yield Check(
            name="settings", ok=True, detail=f"{home.config_file} and the environment are good"
        )
    yield from check_places(home, session.environ)
    yield from check_programs()
    if not problems:  # the embedder's program reads them too
        yield from check_models(configuration)
    with graft_client.Graft(configuration=configuration) as graft:
        if start:
            yield from _told("start", lambda: _start(graft))
        yield from check_locks(home, [MEMSTORE, *embedder_services(home)])
        try:
            status = graft.status()
        except GraftError as error:
            yield Check(name=MEMSTORE, ok=False, detail=error.message)
            return
        yield from check_status(status, build_id())
        if status.memstore is not None:
            for name in [session.chosen_profile] if session.chosen_profile else profile_names(home):
                yield from _told("profile", partial(_profile, graft, name), profile=name)


def _name(check: Check) -> str:
    return f"{check.name} of {check.profile}" if check.profile else check.name


def _start(graft: "graft_client.Graft") -> list[Check]:
    graft.start()
    return []


def _profile(graft: "graft_client.Graft", name: str) -> list[Check]:
    return list(graft.check_profile(name))


def _told(name: str, look: Callable[[], list[Check]], *, profile: str = "") -> list[Check]:
    """Give what *look* finds; that it cannot look is something wrong as well."""
    try:
        return look()
    except StorageError as error:
        advice = "see the disk's health, or put a backup in the file's place"
        detail = error.message.replace("run `graft doctor`", advice)
        return [Check(name=name, ok=False, detail=detail, profile=profile)]
    except GraftError as error:
        return [Check(name=name, ok=False, detail=error.message, profile=profile)]
