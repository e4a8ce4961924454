"""Looks through the notes for what somebody should judge, and puts it into the queue.

Reading goes page by page, each in a snapshot of its own, and writes nothing: a scan that is broken
off leaves the queue as it was. What it found is written at the end, a batch a transaction; what is
there already, or was judged on the same evidence, stays as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from graft.wire.errors import DeadlinePassedError
from graft_memstore.candidates import Candidate, variant_candidate
from graft_memstore.deadline import ANSWER_MARGIN_SECONDS, Deadline
from graft_memstore.divergence import CHARS_MAX
from graft_memstore.keyword_variants import find_variants
from graft_memstore.lifecycle import REVIEWER
from graft_memstore.model import ItemKind, ModelRole, ScopeFilter
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store import meta
from graft_memstore.store.database import Connection
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import (
    ItemFilter,
    ReviewItem,
    evidence_for,
    find_item,
    item_for,
    open_item,
    read_open_items,
)
from graft_memstore.store.stats import read_stats
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.upkeep_reads import (
    NoteText,
    count_keywords,
    notes_to_compare,
    read_expired,
    read_retired,
    withdraw_items,
)
from graft_memstore.store.uses import never_used_of
from graft_memstore.upkeep.find_pairs import PairFinder
from graft_memstore.visibility import View

PAGE_NOTES = 200
"""Notes that are read in one snapshot."""
FOUND_MAX = 2_000
"""Things of one kind that one scan finds at most; judge some and scan again."""
BATCH_ITEMS = 200
"""Things that are written in one transaction."""
IDLE_DAYS = 30
"""Days for which a note may stay without an edge before that is worth a question."""
RETENTION_DAYS = 30
"""Days for which a retired note is kept before it is due to be purged."""
DAY_MS = 24 * 60 * 60 * 1000
SCANNED_AT = "upkeep_scanned_at"

FOUND_HERE = frozenset(
    {
        ItemKind.DUPLICATE,
        ItemKind.SUPERSESSION,
        ItemKind.CONTRADICTION,
        ItemKind.POSSIBLE_CONTRADICTION,
        ItemKind.KEYWORD_VARIANT,
        ItemKind.ISOLATED,
        ItemKind.NEVER_USED,
        ItemKind.EXPIRED,
        ItemKind.PURGE_DUE,
    }
)
"""Kinds that a scan finds, and takes back when they are no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What a scan came to.

    Attributes:
        notes: that were looked at.
        waiting: of them, without vectors or edges yet; those are compared later.
        found: how many of each kind, those known before and those judged included.
        new: things that were not in the queue.
        judged: things that were judged before, and stay so.
        withdrawn: things that are no more.
        truncated: there was more of a kind than `FOUND_MAX`.
    """

    notes: int
    waiting: int
    found: Mapping[ItemKind, int]
    new: int = 0
    judged: int = 0
    withdrawn: int = 0
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStep:
    """How far a scan is; the last step has what it came to."""

    done: int
    total: int
    report: ScanReport | None = None


@dataclass(slots=True)
class _Found:
    """What a scan has found so far."""

    candidates: dict[tuple[ItemKind, bytes], Candidate] = field(default_factory=dict)
    counts: dict[ItemKind, int] = field(default_factory=dict)
    truncated: bool = False
    steps: dict[str, Candidate] = field(default_factory=dict)

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate, once, while there is room for its kind.

        Of notes that each have another value, such as one for each of many machines, every one is
        asked about beside the last before it alone.
        """
        if candidate.kind is ItemKind.SUPERSESSION:
            before = self.steps.get(str(candidate.other_id))
            if before is not None and str(before.note_id) >= str(candidate.note_id):
                return
            if before is not None:
                del self.candidates[before.kind, evidence_for(before)]
                self.counts[before.kind] -= 1
            self.steps[str(candidate.other_id)] = candidate
        key = (candidate.kind, evidence_for(candidate))
        if key in self.candidates:
            return
        count = self.counts.get(candidate.kind, 0)
        if count == FOUND_MAX:
            self.truncated = True
            return
        self.counts[candidate.kind] = count + 1
        self.candidates[key] = candidate


def scan_notes(
    profile: Profile[VectorIndex], scope: ScopeFilter, idle_days: int, deadline: Deadline
) -> Iterator[ScanStep]:
    """Look through the notes of *scope*; yield after every page, and at the end the report.

    Raises:
        DeadlinePassedError: there was no time for all of it; nothing was written.
        ServiceError: see `Profile.snapshot` and `Profile.write`.
    """
    found, pairs = _Found(), PairFinder()
    with profile.snapshot() as connection:
        view = View(scope=scope, now_ms=profile.now_ms(connection))
        total = read_stats(connection, view).notes
        _find_others(connection, view, found)
    done = after = waiting = 0
    yield ScanStep(done=done, total=total)
    while page := _compare_page(profile, view, after, pairs, found):
        done, after = done + len(page), page[-1].seq
        waiting += sum(text.waiting for text in page)
        if total > 1:
            _find_idle(profile, page, view, idle_days, found)
        yield ScanStep(done=min(done, total), total=total)
        if deadline.left() < ANSWER_MARGIN_SECONDS:
            raise DeadlinePassedError(
                f"{done:,} of {total:,} notes could be looked at in time; give more of it"
            )
    new, judged = put_all(profile, list(found.candidates.values()))
    profile.write(_note_time)
    # What waits was not compared, so nothing can be said of what is no more.
    withdrawn = 0 if found.truncated or waiting else _withdraw(profile, scope, found)
    report = ScanReport(
        notes=done,
        waiting=waiting,
        found=found.counts,
        new=new,
        judged=judged,
        withdrawn=withdrawn,
        truncated=found.truncated,
    )
    yield ScanStep(done=total, total=total, report=report)


