"""Takes profiles back from a backup: all of them, or none where anything is wrong."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from graft.wire.errors import (
    BadFieldError,
    DatabaseDamagedError,
    ProfileExistsError,
    ProfileNotFoundError,
)
from graft.wire.events import event
from graft.wire.paths import PROFILE_NAME, PROFILE_NAME_RULE
from graft_memstore.model import Caller, EventSeq
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store import meta
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.copies import count_notes
from graft_memstore.store.database import Connection, database_errors, open_connection
from graft_memstore.store.drafts import KEY_FILE, Drafts, Swap, write_private
from graft_memstore.store.events import read_hash, read_notes_gone
from graft_memstore.store.note_rows import read_note_rows
from graft_memstore.store.page_copy import settle
from graft_memstore.store.profile import DATABASE_FILE, SITE_BYTES
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.reviewer_file import ACTION_SET, StoredReviewer
from graft_memstore.store.tombstones import read_binding_after
from graft_memstore.store.transaction import Transaction
from graft_memstore.upkeep.examine_backup import Draft, Examined
from graft_memstore.upkeep.set_aside import SetAside
from graft_memstore.write.acts import record_act
from graft_memstore.write.carry_over import Carried, Removed, carry_over, read_removed

ACTION_RESTORE = "restore-backup"
NAME_CHARS_MAX = 64
SUFFIX = "-restored"
NUMBER_CHARS = 5
DAMAGED = (
    "what was there is damaged, so that not all that it had erased or rejected since can be told"
)

log = logging.getLogger(__name__)


class Recorded(Protocol):
    """Tells the reviewer of the home; see `graft_memstore.review.reviewer.Reviewer`."""

    def recorded_in(self, profile_name: str) -> StoredReviewer | None:
        """Return the reviewer where the log of that profile tells of it, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreWish:
    """Where profiles are to go, and who wants it; see RestoreOptions."""

    profile: str
    replace: bool
    dry_run: bool
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A profile that was taken back; see RestoredProfile."""

    source: str
    name: str
    notes: int
    event: int
    carried: Carried
    put_aside: str
    schema_before: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Where one profile goes.

    Attributes:
        is_there: a profile of that name, empty or not.
        replaces: and it holds something, so that it is put aside.
        problem: why it cannot be read; empty where it can.
        reviewer: whose record its log holds.
    """

    draft: Draft
    name: str
    is_there: bool = False
    replaces: bool = False
    problem: str = ""
    reviewer: StoredReviewer | None = None


@dataclass(slots=True, kw_only=True)
class _Done:
    """What has been prepared so far."""

    swaps: list[Swap] = field(default_factory=list)
    restored: list[Restored] = field(default_factory=list)
    reviewer: StoredReviewer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreParts:
    """What a restore works with.

    Attributes:
        random: random bytes, such as `os.urandom`.
    """

    profiles: Profiles[VectorIndex]
    drafts: Drafts
    set_aside: SetAside
    reviewer: Recorded
    random: Callable[[int], bytes]


def restore(
    parts: RestoreParts, examined: Examined, folder: Path, wish: RestoreWish, wait_seconds: float
) -> list[Restored]:
    """Bring the profiles of a backup that was examined in *folder* to their places.

    Raises:
        BadFieldError: no profile can have the name.
        ProfileNotFoundError: the backup holds none of that name.
        ProfileExistsError: there is something in it, and it is not to be replaced.
        BusyError: others work with what is to be replaced.
        ServiceError: see `SetAside.keep` and `Profile.write`.
    """
    targets = [_target(parts, draft, wish) for draft in _wanted(examined.drafts, wish.profile)]
    done = _Done()
    with ExitStack() as alone:
        if not wish.dry_run:
            for target in targets:
                alone.enter_context(parts.profiles.alone_with(target.name, wait_seconds))
        for target in targets:
            _prepare(parts, target, examined.manifest.made_at_ms, wish, done)
        if not wish.dry_run:
            parts.drafts.swap(folder, done.swaps, done.reviewer)
    for each in done.restored:
        log.info(event("restored", profile=each.name, source=each.source, dry_run=wish.dry_run))
    return done.restored


def _wanted(drafts: Sequence[Draft], name: str) -> Sequence[Draft]:
    if not name or len(drafts) == 1:
        return drafts
    found = [each for each in drafts if each.entry.name == name]
    if not found:
        names = ", ".join(each.entry.name for each in drafts)
        raise ProfileNotFoundError(f"the backup holds no profile named {name[:80]!r}, but {names}")
    return found


