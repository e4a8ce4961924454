"""Does by itself what loses nothing, each a transaction of its own with its events.

Notes that say the very same become one, which takes over the keywords and sources of the others;
keywords that differ in case or width alone become one; what has expired is recorded. A process that
dies in between leaves each of these done or not begun, and doing it again does the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from graft.wire.errors import ServiceError
from graft_memstore.deadline import ANSWER_MARGIN_SECONDS, Deadline
from graft_memstore.keyword_variants import Likeness, Variant, find_variants
from graft_memstore.model import Caller, NoteId, ScopeFilter
from graft_memstore.store import meta
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.states import read_state
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.upkeep_reads import (
    ExpiredNote,
    carriers_of,
    count_keywords,
    groups_saying_the_same,
    read_expired,
)
from graft_memstore.visibility import View
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.kept_apart import are_keywords_apart
from graft_memstore.write.merge import CARRIERS_MAX, Merge, merge_keyword, merge_notes, plan_merge
from graft_memstore.write.state_change import Saying

ACTION_EXPIRE = "expire"
GROUPS_MAX = 1_000
"""Groups of notes that say the same that are merged in one run."""
EXPIRED_MAX = 1_000
"""Notes whose expiry is recorded in one run."""
APPLIED_AT = "upkeep_applied_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What was done, or would be.

    Attributes:
        merged: notes that went into others that say the same.
        keywords: keywords that were replaced by others.
        notes_with_keywords: notes on which they were.
        expired: notes whose expiry was recorded.
        left: things that were refused when their turn came.
        more: there was not time or room for all of it.
    """

    merged: Sequence[Merge]
    keywords: Sequence[Variant]
    notes_with_keywords: int
    expired: int
    left: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    view: View
    merges: list[Merge]
    variants: list[tuple[str, Variant, int]]
    expired: list[ExpiredNote]
    more: bool


def plan_safe(profile: Profile[Index], scope: ScopeFilter) -> Applied:
    """Return what `apply_safe` would do; change nothing.

    Raises:
        ServiceError: see `Profile.snapshot`.
    """
    plan = _plan(profile, scope)
    return Applied(
        merged=plan.merges,
        keywords=[variant for _, variant, _ in plan.variants],
        notes_with_keywords=sum(count for _, _, count in plan.variants),
        expired=len(plan.expired),
        more=plan.more,
    )


def apply_safe(
    profile: Profile[Index], scope: ScopeFilter, caller: Caller, deadline: Deadline
) -> Applied:
    """Do it all, as far as there is time.

    Raises:
        ServiceError: see `Profile.write`.
    """
    plan, doing = _plan(profile, scope), _Doing(profile, caller, deadline)
    merged = [each for each in plan.merges if doing.run(partial(_merge, merge=each, caller=caller))]
    variants: list[Variant] = []
    carriers = 0
    for name, variant, _ in plan.variants:
        view = View(scope=ScopeFilter(scopes=(name,)), now_ms=plan.view.now_ms)
        count = _replace_keyword(doing, view, variant, caller)
        if count:
            carriers += count
            variants.append(variant)
    expired = doing.run(lambda transaction: _record_all(transaction, plan.expired, caller)) or 0
    doing.run(
        lambda transaction: meta.write(transaction.connection, APPLIED_AT, str(transaction.at_ms))
    )
    return Applied(
        merged=merged,
        keywords=variants,
        notes_with_keywords=carriers,
        expired=expired,
        left=doing.left,
        more=plan.more or doing.late,
    )


def record_expiry(transaction: Transaction, expired: ExpiredNote, caller: Caller) -> bool:
    """Record that a note has expired; tell whether it still had, and stood on record nowhere.

    The state stays as it is: that a note is not shown follows from its times, and whoever set
    those may take that back.
    """
    state = read_state(transaction.connection, expired.id)
    stored = read_stored(transaction.connection, expired.id)
    if state is None or stored is None or state.expires_at_ms != expired.expires_at_ms:
        return False
    record_on_note(transaction, caller, ACTION_EXPIRE, stored, "its time was over")
    return True