def _compare_page(
    profile: Profile[VectorIndex], view: View, after: int, pairs: PairFinder, found: _Found
) -> list[NoteText]:
    with profile.snapshot() as connection:
        page = notes_to_compare(
            connection, view, after=after, count_max=PAGE_NOTES, chars_max=CHARS_MAX
        )
        serving = read_model(connection, ModelRole.SERVING)
        for candidate in pairs.candidates(connection, profile.index, serving, view, page):
            found.add(candidate)
    return page


def _find_idle(
    profile: Profile[VectorIndex],
    page: Sequence[NoteText],
    view: View,
    idle_days: int,
    found: _Found,
) -> None:
    """Find notes that nothing is joined with, and notes that were never given out.

    Each after some time, and only of notes that others stand beside.
    """
    before_ms = view.now_ms - idle_days * DAY_MS
    old = [text for text in page if not text.waiting and text.recorded_at_ms <= before_ms]
    with profile.snapshot() as connection:
        unused = never_used_of(connection, [text.id for text in old], before_ms)
    for text in old:
        if not text.joined:
            found.add(Candidate(kind=ItemKind.ISOLATED, evidence=(text.id,), note_id=text.id))
        if text.id in unused:
            found.add(Candidate(kind=ItemKind.NEVER_USED, evidence=(text.id,), note_id=text.id))


def keyword_candidates(connection: Connection, view: View) -> list[Candidate]:
    """Return the keywords of each scope that are alike, at most `FOUND_MAX`."""
    found = [
        variant_candidate(scope, variant, counts[variant.variant])
        for scope, counts in count_keywords(connection, view).items()
        for variant in find_variants(counts)
    ]
    return found[:FOUND_MAX]


def _find_others(connection: Connection, view: View, found: _Found) -> None:
    """Find what takes no comparing of notes."""
    for candidate in keyword_candidates(connection, view):
        found.add(candidate)
    for expired in read_expired(connection, view, count_max=FOUND_MAX):
        evidence = (expired.id, expired.expires_at_ms)
        found.add(Candidate(kind=ItemKind.EXPIRED, evidence=evidence, note_id=expired.id))
    before_ms = view.now_ms - RETENTION_DAYS * DAY_MS
    for retired in read_retired(connection, view, before_ms=before_ms, count_max=FOUND_MAX):
        if retired.actor != REVIEWER:  # the others are purged without a question
            evidence = (retired.id, retired.retired_at_ms)
            found.add(Candidate(kind=ItemKind.PURGE_DUE, evidence=evidence, note_id=retired.id))


def put_all(profile: Profile[Index], candidates: Sequence[Candidate]) -> tuple[int, int]:
    """Put what was found into the queue; return how much of it was new, and judged before.

    Raises:
        ServiceError: see `Profile.write`.
    """
    new = judged = 0
    for start in range(0, len(candidates), BATCH_ITEMS):
        batch = candidates[start : start + BATCH_ITEMS]
        before = profile.write(partial(_put_some, candidates=batch))
        new += sum(item is None for item in before)
        judged += sum(item is not None and item.decision is not None for item in before)
    return new, judged


def _note_time(transaction: Transaction) -> None:
    meta.write(transaction.connection, SCANNED_AT, str(transaction.at_ms))


def _put_some(transaction: Transaction, candidates: Sequence[Candidate]) -> list[ReviewItem | None]:
    return [_put(transaction, candidate) for candidate in candidates]


def _put(transaction: Transaction, candidate: Candidate) -> ReviewItem | None:
    """Put one thing into the queue; return what stood for it before."""
    connection, item = transaction.connection, item_for(candidate)
    before = find_item(connection, item.kind, item.evidence)
    if before is None and _is_gone(connection, candidate):
        return None
    open_item(connection, item, transaction.at_ms)
    return before


def _is_gone(connection: Connection, candidate: Candidate) -> bool:
    """Tell whether a note that was looked at has been erased since."""
    named = [each for each in (candidate.note_id, candidate.other_id) if each is not None]
    return any(read_stored(connection, note_id) is None for note_id in named)


def _withdraw(profile: Profile[VectorIndex], scope: ScopeFilter, found: _Found) -> int:
    """Take those things of *scope* out of the queue that are no more."""
    wanted = ItemFilter(scope=scope, kinds=sorted(FOUND_HERE))
    withdrawn = after = 0
    while True:
        with profile.snapshot() as connection:
            page = read_open_items(connection, wanted, after=after, count_max=BATCH_ITEMS)
        if not page:
            return withdrawn
        after = page[-1].item_id
        gone = [each.item_id for each in page if (each.kind, each.evidence) not in found.candidates]
        if gone:
            withdrawn += profile.write(partial(_withdraw_some, item_ids=gone))


def _withdraw_some(transaction: Transaction, item_ids: Sequence[int]) -> int:
    return withdraw_items(transaction.connection, item_ids)
