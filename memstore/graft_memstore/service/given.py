"""What follows from giving a note out: that it was used is counted, behind the answer."""

from collections.abc import Callable

from graft.memory.v1 import notes_service_pb2 as pb
from graft_memstore.model import Caller, Note, NoteId
from graft_memstore.store.uses import Uses
from graft_memstore.upkeep.ledger import Given
from graft_memstore.upkeep.scribe import Scribe


class Giving:
    """Tells whoever writes things down what was given out.

    Args:
        scribe_of: gives who writes down the answers of a profile, by its name.
    """

    def __init__(self, scribe_of: Callable[[str], Scribe | None]) -> None:
        self._scribe_of = scribe_of

    def gave(
        self, profile_name: str, note: Note, caller: Caller, at_ms: int, *, strong: bool
    ) -> None:
        """Have it counted that *note* was given out whole, *strong*: as an answer."""
        scribe = self._scribe_of(profile_name)
        if scribe is not None:
            scribe.gave(Given(note_id=note.id, session=caller.session, at_ms=at_ms, strong=strong))

    def uses_waiting(self, profile_name: str, note_id: NoteId) -> Uses:
        """Return the uses of a note that are not in the file yet."""
        scribe = self._scribe_of(profile_name)
        return Uses() if scribe is None else scribe.uses_waiting(note_id)


def uses_message(uses: Uses) -> pb.NoteUses:
    """Pack how often a note was used."""
    return pb.NoteUses(strong=uses.strong, got=uses.got, last_at_ms=uses.last_at_ms)
