"""Which sequences share a decode."""

from hypothesis import given
from hypothesis import strategies as st

from graft_embedder.batches import plan, plan_alone
from graft_embedder.limits import SEQUENCES_MAX


@given(lengths=st.lists(st.integers(1, 300), max_size=200), tokens_max=st.integers(16, 512))
def test_every_sequence_is_in_exactly_one_decode_within_the_limits(
    lengths: list[int], tokens_max: int
) -> None:
    groups = plan(lengths, tokens_max)

    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or sum(lengths[index] for index in group) <= tokens_max
        assert len(group) <= SEQUENCES_MAX


def test_the_longest_come_first() -> None:
    assert plan([10, 200, 50, 60], 240) == [(1,), (3, 2, 0)]


def test_sequences_of_half_the_limit_go_alone() -> None:
    assert plan([120, 120, 119, 119], 240) == [(0,), (1,), (2, 3)]


def test_queries_never_share_a_decode() -> None:
    assert plan_alone([5, 6, 7]) == [(0,), (1,), (2,)]
