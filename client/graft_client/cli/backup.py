"""`graft backup`: copies of profiles as files, checked, and taken back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from graft_client.backup_reports import Backup, BackupStep, RestoredBackup, RestoredProfile
from graft_client.cli.as_reviewer import acting
from graft_client.cli.exits import REFUSED
from graft_client.cli.inputs import complete_file, confirm
from graft_client.cli.options import GraftGroup
from graft_client.cli.output import Output, ProgressLine, bar, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, full_time, size
from graft_client.errors import InputError
from graft_client.results import Check


@click.group(cls=GraftGroup)
def backup() -> None:
    """Copy profiles to a file while they are used, check it, and take it back.

    \b
    Example:
        graft backup create notes.graft-backup
    """


@backup.command()
@click.argument("file", type=click.Path(path_type=Path), shell_complete=complete_file)
@click.option("--all-profiles", is_flag=True, help="All profiles instead of one.")
@click.option("--force", is_flag=True, help="Take the place of a file that is there.")
@with_session
def create(session: Session, file: Path, all_profiles: bool, force: bool) -> None:
    """Write a backup of the profile to FILE.

    Each profile is copied as of one instant while changes go on, and the copy is checked before
    any of it is written. FILE is there whole or not at all, mode 0600. It holds the notes and the
    keys that seal their logs: keep it as you keep the home.

    \b
    Example:
        graft backup create notes.graft-backup
    """
    if all_profiles and session.chosen_profile:
        raise InputError("--profile and --all-profiles cannot both be meant; leave one out")
    output = session.output
    last = BackupStep()
    steps = session.graft.backups.create(file, all_profiles=all_profiles, overwrite=force)
    with _progress(output) as line:
        for last in steps:
            what = f"copying {last.profile}" if last.profile else "writing"
            line.draw(f"graft: {what} {bar(last.done_bytes, last.total_bytes)}")
    assert last.backup is not None, "the last step has it"
    if output.as_json:
        output.record(last.backup)
    else:
        output.line(f"wrote {printable(str(file))}, {size(last.backup.bytes)}")
        _write_profiles(output, last.backup)
    for each in last.backup.profiles:
        if each.problem:
            output.say(f"graft: profile {each.name} does not fit its log: {each.problem}")


@backup.command()
@click.argument("file", type=click.Path(path_type=Path), shell_complete=complete_file)
@with_session
def verify(session: Session, file: Path) -> None:
    """Check the backup FILE as a restore would; changes nothing.

    Each byte against the digest that was taken when it was written, then what SQLite finds, and
    every profile against its log. Ends with 1 when something is wrong.

    \b
    Example:
        graft backup verify notes.graft-backup
    """
    output = session.output
    with _progress(output) as line:
        verified = session.graft.backups.verify(file, sent=_sent(line))
    if output.as_json:
        output.record(verified)
    else:
        _write_checks(output, verified.checks)
        _write_profiles(output, verified.backup)
    if verified.wrong:
        output.say(f"graft: {count_of(len(verified.wrong), 'thing is', 'things are')} wrong")
        session.context.exit(REFUSED)


@backup.command()
@click.argument("file", type=click.Path(path_type=Path), shell_complete=complete_file)
@click.option("--replace", is_flag=True, help="Put aside what is there, and take its place.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
@click.option("--yes", is_flag=True, help="With --replace: do not ask.")
@with_session
def restore(session: Session, file: Path, replace: bool, dry_run: bool, yes: bool) -> None:
    """Take the profiles of the backup FILE back: all, or where anything is wrong none.

    A profile goes to its own name where nothing is there yet, else to a new one; --profile names
    another, and of several profiles the one to take. --replace puts what is there aside, as a
    backup in the home, and says where; it takes the reviewer where there is one. What was erased
    or rejected since the backup was made stays so. A backup of an older version is brought up to
    date, one of a newer version is refused.

    \b
    Example:
        graft backup restore notes.graft-backup --profile again
    """
    if yes and not replace:
        raise InputError("--yes goes with --replace; nothing else asks")
    output = session.output
    if replace and not (yes or dry_run):
        what = f"what is there by the profiles in {printable(str(file))}"
        confirm(output, verb="replace", what=what, why="It is put aside in the home")
    as_reviewer = replace and session.graft.reviewer().exists
    with acting(session, as_reviewer=as_reviewer) as graft, _progress(output) as line:
        restored = graft.backups.restore(
            file,
            profile=session.chosen_profile,
            replace=replace,
            dry_run=dry_run,
            sent=_sent(line),
        )
    if output.as_json:
        output.record(restored)
    else:
        _write_restored(output, restored, dry_run=dry_run)


@contextmanager
def _progress(output: Output) -> Iterator[ProgressLine]:
    line = ProgressLine(output)
    try:
        yield line
    finally:
        line.clear()


def _sent(line: ProgressLine) -> Callable[[int, int], None]:
    """Return what draws how much of a file was sent; after all of it, it is checked."""

    def draw(done: int, total: int) -> None:
        line.draw(f"graft: {'reading' if done < total else 'checking'} {bar(done, total)}")

    return draw


def _write_profiles(output: Output, found: Backup) -> None:
    output.line(f"made {full_time(found.made_at)} by version {printable(found.build)}")
    output.table(
        ("profile", "notes", "events", "rejections", "vectors", "model", "size"),
        (
            (
                each.name,
                f"{each.notes:,}",
                f"{each.events:,}",
                f"{each.rejections:,}",
                f"{each.vectors:,}",
                each.model or "none yet",
                size(each.bytes),
            )
            for each in found.profiles
        ),
    )


def _write_checks(output: Output, checks: tuple[Check, ...]) -> None:
    for check in checks:
        mark, color = ("ok", "green") if check.ok else ("wrong", "red")
        name = f"{check.name} of {check.profile}" if check.profile else check.name
        output.line(f"{mark:<6} {name}: {printable(check.detail)}", fg=color)


def _write_restored(output: Output, restored: RestoredBackup, *, dry_run: bool) -> None:
    _write_checks(output, restored.wrong)
    for each in restored.profiles:
        _write_one(output, each, dry_run=dry_run)


def _write_one(output: Output, each: RestoredProfile, *, dry_run: bool) -> None:
    said = "would restore" if dry_run else "restored"
    output.line(f"{said} {each.source} to profile {each.name}, {count_of(each.notes, 'note')}")
    if each.erased or each.rejected:
        output.line(
            f"  of what the backup holds, erased since: {each.erased:,}, rejected since:"
            f" {each.rejected:,}; it stays so"
        )
    if each.put_aside:
        output.line(f"  what was there is in {printable(each.put_aside)}")
    if each.problem:
        output.line(f"  {printable(each.problem)}", fg="red")
    if not dry_run:
        output.say(f"graft: event {each.event}; look at it with: graft list --profile {each.name}")
