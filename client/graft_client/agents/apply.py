"""Does what was planned for an agent: all of its files, or none."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from graft_client.agents.disk import (
    FileProblemError,
    check_unchanged,
    delete,
    read,
    remove_empty,
    write,
)
from graft_client.agents.ledger import Ledger, Written, digest
from graft_client.agents.plan import Change, Plan
from graft_client.whole_files import PRIVATE

OPEN = 0o644


def apply_adding(plan: Plan, ledger: Ledger, *, private: bool) -> None:
    """Write the files of *plan*; new ones are this user's alone where they are *private*.

    Raises:
        FileProblemError: one cannot be written; what was written for the agent is put back.
    """
    done: list[Change] = []
    before = dict(ledger.files)
    try:
        for change in plan.work:
            _add(change, plan.agent, ledger, mode=PRIVATE if private else OPEN)
            done.append(change)
    except FileProblemError:
        _put_back(done)
        ledger.files = before
        ledger.save()
        raise
    for change in plan.changes:
        _note_user(change, plan.agent, ledger)


def apply_removing(plan: Plan, ledger: Ledger) -> list[str]:
    """Take out what *plan* says; return the backups that are kept since a file differs from them.

    Raises:
        FileProblemError: one cannot be written; what was changed for the agent is put back.
    """
    done: list[Change] = []
    try:
        for change in plan.work:
            _remove(change)
            done.append(change)
    except FileProblemError:
        _put_back(done)
        raise
    known = [ledger.files.get(str(change.found.real)) for change in plan.changes]
    kept = [name for change in plan.changes for name in _forget(change, plan.agent, ledger)]
    remove_empty([Path(folder) for each in known if each is not None for folder in each.folders])
    return kept


def _add(change: Change, agent: str, ledger: Ledger, *, mode: int) -> None:
    assert change.after is not None, "setup deletes nothing"
    real = change.found.real
    before = change.found.content
    check_unchanged(change.found)
    known = ledger.files.get(str(real))
    if known is None:
        known = Written(
            digest="",
            made=change.made,
            backup=ledger.back_up(real, before) if before is not None else "",
        )
    elif before is None or digest(before) != known.digest:
        # Others wrote since: what was there first must not come back over that.
        known = replace(known, exact=False)
    folders = write(change.found, change.after, mode=mode)
    ledger.files[str(real)] = replace(
        known,
        digest=digest(change.after),
        agents=known.agents | {agent},
        made=known.made | change.made,
        folders=(*known.folders, *(str(each) for each in folders)),
    )
    ledger.save()


def _note_user(change: Change, agent: str, ledger: Ledger) -> None:
    """Record that an agent uses a file that was there already, as setup writes it."""
    known = ledger.files.get(str(change.found.real))
    if known is not None and agent not in known.agents and not change.remark:
        ledger.files[str(change.found.real)] = replace(known, agents=known.agents | {agent})
        ledger.save()


def _remove(change: Change) -> None:
    if change.after is None:
        delete(change.found)
    else:
        write(change.found, change.after, mode=PRIVATE)


def _forget(change: Change, agent: str, ledger: Ledger) -> list[str]:
    """Take the agent off a file's record, and the record away with the last of them."""
    key = str(change.found.real)
    known = ledger.files.get(key)
    if known is None:
        return []
    if known.agents - {agent}:
        ledger.files[key] = replace(known, agents=known.agents - {agent})
        ledger.save()
        return []
    if change.remark:
        return []
    del ledger.files[key]
    ledger.save()
    if not known.backup:
        return []
    backup = ledger.backup(known.backup)
    with suppress(OSError):
        if backup.read_bytes() == change.after:
            backup.unlink()
            return []
    return [str(backup)]


def _put_back(done: list[Change]) -> None:
    """Undo what was done for an agent whose other files failed."""
    for change in reversed(done):
        with suppress(FileProblemError):
            now = read(change.found.real)
            if now.content != change.after:
                continue
            if change.found.content is None:
                delete(now)
            else:
                write(now, change.found.content, mode=change.found.mode or PRIVATE)
