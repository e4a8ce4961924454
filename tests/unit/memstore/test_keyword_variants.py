import pytest

from graft_memstore.keyword_variants import Likeness, Variant, find_variants


@pytest.mark.parametrize(
    ("variant", "keep", "likeness"),
    [
        ("CI", "ci", Likeness.SPELLING),
        ("\uff43\uff49", "ci", Likeness.SPELLING),
        ("pools", "pool", Likeness.FORM),
        ("caches", "cache", Likeness.FORM),
        ("policies", "policy", Likeness.FORM),
        ("boxes", "box", Likeness.FORM),
        ("pre-commit", "precommit", Likeness.FORM),
        ("dead_letter", "dead-letter", Likeness.FORM),
        ("kubernets", "kubernetes", Likeness.SLIP),
        ("postgers", "postgres", Likeness.SLIP),
        ("grefana", "grafana", Likeness.SLIP),
    ],
)
def test_the_spelling_that_is_used_less_is_a_variant(
    variant: str, keep: str, likeness: Likeness
) -> None:
    found = find_variants({keep: 4, variant: 1, "unrelated": 9})

    assert found == [Variant(variant=variant, keep=keep, likeness=likeness)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http2", "http3"),
        ("python3.1", "python31"),
        ("test", "text"),
        ("redis", "redi"),
        ("docker", "locker"),
        ("status", "statu"),
        ("c", "c++"),
        ("日本", "日光"),
    ],
)
def test_keywords_that_mean_two_things_are_no_variants(one: str, other: str) -> None:
    assert find_variants({one: 9, other: 1}) == []


def test_two_words_that_are_used_alike_are_no_slip_of_one_another() -> None:
    assert find_variants({"grafana": 4, "grefana": 2}) == []
