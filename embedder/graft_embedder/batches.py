"""Which sequences share a decode."""

from collections.abc import Sequence

from graft_embedder.limits import SEQUENCES_MAX


def plan(lengths: Sequence[int], tokens_max: int) -> list[tuple[int, ...]]:
    """Group sequences, given by their *lengths*, into decodes of at most *tokens_max* tokens.

    Longest first, so that those in one decode are of about one length. A sequence of half the
    limit or more goes alone: two of them in one decode are slower than one after the other.
    """
    groups: list[tuple[int, ...]] = []
    group: list[int] = []
    total = 0
    for index in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        length = lengths[index]
        full = total + length > tokens_max or len(group) == SEQUENCES_MAX
        if group and (full or 2 * lengths[group[0]] >= tokens_max):
            groups.append(tuple(group))
            group, total = [], 0
        group.append(index)
        total += length
    if group:
        groups.append(tuple(group))
    return groups


def plan_alone(lengths: Sequence[int]) -> list[tuple[int, ...]]:
    """Put every sequence into a decode of its own, in order.

    Quantised activations move a vector by up to 0.0007 in cosine with the shape of its batch;
    queries are embedded alone so that the same query always has the same vector.
    """
    return [(index,) for index in range(len(lengths))]
