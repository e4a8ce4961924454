"""Recent texts: kept under their options, bounded by bytes."""

import numpy as np
import pytest

from graft_embedder.preparation import Options, Purpose
from graft_embedder.result_cache import ResultCache, TextVectors

QUERY = Options(purpose=Purpose.QUERY)


def result(tokens: int = 1) -> TextVectors:
    """Return a result of 4 numbers."""
    return TextVectors(
        spans=((0, 1),),
        vectors=np.zeros((1, 4), np.float32),
        tokens=tokens,
        uncovered=1,
        truncated=False,
    )


def test_a_text_is_found_only_under_its_own_options() -> None:
    cache = ResultCache(10_000, 1_000)

    cache.put(QUERY, "a", result(7))

    kept = cache.get(QUERY, "a")
    assert kept is not None
    assert kept.tokens == 7
    assert cache.get(Options(purpose=Purpose.PASSAGE), "a") is None
    assert cache.get(Options(purpose=Purpose.QUERY, query_tokens_max=48), "a") is None


def test_the_least_recently_used_goes_first() -> None:
    cache = ResultCache(2 * 532, 1_000)
    cache.put(QUERY, "a", result())
    cache.put(QUERY, "b", result())
    cache.get(QUERY, "a")

    cache.put(QUERY, "c", result())

    assert cache.get(QUERY, "b") is None
    assert cache.get(QUERY, "a") is not None
    assert cache.get(QUERY, "c") is not None


@pytest.mark.parametrize("text", ["x" * 251, "é" * 251])
def test_a_long_text_is_not_kept(text: str) -> None:
    cache = ResultCache(10_000, 1_000)

    cache.put(QUERY, text, result())

    assert cache.get(QUERY, text) is None


def test_putting_a_text_again_does_not_count_it_twice() -> None:
    cache = ResultCache(2 * 532, 1_000)

    for _ in range(10):
        cache.put(QUERY, "a", result())
    cache.put(QUERY, "b", result())

    assert cache.get(QUERY, "a") is not None
