"""What calls leave to be written besides receipts: which notes were given, what was refused."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from blake3 import blake3

from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.notices import delete_notices, delete_old
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.uses import Uses, add_uses
from graft_memstore.upkeep.refusals import Refusals, Refused
from graft_memstore.write.notices import note_given

ACTION_REFUSED = "refused"

CLAIMED_MAX = 4 * 4_096
"""Notices that are known to be told though a snapshot shows them."""
GIVEN_MAX = 4_096
"""Uses of notes that may wait to be counted; one more pushes the oldest out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A note that was given out whole.

    Attributes:
        session: of whom it was given to; empty where that is not known.
        strong: it was the answer to a question; else it was asked for by its id.
        seen: last event of the trail when it was read.
    """

    note_id: NoteId
    session: str
    at_ms: int
    strong: bool
    seen: EventSeq


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is written together."""

    given: tuple[Given, ...] = ()
    refused: tuple[Refused, ...] = ()
    told: tuple[int, ...] = ()


class Ledger:
    """Keeps it in order until it is written; whoever uses it sees to it that only one does.

    Args:
        monotonic: clock, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.refusals = Refusals(monotonic)
        self._given: deque[Given] = deque(maxlen=GIVEN_MAX)
        self._told: list[int] = []
        # What was told stays known after it is written: an older snapshot may still show it.
        self._claimed: dict[int, None] = {}
        self._writing = Page()
        self._added = 0
        self._written = 0
        self._taken = 0

    @property
    def waits(self) -> bool:
        """Whether something is to be written now."""
        ready = self._given or self._told or self.refusals.ready
        return bool(ready or self._writing != Page())

    @property
    def added(self) -> int:
        """How much has been added so far."""
        return self._added

    def has_written(self, added: int) -> bool:
        """Tell whether all that had been added when there was so much is written, or lost."""
        return self._written >= added

    def add(self, given: Given) -> None:
        """Have a use counted; where too many wait, the oldest is lost."""
        self._given.append(given)
        self._added += 1

    def add_refused(self, refused: Refused) -> None:
        """Have a refusal recorded."""
        self.refusals.add(refused)
        self._added += 1

    def claim(self, notice_ids: Iterable[int], count_max: int) -> set[int]:
        """Return the first of *notice_ids* that nobody has told yet; from now on they are told."""
        untold = (each for each in notice_ids if each not in self._claimed)
        fresh = set(islice(untold, count_max))
        self._claimed.update(dict.fromkeys(fresh))
        while len(self._claimed) > CLAIMED_MAX:
            del self._claimed[next(iter(self._claimed))]
        self._told.extend(fresh)
        self._added += len(fresh)
        return fresh

    def uses_of(self, note_id: NoteId) -> Uses:
        """Return the uses of a note that are not counted in the file yet."""
        return _sum(
            each for each in (*self._writing.given, *self._given) if each.note_id == note_id
        )

    def take(self) -> Page:
        """Return what waits; it is written by now when `done` is called, else `put_back`."""
        self._writing = Page(
            given=tuple(self._given), refused=self.refusals.take(), told=tuple(self._told)
        )
        self._given.clear()
        self._told.clear()
        self._taken = self._added
        return self._writing

    def done(self) -> None:
        """Forget what was taken."""
        self._writing = Page()
        self._written = self._taken

    def put_back(self) -> None:
        """Let what was taken wait again."""
        room = GIVEN_MAX - len(self._given)
        self._given.extendleft(self._writing.given[::-1][:room])
        self.refusals.put_back(self._writing.refused)
        self._told[:0] = self._writing.told
        self._writing = Page()


def write_page(transaction: Transaction, page: Page) -> None:
    """Write all of it down; runs inside the transaction."""
    by_note: dict[NoteId, list[Given]] = {}
    for each in page.given:
        by_note.setdefault(each.note_id, []).append(each)
    for note_id, together in by_note.items():
        add_uses(transaction.connection, note_id, _sum(together))
    for each in page.given:
        if each.session:
            note_given(transaction, each.session, each.note_id, each.at_ms, each.seen)
    if page.given:
        delete_old(transaction.connection)
    if page.told:
        delete_notices(transaction.connection, page.told)
    for refused in page.refused:
        transaction.record(_event_of(refused))


def _event_of(refused: Refused) -> EventDraft:
    return EventDraft(
        caller=refused.caller,
        action=ACTION_REFUSED,
        note_id=refused.note_id,
        content_hash=blake3(refused.what.encode()).digest(),
        reason=refused.what,
        count=refused.count,
        refused=True,
    )


def _sum(given: Iterable[Given]) -> Uses:
    total = Uses()
    for each in given:
        once = Uses(strong=int(each.strong), got=int(not each.strong), last_at_ms=each.at_ms)
        total = total.and_then(once)
    return total
