"""Which notes each session was given whole, of late."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from graft_memstore.model import Caller, NoteId

GIVEN_SECONDS = 3_600.0
"""How long it counts that a note was given."""
SESSIONS_MAX = 512
NOTES_MAX = 16
"""Notes of one session; the oldest make room."""


_Key: TypeAlias = tuple[str, str, tuple[str, ...]]


class HandedOut:
    """Remembers in memory alone; any thread may use it.

    Callers that name no session are one session for each kind of program.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._given: OrderedDict[_Key, OrderedDict[NoteId, float]] = OrderedDict()

    def gave(self, profile: str, caller: Caller, note_id: NoteId) -> None:
        """Remember that a caller was given a note."""
        key = _key(profile, caller)
        with self._lock:
            given = self._given.setdefault(key, OrderedDict())
            given[note_id] = self._seconds()
            given.move_to_end(note_id)
            self._given.move_to_end(key)
            if len(given) > NOTES_MAX:
                given.popitem(last=False)
            if len(self._given) > SESSIONS_MAX:
                self._given.popitem(last=False)

    def given(self, profile: str, caller: Caller) -> tuple[NoteId, ...]:
        """Return what a caller's session was given, the last first."""
        since = self._seconds() - GIVEN_SECONDS
        with self._lock:
            given = self._given.get(_key(profile, caller), OrderedDict[NoteId, float]())
            return tuple(note_id for note_id, at in reversed(given.items()) if at >= since)


def _key(profile: str, caller: Caller) -> _Key:
    session = f"session {caller.session}" if caller.session else f"door {caller.door}"
    # What was given to whoever is bound otherwise is not told of.
    return profile, session, caller.bound
