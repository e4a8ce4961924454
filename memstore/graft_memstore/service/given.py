"""What follows from giving a note out: it is counted, and who got it hears what becomes of it."""

from collections.abc import Callable

from graft.memory.v1 import note_pb2
from graft.memory.v1 import notes_service_pb2 as pb
from graft_memstore.deadline import Deadline
from graft_memstore.model import Caller, Happening, NoteId, ScopeFilter
from graft_memstore.recall.handed_out import HandedOut
from graft_memstore.store.database import Connection
from graft_memstore.store.note_ids import scopes_of
from graft_memstore.store.notes import read_titles
from graft_memstore.store.notices import GivenTo, read_notices
from graft_memstore.store.successors import read_heads
from graft_memstore.store.uses import Uses
from graft_memstore.upkeep.ledger import Given
from graft_memstore.upkeep.scribe import Scribe
from graft_memstore.visibility import View

NOTICES_TOLD_MAX = 10
"""Notices in one answer; the others come with the next."""
NOTICES_READ_MAX = 4 * NOTICES_TOLD_MAX
"""Those that were told a moment ago may still be among them."""
FLUSH_SECONDS = 2.0
"""How long a change waits until it is known to whom its note was given just now."""

HAPPENINGS = {
    Happening.SUPERSEDED: note_pb2.HAPPENING_SUPERSEDED,
    Happening.RETIRED: note_pb2.HAPPENING_RETIRED,
    Happening.REJECTED: note_pb2.HAPPENING_REJECTED,
    Happening.DISPUTED: note_pb2.HAPPENING_DISPUTED,
    Happening.DELETED: note_pb2.HAPPENING_DELETED,
}


class Giving:
    """Tells whoever writes things down what was given out, and sessions what became of it.

    Args:
        scribe_of: gives who writes down the answers of a profile, by its name.
    """

    def __init__(self, scribe_of: Callable[[str], Scribe | None]) -> None:
        self._scribe_of = scribe_of
        self._handed_out = HandedOut()

    def gave(self, profile_name: str, caller: Caller, given: Given) -> None:
        """Have it noted that a note was given out whole."""
        self._handed_out.gave(profile_name, caller, given.note_id)
        scribe = self._scribe_of(profile_name)
        if scribe is not None:
            scribe.gave(given)

    def given_to(self, profile_name: str, caller: Caller) -> tuple[NoteId, ...]:
        """Return the notes that the caller's session was given of late, the last first."""
        return self._handed_out.given(profile_name, caller)

    def uses_waiting(self, profile_name: str, note_id: NoteId) -> Uses:
        """Return the uses of a note that are not in the file yet."""
        scribe = self._scribe_of(profile_name)
        return Uses() if scribe is None else scribe.uses_waiting(note_id)

    def before_change(self, profile_name: str, deadline: Deadline) -> None:
        """See that what was given until now is written, before a note is changed."""
        scribe = self._scribe_of(profile_name)
        if scribe is not None:
            scribe.flush(deadline.sooner(FLUSH_SECONDS))

    def notices(
        self, profile_name: str, connection: Connection, caller: Caller, now_ms: int
    ) -> list[note_pb2.Notice]:
        """Return what a session is told with its answer, once."""
        scribe = self._scribe_of(profile_name)
        if scribe is None or not caller.session:
            return []
        waiting = read_notices(connection, caller.session, NOTICES_READ_MAX)
        if not waiting:
            return []
        heads = read_heads(connection, [each.note_id for each in waiting])
        if caller.bound:
            # Whoever takes another session's name learns nothing of other scopes by it.
            scopes = scopes_of(connection, [*(each.note_id for each in waiting), *heads.values()])
            waiting = [each for each in waiting if scopes.get(each.note_id) in caller.bound]
            heads = {old: new for old, new in heads.items() if scopes.get(new) in caller.bound}
        fresh = scribe.claim((each.notice_id for each in waiting), NOTICES_TOLD_MAX)
        told = [each for each in waiting if each.notice_id in fresh]
        view = View(scope=ScopeFilter(all=True), now_ms=now_ms)
        titles = read_titles(connection, [each.note_id for each in told], view)
        return [
            note_pb2.Notice(
                id=each.note_id,
                title=titles.get(each.note_id, ""),
                happened=HAPPENINGS[each.happened],
                successor=heads.get(each.note_id, ""),
                event=each.event,
                at_ms=each.at_ms,
            )
            for each in told
        ]


def uses_message(uses: Uses) -> pb.NoteUses:
    """Pack how often a note was used."""
    return pb.NoteUses(strong=uses.strong, got=uses.got, last_at_ms=uses.last_at_ms)


def given_to_message(told: GivenTo) -> note_pb2.GivenTo:
    """Pack which sessions were given a note."""
    return note_pb2.GivenTo(count=told.count, sessions=told.sessions)
