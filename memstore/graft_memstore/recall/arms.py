"""Asks every arm of a search in one snapshot and puts what they say side by side."""

from dataclasses import dataclass

from graft_memstore.fusion import ArmScores, Fused, blend, fuse
from graft_memstore.lexical import FoldedQuestion, fold_question
from graft_memstore.model import Background
from graft_memstore.recall.answer import (
    PIECES_ARM,
    SIGNATURE_ARM,
    VECTOR_ARM,
    WORDS_ARM,
    Question,
)
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.signature_arm import SignatureHits, find_by_signature
from graft_memstore.recall.vector_arm import NearNotes, VectorSearch, aspects_of, find_near
from graft_memstore.recall.words_arm import WordHits, find_by_words
from graft_memstore.store.database import Connection
from graft_memstore.store.search import Eligible

NOTHING_NEAR = NearNotes(cosines={}, background=Background(mean=0.0, deviation=0.0, count=0.0))
DOWN = (VECTOR_ARM,)
LOOKED_UP_MAX = 32
"""Notes that only words or signatures found whose vectors are looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What all arms say.

    Attributes:
        search: what the vector arm was asked; None when it could not be.
        background: cosines of the question with unrelated texts.
        ranked: every candidate, best first.
        arms: those that were asked.
        degraded: arms that could not be had.
    """

    question: FoldedQuestion
    eligible: Eligible
    search: VectorSearch | None
    background: Background
    near: NearNotes
    words: WordHits
    signatures: SignatureHits
    ranked: list[Fused]
    arms: tuple[str, ...]
    degraded: tuple[str, ...]


def gather(
    connection: Connection, index: VectorIndex | None, question: Question, wanted: int
) -> Gathered:
    """Return the candidates of every arm, at least *wanted* of each that finds so many."""
    eligible = question.eligible
    search = None
    if index is not None and question.vector is not None:
        search = VectorSearch(
            connection=connection,
            index=index,
            vector=question.vector,
            eligible=eligible,
            wanted=wanted,
        )
    # Words that a paste has around its error would outweigh the error's own.
    folded = fold_question(question.said.focus)
    near = find_near(search) if search else NOTHING_NEAR
    words = find_by_words(connection, folded, eligible, wanted)
    signatures = find_by_signature(connection, question.said.signatures, eligible, wanted)
    background = blend(question.prior, near.background)
    return Gathered(
        question=folded,
        eligible=eligible,
        search=search,
        background=background,
        near=near,
        words=words,
        signatures=signatures,
        ranked=fuse(_side_by_side(search, near, words, signatures), background),
        arms=(
            *((VECTOR_ARM,) if search else ()),
            WORDS_ARM,
            PIECES_ARM,
            *((SIGNATURE_ARM,) if question.said.signatures else ()),
        ),
        # A store without notes has nothing that a vector could miss.
        degraded=() if search or (question.vector is not None and not words.notes) else DOWN,
    )


def _side_by_side(
    search: VectorSearch | None, near: NearNotes, words: WordHits, signatures: SignatureHits
) -> list[ArmScores]:
    """Return each candidate with what every arm says, looking up vectors that are not known."""
    others = list(dict.fromkeys([*signatures.scores, *words.words, *words.pieces]))
    cosines: dict[int, float | None] = dict(near.cosines)
    if search:
        unknown = [seq for seq in others if seq not in cosines][:LOOKED_UP_MAX]
        for seq, aspects in aspects_of(search, unknown).items():
            cosines[seq] = aspects.nearest
    return [
        ArmScores(
            seq=seq,
            cosine=cosines.get(seq),
            words=words.words.get(seq),
            pieces=words.pieces.get(seq),
            signature=signatures.scores.get(seq),
        )
        for seq in dict.fromkeys([*near.cosines, *others])
    ]
