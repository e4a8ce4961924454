"""Picks the best of several that do not all say the same: maximal marginal relevance."""

from collections.abc import Callable, Sequence

Likeness = Callable[[int], Sequence[float]]
"""Takes the place of one candidate, gives its cosine with each of them."""


def choose_diverse(
    scores: Sequence[float], likeness: Likeness, count: int, penalty: float
) -> list[int]:
    """Return the places of at most *count* candidates, in the order in which they were picked.

    Each pick is the one with the highest score left, *penalty* times its greatest likeness to one
    that was picked before taken off; a likeness below 0 counts as none. Among equals the first
    candidate wins.
    """
    nearest = [0.0] * len(scores)
    left = list(range(len(scores)))
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda place: scores[place] - penalty * nearest[place])
        left.remove(best)
        chosen.append(best)
        for place, cosine in enumerate(likeness(best)):
            nearest[place] = max(nearest[place], cosine)
    return chosen
