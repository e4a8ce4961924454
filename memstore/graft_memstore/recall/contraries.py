"""Which notes near a question say otherwise than the note that answers it."""

from collections.abc import Sequence

from graft_memstore.candidates import compare
from graft_memstore.divergence import CHARS_MAX, Difference
from graft_memstore.model import ItemKind, NoteKind
from graft_memstore.recall.answer import NearTitle
from graft_memstore.store.database import Connection
from graft_memstore.store.review_items import evidence_for, find_item
from graft_memstore.store.search import FoundNote
from graft_memstore.store.upkeep_reads import notes_by_seq, taken_apart
from graft_memstore.visibility import View

CONTRARIES_MAX = 3
"""Notes that are named, likeliest first."""
HOW = {
    Difference.NEGATION: "denies what the answer says",
    Difference.OPPOSITE: "says the opposite of the answer",
    Difference.VALUE: "says another value than the answer",
}
SAYS_OTHERWISE = frozenset(
    {ItemKind.CONTRADICTION, ItemKind.POSSIBLE_CONTRADICTION, ItemKind.SUPERSESSION}
)


def find_contraries(
    connection: Connection, view: View, answer: FoundNote, others: Sequence[FoundNote]
) -> tuple[NearTitle, ...]:
    """Return those of *others*, in their order, that deny *answer* or say another value.

    Pairs that somebody judged, so that both may stay, are left out.
    """
    seqs = [answer.seq, *(each.seq for each in others)]
    texts = {each.seq: each for each in notes_by_seq(connection, view, seqs, chars_max=CHARS_MAX)}
    if answer.seq not in texts:
        return ()
    ours = taken_apart(texts[answer.seq])
    found = []
    for other in others:
        if other.seq not in texts:
            continue
        pair = compare(ours, taken_apart(texts[other.seq]), cosine=0.0)
        if pair is None or pair.kind not in SAYS_OTHERWISE:
            continue
        judged = find_item(connection, pair.kind, evidence_for(pair))
        if judged is None or judged.decision is None:
            found.append(
                NearTitle(
                    note_id=other.note_id,
                    title=other.title,
                    why=HOW[Difference(pair.detail["differs"])],
                    trust=other.trust,
                    kind=NoteKind.NOTE,
                )
            )
    return tuple(found[:CONTRARIES_MAX])
