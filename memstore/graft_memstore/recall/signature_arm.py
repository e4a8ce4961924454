"""Finds notes that tell of the same error as a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graft_memstore.agreement import agreement, strength
from graft_memstore.signature import Signature, Traits, is_printed
from graft_memstore.store.database import Connection
from graft_memstore.store.search import Eligible
from graft_memstore.store.signatures import holders_of, tell_errors

HOLDERS_MAX = 32
"""Notes that are looked at for one signature; one that more have is worth next to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureHits:
    """Notes that share an error's signatures with a question.

    Attributes:
        scores: by the note's seq, see `agreement`; best first, ties to the newer note.
        printed: the question holds an error as a program printed it.
    """

    scores: Mapping[int, float]
    printed: bool

    def strength(self, seq: int) -> float:
        """Return how far a note tells of the same error: 0, 0.5 or 1."""
        return strength(self.scores.get(seq, 0.0))


def find_by_signature(
    connection: Connection, signatures: Sequence[Signature], eligible: Eligible, count: int
) -> SignatureHits:
    """Return at most *count* notes of those that may answer."""
    if not signatures:
        return SignatureHits(scores={}, printed=False)
    digests = [each.digest for each in signatures]
    held = holders_of(connection, digests, eligible, HOLDERS_MAX)
    return SignatureHits(
        scores=best_holders(signatures, held, count), printed=is_printed(signatures)
    )


def best_holders(
    signatures: Sequence[Signature], held: Mapping[int, Mapping[int, Traits]], count: int
) -> dict[int, float]:
    """Return what the best *count* notes are worth, see `agreement`; ties to the newer note."""
    scores = agreement(signatures, held)
    best_first = sorted(scores, key=lambda seq: (-scores[seq], -seq))[:count]
    return {seq: scores[seq] for seq in best_first}


def tell_other_errors(connection: Connection, hits: SignatureHits, seqs: Sequence[int]) -> set[int]:
    """Return which of the notes listed tell of an error that is none of the question's."""
    if not hits.printed:
        return set()
    unlike = [seq for seq in seqs if hits.strength(seq) == 0.0]
    return tell_errors(connection, unlike)
