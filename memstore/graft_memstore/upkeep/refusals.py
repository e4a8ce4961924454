"""Counts refusals: the first of a kind is told at once, the same again when its minute ends."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from graft_memstore.model import Caller, NoteId

KINDS_MAX = 256
"""Kinds of refusals that are told apart within a minute; what comes besides is one kind."""
WINDOW_SECONDS = 60.0
READY_MAX = 4 * KINDS_MAX
"""Counted refusals that may wait to be written; one more pushes the oldest out."""

BESIDES = "many others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A kind of refusal.

    Attributes:
        note_id: None where it is about no note that could be told.
        what: that was wanted, and the reason: words of the program.
    """

    caller: Caller
    note_id: NoteId | None
    what: str
    count: int = 1


@dataclass(slots=True)
class _Window:
    ends: float
    again: int = 0


class Refusals:
    """Counts the refusals of one profile; whoever uses it sees to it that only one does.

    Args:
        monotonic: clock, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._windows: dict[Refused, _Window] = {}
        self._ready: deque[Refused] = deque(maxlen=READY_MAX)

    def add(self, refused: Refused) -> None:
        """Count a refusal."""
        self.close()
        if refused not in self._windows and len(self._windows) >= KINDS_MAX:
            caller = replace(refused.caller, session="")
            refused = Refused(caller=caller, note_id=None, what=BESIDES)
        window = self._windows.get(refused)
        if window is None:
            self._windows[refused] = _Window(self._monotonic() + WINDOW_SECONDS)
            self._ready.append(refused)
        else:
            window.again += 1

    def left(self) -> float | None:
        """Return the seconds until a minute ends in which one came again; None without."""
        ends = [window.ends for window in self._windows.values() if window.again]
        return max(min(ends) - self._monotonic(), 0.0) if ends else None

    def close(self, *, every: bool = False) -> None:
        """Make what came again ready whose minute has ended, or all of it."""
        now = self._monotonic()
        for refused, window in list(self._windows.items()):
            if every or window.ends <= now:
                del self._windows[refused]
                if window.again:
                    self._ready.append(replace(refused, count=window.again))

    @property
    def ready(self) -> bool:
        """Whether there is something to write now."""
        return bool(self._ready)

    def take(self) -> tuple[Refused, ...]:
        """Return what is to be written now."""
        taken = tuple(self._ready)
        self._ready.clear()
        return taken

    def put_back(self, taken: tuple[Refused, ...]) -> None:
        """Let what was taken wait again."""
        room = READY_MAX - len(self._ready)
        self._ready.extendleft(taken[::-1][:room])