class _Doing:
    """Runs changes one after another until time is up; a refused one is left and counted."""

    def __init__(self, profile: Profile[Index], caller: Caller, deadline: Deadline) -> None:
        self.profile = profile
        self.caller = caller
        self.left = 0
        self.late = False
        self._deadline = deadline

    def run(self, change: Callable[[Transaction], int | None]) -> int | None:
        """Run one change and return what it gives; None where it was not done."""
        if self._deadline.left() < ANSWER_MARGIN_SECONDS:
            self.late = True
            return None
        try:
            return self.profile.write(change, self._deadline.for_work())
        except ServiceError:
            self.left += 1
            return None


def _plan(profile: Profile[Index], scope: ScopeFilter) -> _Plan:
    with profile.snapshot() as connection:
        view = View(scope=scope, now_ms=profile.now_ms(connection))
        groups = groups_saying_the_same(connection, view, GROUPS_MAX)
        merges = [plan_merge(connection, group) for group in groups]
        expired = _unrecorded(connection, view)
        variants = [
            (name, variant, counts[variant.variant])
            for name, counts in count_keywords(connection, view).items()
            for variant in find_variants(counts)
            if variant.likeness is Likeness.SPELLING
            and not are_keywords_apart(connection, name, variant.variant, variant.keep)
        ]
    return _Plan(
        view=view,
        merges=[merge for merge in merges if merge is not None],
        variants=variants,
        expired=expired[:EXPIRED_MAX],
        more=len(groups) == GROUPS_MAX or len(expired) > EXPIRED_MAX,
    )


def _unrecorded(connection: Connection, view: View) -> list[ExpiredNote]:
    """Return notes whose expiry is on record nowhere, one more than are recorded at once."""
    found: list[ExpiredNote] = []
    since = 0
    while len(found) <= EXPIRED_MAX:
        page = read_expired(connection, view, count_max=EXPIRED_MAX, since_ms=since)
        known = {each.id for each in found}
        found += [each for each in page if not each.recorded and each.id not in known]
        if len(page) < EXPIRED_MAX or page[-1].expires_at_ms == since:
            break
        since = page[-1].expires_at_ms
    return found[: EXPIRED_MAX + 1]


def _merge(transaction: Transaction, merge: Merge, caller: Caller) -> int | None:
    # As it is now: somebody may have doubted one of them since.
    now = plan_merge(transaction.connection, _there(transaction, merge))
    if now != merge:
        return None
    saying = Saying(caller=caller, reason=f"says the same as {merge.keeper}")
    return len(merge_notes(transaction, merge, saying))


def _there(transaction: Transaction, merge: Merge) -> list[NoteId]:
    named = (merge.keeper, *merge.losers)
    return [each for each in named if read_stored(transaction.connection, each) is not None]


def _replace_keyword(doing: _Doing, view: View, variant: Variant, caller: Caller) -> int:
    """Replace a keyword on all notes of a scope; return how many they were."""
    done = 0
    while True:
        with doing.profile.snapshot() as connection:
            carriers = carriers_of(connection, variant.variant, view, CARRIERS_MAX)
        if not carriers:
            return done
        replace = partial(_merge_keyword, carriers=carriers, variant=variant, caller=caller)
        events = doing.run(replace)
        if not events:
            return done
        done += events


def _merge_keyword(
    transaction: Transaction, carriers: Sequence[NoteId], variant: Variant, caller: Caller
) -> int:
    saying = Saying(caller=caller, reason="a keyword is spelled like another")
    return len(merge_keyword(transaction, carriers, variant.variant, variant.keep, saying))


def _record_all(transaction: Transaction, expired: Sequence[ExpiredNote], caller: Caller) -> int:
    return sum(record_expiry(transaction, each, caller) for each in expired)