def _target(parts: RestoreParts, draft: Draft, wish: RestoreWish) -> _Target:
    """Find out what is where a profile is to go, which is opened for that."""
    name = wish.profile or draft.entry.name
    if not PROFILE_NAME.fullmatch(name):
        raise BadFieldError("options.profile", f"{name[:80]!r} is not {PROFILE_NAME_RULE}")
    target = _Target(draft=draft, name=name)
    if not parts.profiles.path(name).is_file():
        return target
    try:
        with parts.profiles.use(name) as profile, profile.snapshot() as connection:
            empty = _is_empty(connection)
        problem = ""
    except DatabaseDamagedError as error:
        log.warning(event("cannot look into", profile=name, because=error.message))
        empty, problem = False, DAMAGED
    if empty or wish.replace:
        reviewer = None if problem else parts.reviewer.recorded_in(name)
        return replace(
            target, is_there=True, replaces=not empty, problem=problem, reviewer=reviewer
        )
    if wish.profile:
        raise ProfileExistsError(
            f"profile {name} holds something; restore to another name, or put it aside and take "
            "its place with --replace"
        )
    return replace(target, name=_free_name(parts.profiles, name))


def _is_empty(connection: Connection) -> bool:
    """Tell whether nothing was ever stored or rejected in a profile."""
    return not (
        read_note_rows(connection, 0, 1)
        or read_notes_gone(connection, 0, 1)
        or read_binding_after(connection, 0, 1)
    )


def _free_name(profiles: Profiles[VectorIndex], name: str) -> str:
    taken = {each.lower() for each in profiles.names()}
    stem = f"{name[: NAME_CHARS_MAX - len(SUFFIX) - NUMBER_CHARS]}{SUFFIX}"
    free, number = stem, 2
    while free.lower() in taken:
        free, number = f"{stem}-{number}", number + 1
    return free


def _prepare(
    parts: RestoreParts, target: _Target, made_at_ms: int, wish: RestoreWish, done: _Done
) -> None:
    """Make a profile in its draft what it is to be, and put aside what it takes the place of."""
    draft, profile = target.draft, target.draft.profile
    reviewer = target.reviewer
    removed, problem = _removed(parts.profiles, target, made_at_ms)

    def change(transaction: Transaction) -> tuple[EventSeq, Carried, EventSeq | None]:
        told = f"the backup of profile {draft.entry.name}, {draft.entry.events:,} events"
        event = record_act(transaction, wish.caller, ACTION_RESTORE, told)
        carried = carry_over(transaction, removed, wish.caller)
        # It goes its own way from here: what other copies know of the old one is not its own.
        meta.write(transaction.connection, meta.SITE, parts.random(SITE_BYTES).hex())
        recorded = None if reviewer is None else _record(transaction, reviewer, wish.caller)
        return event, carried, recorded

    event, carried, recorded = profile.write(change)
    profile.clean()
    with profile.snapshot() as connection:
        notes = count_notes(connection)
    key = profile.chain.key
    profile.close()
    settle(draft.folder / DATABASE_FILE)
    write_private(draft.folder / KEY_FILE, key)
    if reviewer is not None and recorded is not None:
        done.reviewer = replace(reviewer, event=recorded)
    aside = target.replaces and not wish.dry_run
    done.swaps.append(Swap(name=target.name, folder=draft.folder.name))
    done.restored.append(
        Restored(
            source=draft.entry.name,
            name=target.name,
            notes=notes,
            event=0 if wish.dry_run else event,
            carried=carried,
            put_aside=str(parts.set_aside.keep(target.name)) if aside else "",
            schema_before=draft.schema_before,
            problem=problem,
        )
    )


def _removed(
    profiles: Profiles[VectorIndex], target: _Target, made_at_ms: int
) -> tuple[Removed, str]:
    """Return what was removed since a backup was made, and why that may not be all of it.

    The profile that goes tells it, and the one that the backup was made of.
    """
    removed = Removed()
    source = target.draft.entry.name
    if source != target.name and source in profiles.names():
        with profiles.use(source) as other, other.snapshot() as connection:
            if _same_origin(connection, target.draft):
                read_removed(connection, made_at_ms, removed)
    if not target.is_there:
        return removed, ""
    path = profiles.path(target.name)
    try:
        with database_errors(path), closing(open_connection(path, write=False)) as connection:
            read_removed(connection, made_at_ms, removed)
    except DatabaseDamagedError as error:
        log.warning(event("cannot read all", path=path, because=error.message))
        return removed, DAMAGED
    return removed, target.problem


def _same_origin(connection: Connection, draft: Draft) -> bool:
    """Tell whether a profile and one of a backup began with the same event."""
    first = read_hash(connection, 1)
    with draft.profile.snapshot() as own:
        return first is not None and first == read_hash(own, 1)


def _record(transaction: Transaction, reviewer: StoredReviewer, caller: Caller) -> EventSeq:
    """Record the reviewer of the home anew: the event that told of it goes with its profile."""
    return transaction.record(
        EventDraft(
            caller=caller,
            action=ACTION_SET,
            note_id=None,
            content_hash=reviewer.sealed_bytes(),
            reason="set before a restore",
        )
    )
