"""Ranks notes by meaning and words together."""

from collections.abc import Iterable, Mapping

from graft_memstore.fusion import Fused
from graft_memstore.recall.answer import (
    PIECES_ARM,
    SIGNATURE_ARM,
    VECTOR_ARM,
    WORDS_ARM,
    ArmPlace,
    Question,
    RankedNote,
    RetrieveAnswer,
)
from graft_memstore.recall.arms import Gathered, gather
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.applies import PLAIN, Particulars, read_particulars
from graft_memstore.store.database import Connection
from graft_memstore.store.search import FoundNote, count_elsewhere, found_notes
from graft_memstore.visibility import RANKED_BELOW

SPARE = 2
"""Notes that each arm is asked for, as a multiple of those wanted."""


def retrieve(
    connection: Connection, index: VectorIndex | None, question: Question, top_k: int
) -> RetrieveAnswer:
    """Return the *top_k* best notes from the snapshot that *connection* has open.

    Disputed and stale notes win their place by score like all others, and then stand below.
    """
    gathered = gather(connection, index, question, SPARE * top_k)
    best = gathered.ranked[:top_k]
    notes = found_notes(connection, [each.scores.seq for each in best], gathered.eligible)
    known = [each for each in best if each.scores.seq in notes]
    ordered = sorted(known, key=lambda each: notes[each.scores.seq].trust in RANKED_BELOW)
    places = _places(gathered)
    particulars = read_particulars(connection, list(notes), question.known_at_ms)
    return RetrieveAnswer(
        results=tuple(
            _ranked(each, notes[each.scores.seq], particulars.get(each.scores.seq, PLAIN), places)
            for each in ordered
        ),
        degraded=gathered.degraded,
        notes_elsewhere=count_elsewhere(connection, question.every_note),
    )


def _ranked(
    fused: Fused,
    note: FoundNote,
    particulars: Particulars,
    places: Mapping[str, Mapping[int, ArmPlace]],
) -> RankedNote:
    return RankedNote(
        note_id=note.note_id,
        title=note.title,
        score=fused.score,
        arms={arm: of_arm[note.seq] for arm, of_arm in places.items() if note.seq in of_arm},
        trust=note.trust,
        trust_reason=note.trust_reason,
        keywords=note.keywords,
        scope=note.scope,
        kind=particulars.kind,
        applies_to=particulars.applies_to,
    )


def _places(gathered: Gathered) -> dict[str, dict[int, ArmPlace]]:
    return {
        VECTOR_ARM: _in_order(gathered.near.cosines.items()),
        WORDS_ARM: _in_order(gathered.words.words.items()),
        PIECES_ARM: _in_order(gathered.words.pieces.items()),
        SIGNATURE_ARM: _in_order(gathered.signatures.scores.items()),
    }


def _in_order(scores: Iterable[tuple[int, float]]) -> dict[int, ArmPlace]:
    return {
        seq: ArmPlace(rank=rank, score=score) for rank, (seq, score) in enumerate(scores, start=1)
    }
