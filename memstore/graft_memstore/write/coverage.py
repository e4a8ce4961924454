"""How far the vectors of notes are: waiting for them, and what will never have any."""

import time
from collections.abc import Sequence

from graft_memstore.embedding import PASSAGES_MAX
from graft_memstore.model import PASSAGE_SEPARATOR, ModelRole, NoteId
from graft_memstore.store.coverage import read_last_part
from graft_memstore.store.database import Connection
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import read_stored
from graft_memstore.store.pending import count_of_notes, more_wait
from graft_memstore.store.profile import Index, Profile


def wait_for_vectors(
    profile: Profile[Index], note_ids: Sequence[NoteId], seconds: float, *, behind_others: bool
) -> None:
    """Wait until none of *note_ids* waits for a vector.

    Args:
        profile: the profile that they are in.
        note_ids: notes that somebody waits for.
        seconds: how long at most.
        behind_others: wait, too, while texts of other notes stand in front of theirs.
    """
    end = time.monotonic() + seconds
    while True:
        seen = profile.changes.count
        with profile.snapshot() as connection:
            pending = count_of_notes(connection, note_ids)
            others = more_wait(connection, None, sum(pending.values()))
        if others and not behind_others:
            return
        left = end - time.monotonic()
        if not pending or left <= 0:
            return
        profile.changes.wait(seen, left)


def uncovered_from(connection: Connection, note_id: NoteId) -> int:
    """Return the first character of a note's body beyond its last possible passage.

    0 means that all of it has vectors, or will have.
    """
    serving = read_model(connection, ModelRole.SERVING)
    if serving is None:
        return 0
    last = read_last_part(connection, note_id, serving.model_id)
    if last is None or last[0] < PASSAGES_MAX:
        return 0
    stored = read_stored(connection, note_id)
    if stored is None:
        return 0
    body_start = len(stored.title) + len(PASSAGE_SEPARATOR)
    covered = last[1] - body_start
    return covered if covered < len(stored.body.rstrip()) else 0
