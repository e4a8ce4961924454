"""What answers leave to be written besides their receipts: which notes they gave, and to whom."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from graft_memstore.model import NoteId
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.uses import Uses, add_uses

GIVEN_MAX = 4_096
"""Uses of notes that may wait to be counted; one more pushes the oldest out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A note that was given out whole.

    Attributes:
        session: of whom it was given to; empty where that is not known.
        strong: it was the answer to a question; else it was asked for by its id.
    """

    note_id: NoteId
    session: str
    at_ms: int
    strong: bool


class Ledger:
    """Keeps it in order until it is written; whoever uses it sees to it that only one does."""

    def __init__(self) -> None:
        self._given: deque[Given] = deque(maxlen=GIVEN_MAX)
        self._writing: tuple[Given, ...] = ()
        self._added = 0
        self._written = 0
        self._taken = 0

    @property
    def waits(self) -> bool:
        """Whether something is to be written."""
        return bool(self._given or self._writing)

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

    def uses_of(self, note_id: NoteId) -> Uses:
        """Return the uses of a note that are not counted in the file yet."""
        return _sum(each for each in (*self._writing, *self._given) if each.note_id == note_id)

    def take(self) -> tuple[Given, ...]:
        """Return what waits; it is written by now when `done` is called, else `put_back`."""
        self._writing = tuple(self._given)
        self._given.clear()
        self._taken = self._added
        return self._writing

    def done(self) -> None:
        """Forget what was taken."""
        self._writing = ()
        self._written = self._taken

    def put_back(self) -> None:
        """Let what was taken wait again."""
        room = GIVEN_MAX - len(self._given)
        self._given.extendleft(self._writing[::-1][:room])
        self._writing = ()


def write_given(transaction: Transaction, given: Iterable[Given]) -> None:
    """Count uses; runs inside the transaction."""
    by_note: dict[NoteId, list[Given]] = {}
    for each in given:
        by_note.setdefault(each.note_id, []).append(each)
    for note_id, together in by_note.items():
        add_uses(transaction.connection, note_id, _sum(together))


def _sum(given: Iterable[Given]) -> Uses:
    total = Uses()
    for each in given:
        once = Uses(strong=int(each.strong), got=int(not each.strong), last_at_ms=each.at_ms)
        total = total.and_then(once)
    return total
