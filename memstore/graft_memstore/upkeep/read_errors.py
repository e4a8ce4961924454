"""Reads notes for errors that came in before this version of the reader did.

A few notes at a time, each with the transaction that keeps how far it came: it can be interrupted
anywhere and goes on where it was. A new version of the reader begins anew; until a note has been
read again it is found by what the earlier version made of it.
"""

from graft_memstore.store.notes import read_stored_after
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.signatures import (
    delete_signatures,
    insert_signatures,
    keep_read_until,
    read_until,
)
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.prepare import signatures_of

NOTES_IN_STEP = 32
"""Notes that are read between two transactions; each may have a body of 1 MiB."""


def read_some(profile: Profile[Index]) -> bool:
    """Read the next notes; tell whether there may be more.

    Raises:
        ServiceError: see `Profile.write`.
    """
    with profile.snapshot() as connection:
        until = read_until(connection)
        if until is None:
            return False
        notes = read_stored_after(connection, until, NOTES_IN_STEP)
    found = {note.seq: signatures_of(note.title, note.body) for note in notes}

    def keep(transaction: Transaction) -> None:
        for seq, signatures in found.items():
            delete_signatures(transaction.connection, seq)
            insert_signatures(transaction.connection, seq, signatures)
        keep_read_until(transaction.connection, notes[-1].seq if notes else None)

    profile.write(keep)
    return bool(notes)
