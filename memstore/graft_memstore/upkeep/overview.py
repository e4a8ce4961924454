"""Tells what upkeep waits for, and what is worth doing next."""

from dataclasses import dataclass

from graft_memstore.model import ItemKind, ScopeFilter
from graft_memstore.store import meta
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import (
    ItemFilter,
    ReviewItem,
    count_open_items,
    read_open_items,
)
from graft_memstore.upkeep.apply_safe import APPLIED_AT
from graft_memstore.upkeep.scan import SCANNED_AT, keyword_candidates, put_all
from graft_memstore.visibility import View

URGENCY = (
    ItemKind.CONTRADICTION,
    ItemKind.POSSIBLE_CONTRADICTION,
    ItemKind.REMOVED_SOURCE,
    ItemKind.CHANGED_SOURCE,
    ItemKind.SUPERSESSION,
    ItemKind.DUPLICATE,
    ItemKind.KEYWORD_VARIANT,
    ItemKind.EXPIRED,
    ItemKind.PURGE_DUE,
    ItemKind.ISOLATED,
    ItemKind.NEVER_USED,
)
"""Kinds that upkeep finds, the most urgent first."""
DAYS_BETWEEN = 7
"""Days after which it is worth scanning again, and doing what is safe."""
DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What waits; see GetUpkeepResponse."""

    waiting: dict[ItemKind, int]
    scanned_at_ms: int | None
    applied_at_ms: int | None
    edges_waiting: int
    next: tuple[str, ...]


def look_over(profile: Profile[Index], scope: ScopeFilter) -> Overview:
    """Return what waits.

    Raises:
        ServiceError: see `Profile.snapshot`.
    """
    with profile.snapshot() as connection:
        counts = count_open_items(connection, ItemFilter(scope=scope, kinds=URGENCY))
        scanned = _instant(connection, SCANNED_AT)
        applied = _instant(connection, APPLIED_AT)
        waits = count_asked(connection)
        now_ms = profile.now_ms(connection)
    waiting = {kind: counts[kind] for kind in URGENCY if counts.get(kind)}
    before_ms = now_ms - DAYS_BETWEEN * DAY_MS
    commands = (
        ("graft maintain apply-safe", applied is None or applied < before_ms),
        ("graft maintain scan", scanned is None or scanned < before_ms),
        ("graft maintain resolve", bool(waiting)),
    )
    return Overview(
        waiting=waiting,
        scanned_at_ms=scanned,
        applied_at_ms=applied,
        edges_waiting=waits,
        next=tuple(command for command, due in commands if due),
    )


def waiting_items(connection: Connection, scope: ScopeFilter, count_max: int) -> list[ReviewItem]:
    """Return what waits, the most urgent kinds first."""
    found: list[ReviewItem] = []
    for kind in URGENCY:
        if len(found) == count_max:
            break
        wanted = ItemFilter(scope=scope, kinds=(kind,))
        found += read_open_items(connection, wanted, count_max=count_max - len(found))
    return found


def find_keyword_variants(profile: Profile[Index], scope: ScopeFilter, *, keep: bool) -> int:
    """Look for keywords that are alike, *keep* them in the queue, and return how many there are.

    Raises:
        ServiceError: see `Profile.write`.
    """
    with profile.snapshot() as connection:
        view = View(scope=scope, now_ms=profile.now_ms(connection))
        candidates = keyword_candidates(connection, view)
    if keep:
        put_all(profile, candidates)
    return len(candidates)


def _instant(connection: Connection, name: str) -> int | None:
    value = meta.read(connection, name)
    return None if value is None else int(value)
