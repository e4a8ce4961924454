"""The errors that notes tell of: a row for each signature of a note, and who shares one."""

import json
from collections.abc import Iterable, Sequence

import apsw

from graft_memstore.signature import SIGNATURE_VERSION, Signature, Traits
from graft_memstore.store import meta
from graft_memstore.store.rows import change, select
from graft_memstore.store.search import ELIGIBLE, Eligible
from graft_memstore.visibility import timed

# A note that was deleted meanwhile gets none.
INSERT_SIGNATURE = """
INSERT INTO note_signatures (digest, seq, traits)
SELECT :digest, notes.seq, :traits FROM notes WHERE notes.seq = :seq
"""

# note_signatures_by_note
DELETE_SIGNATURES = "DELETE FROM note_signatures WHERE seq = :seq"

# By primary key, newest notes first; each digest by itself, so that one which many notes have
# leaves room for the others.
SELECT_HOLDERS = timed(
    ELIGIBLE  # noqa: S608 - joined at import, from constants alone
    + """
SELECT wanted.value, (
    SELECT json_group_array(json_array(seq, traits))
    FROM (
        SELECT held.seq, held.traits
        FROM note_signatures AS held
        CROSS JOIN eligible ON eligible.seq = held.seq
        WHERE held.digest = wanted.value
        ORDER BY held.seq DESC
        LIMIT :count_max
    )
)
FROM json_each(:digests) AS wanted
"""
)

# note_signatures_by_note
SELECT_TRAITS = """
SELECT held.seq, held.traits
FROM json_each(:seqs) AS wanted
CROSS JOIN note_signatures AS held ON held.seq = wanted.value
"""

READ = "signatures_read"
"""Fact about a profile: which version of the reader has read its notes, and how far."""
ALL = "all"


def insert_signatures(
    connection: apsw.Connection, seq: int, signatures: Iterable[Signature]
) -> None:
    """Keep the signatures of a note that has none yet."""
    for each in signatures:
        change(
            connection,
            INSERT_SIGNATURE,
            {"digest": each.digest, "seq": seq, "traits": int(each.traits)},
        )


def delete_signatures(connection: apsw.Connection, seq: int) -> None:
    """Take the signatures of a note away; deleting the note does so, too."""
    change(connection, DELETE_SIGNATURES, {"seq": seq})


def holders_of(
    connection: apsw.Connection, digests: Sequence[int], eligible: Eligible, count: int
) -> dict[int, dict[int, Traits]]:
    """Return which notes have each digest, the newest *count* of those that may answer.

    Returns:
        By digest, what is known of the error in each note that has it, by the note's seq.
    """
    wanted = eligible.parameters(digests=json.dumps(digests), count_max=count)
    return {
        digest: {seq: Traits(traits) for seq, traits in json.loads(found)}
        for digest, found in select(connection, SELECT_HOLDERS.at(eligible.known_at_ms), wanted)
    }


def tell_errors(connection: apsw.Connection, seqs: Iterable[int]) -> set[int]:
    """Return which of the notes listed hold an error as a program printed it."""
    rows = select(connection, SELECT_TRAITS, {"seqs": json.dumps(list(seqs))})
    return {seq for seq, traits in rows if Traits.PRINTED in Traits(traits)}


def read_until(connection: apsw.Connection) -> int | None:
    """Return the seq of the last note that this version has read; None when it has read all.

    Notes that come in later are read as they come.
    """
    version, _, seq = (meta.read(connection, READ) or "").partition(":")
    if version != str(SIGNATURE_VERSION):
        return 0
    return None if seq == ALL else int(seq)


def keep_read_until(connection: apsw.Connection, seq: int | None) -> None:
    """Keep that this version has read the notes up to *seq*, all of them when that is None."""
    meta.write(connection, READ, f"{SIGNATURE_VERSION}:{ALL if seq is None else seq}")
