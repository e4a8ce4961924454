"""What it is worth that a question and notes share signatures: the same error, or hints of one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graft_memstore.signature import Kind, Signature, Traits

EXACT = 1.0
"""What it is worth that two texts tell of one error."""
LOOSE_MAX = 0.9
LOOSE_MIN = 0.45
"""Hints from which two texts tell of errors of one kind."""
ELSEWHERE_WEIGHT = 0.8
"""The same message, but from another function."""
CITED_WEIGHT = 0.6
"""The same few words."""
WRAPPED_WEIGHT = 0.3
"""Something in common, but only of what is around causes that differ."""
SKELETON_WEIGHT = 0.6
"""The same sentence with other names in it, where one of the two has none…"""
OTHER_NAMES_WEIGHT = 0.15
"""…and where both have, and share none."""
NAME_WEIGHT = 0.4
KIND_WEIGHT = 0.5
"""The same type or code, where one of the two texts does not tell its message."""
KIND_TOO_WEIGHT = 0.3
"""The same type or code besides something of the message."""
KIND_ALONE_WEIGHT = 0.2
"""The same type or code, and nothing in common of the messages."""


def agreement(
    asked: Sequence[Signature], held: Mapping[int, Mapping[int, Traits]]
) -> dict[int, float]:
    """Return what notes are worth that share signatures with a question, by their numbers.

    Args:
        asked: the question's signatures.
        held: by digest, the notes that have it, and what is known of the error there.

    Returns:
        `EXACT` for a note with one of the question's errors, at most `LOOSE_MAX` for others.
    """
    shared: dict[tuple[int, int], list[_Shared]] = {}
    for signature in asked:
        notes = held.get(signature.digest, {})
        for note, traits in notes.items():
            each = _Shared(
                kind=signature.kind,
                asked=signature.traits,
                held=traits,
                rarity=1.0 / math.sqrt(len(notes)),
            )
            shared.setdefault((note, signature.failure), []).append(each)
    scores: dict[int, float] = {}
    for (note, _), of_failure in shared.items():
        scores[note] = max(_score(of_failure), scores.get(note, 0.0))
    return scores


def strength(score: float) -> float:
    """Return 1 for the same error, 0.5 for one of the same kind, 0 for less."""
    if score >= EXACT:
        return 1.0
    return 0.5 if score >= LOOSE_MIN else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """One signature that a question and a note share.

    Attributes:
        rarity: 1 where no other note has it, less the more do.
    """

    kind: Kind
    asked: Traits
    held: Traits
    rarity: float

    @property
    def both(self) -> Traits:
        """What is known on both sides."""
        return self.asked & self.held


def _score(shared: Sequence[_Shared]) -> float:
    """Return what the signatures are worth that one error of a question shares with a note."""
    if any(_identifies(each) for each in shared):
        return EXACT
    if all(Traits.WRAPPED in each.both for each in shared):
        return WRAPPED_WEIGHT
    by_kind = {kind: [each for each in shared if each.kind is kind] for kind in Kind}
    named = max((NAME_WEIGHT * each.rarity for each in by_kind[Kind.NAME]), default=0.0)
    words = max(
        (
            *(_worth_of_message(each) * each.rarity for each in by_kind[Kind.MESSAGE]),
            *(_worth_of_skeleton(each, named) * each.rarity for each in by_kind[Kind.SKELETON]),
        ),
        default=0.0,
    )
    kinds = (*by_kind[Kind.TYPE], *by_kind[Kind.CODE])
    agreed = named + words > OTHER_NAMES_WEIGHT
    kind = max((_worth_of_kind(each, agreed=agreed) * each.rarity for each in kinds), default=0.0)
    return min(named + words + kind, LOOSE_MAX)


def _identifies(shared: _Shared) -> bool:
    """Tell whether two texts that share this tell of one error.

    What was said in the same function is one error. What was said alone is one, too, unless both
    know of a function and it is not the same. Where both know of a cause, that one identifies.
    """
    if shared.kind is Kind.PLACE:
        return Traits.WRAPPED not in shared.both
    cited = Traits.CITED in (shared.asked | shared.held)
    bound = shared.both & (Traits.PLACED | Traits.WRAPPED)
    return shared.kind is Kind.MESSAGE and not cited and not bound


def _worth_of_message(shared: _Shared) -> float:
    return CITED_WEIGHT if Traits.CITED in (shared.asked | shared.held) else ELSEWHERE_WEIGHT


def _worth_of_skeleton(shared: _Shared, named: float) -> float:
    return OTHER_NAMES_WEIGHT if Traits.NAMED in shared.both and not named else SKELETON_WEIGHT


def _worth_of_kind(shared: _Shared, *, agreed: bool) -> float:
    if agreed:
        return KIND_TOO_WEIGHT
    return KIND_ALONE_WEIGHT if Traits.SPOKEN in shared.both else KIND_WEIGHT
