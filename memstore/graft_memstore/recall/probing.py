"""Asks the notes of a profile what was made of them, with and without the note that answers."""

from collections.abc import Sequence
from typing import TypeVar

from graft_memstore.gate import GateModel, may_be_strong
from graft_memstore.measurement import Outcome
from graft_memstore.model import NoteKind, ScopeFilter
from graft_memstore.probes import Probe, ProbeNote
from graft_memstore.recall.answer import Question
from graft_memstore.recall.arms import gather
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import CANDIDATES_WANTED, judge
from graft_memstore.store.applies import PLAIN, read_particulars
from graft_memstore.store.database import Connection
from graft_memstore.store.folded import FOLDED_CHARS_MAX
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.search import Eligible, FoundNote, found_notes, last_seq
from graft_memstore.visibility import MAY_BE_STRONG

PROBED_MAX = 200
"""Notes that questions are made of; of more, so many evenly from old to new."""
LOOKED_AT_MAX = 2_000
"""Numbers of notes that are looked at to find them."""


ItemT = TypeVar("ItemT")


def notes_to_probe(connection: Connection, now_ms: int) -> list[ProbeNote]:
    """Return notes that may be STRONG answers, in the order in which they were stored.

    Long bodies are cut at `FOLDED_CHARS_MAX`, further than which no question is compared with them.
    """
    seqs = _evenly(range(1, last_seq(connection) + 1), LOOKED_AT_MAX)
    found = found_notes(connection, seqs, Eligible(scope=ScopeFilter(all=True), now_ms=now_ms))
    particulars = read_particulars(connection, seqs)

    def may_answer(note: FoundNote) -> bool:
        kind = particulars.get(note.seq, PLAIN).kind
        return note.trust in MAY_BE_STRONG and kind is not NoteKind.DEAD_END

    chosen = _evenly([found[seq] for seq in sorted(found) if may_answer(found[seq])], PROBED_MAX)
    full = read_full_notes(connection, [each.note_id for each in chosen])
    return [
        ProbeNote(
            seq=each.seq,
            title=each.title,
            body=note.body[:FOLDED_CHARS_MAX],
            scope=each.scope,
        )
        for each, note in zip(chosen, full, strict=True)
    ]


def ask(
    connection: Connection, index: VectorIndex, question: Question, probe: Probe, gate: GateModel
) -> Outcome:
    """Return what *gate* makes of *probe*, put as *question*."""
    gathered = gather(connection, index, question, CANDIDATES_WANTED)
    judged = judge(connection, gathered, question.context, gate)
    allowed = [each for each in judged if may_be_strong(each.signals, each.rules)]
    best = max(allowed, key=lambda each: each.chance, default=None)
    answerable = probe.answered and not question.without
    return Outcome(
        kind=probe.kind,
        answerable=answerable,
        probability=best.chance if best else 0.0,
        right=answerable and best is not None and best.note.seq == probe.note.seq,
        held_out=probe.held_out,
    )


def _evenly(items: Sequence[ItemT], count: int) -> list[ItemT]:
    """Return *count* of *items*, evenly from the first to the last; all where there are fewer."""
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]
