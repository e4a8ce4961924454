"""What the gate makes of signals."""

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.gate import (
    BIAS,
    STANDING_ALONE,
    STRONG_PROBABILITY,
    WEAK_PROBABILITY,
    Hit,
    Rules,
    Signals,
    contributions,
    decide,
    probability,
    words_agree,
)

FREE = Rules(
    all_arms=True,
    may_be_strong=True,
    is_answer=True,
    applies=True,
    has_vectors=True,
    error_fits=True,
)
PARAPHRASE = Signals(
    title=4.0, passage=4.2, margin=2.5, coverage=0.6, title_trigrams=0.4, words=1.0, named=0
)
STRANGER = Signals(
    title=0.3, passage=0.1, margin=0.1, coverage=0.05, title_trigrams=0.05, words=1.0, named=0
)
any_number = st.floats(-50, 50)
share = st.floats(0, 1)
any_signals = st.builds(
    Signals,
    title=any_number,
    passage=any_number,
    margin=any_number,
    coverage=share,
    title_trigrams=share,
    words=share,
    named=st.integers(0, 20),
    signature=st.sampled_from([0.0, 0.5, 1.0]),
)
any_rules = st.builds(Rules, **{each.name: st.booleans() for each in fields(Rules)})


def test_a_paraphrase_is_strong_and_a_stranger_a_miss() -> None:
    assert decide(PARAPHRASE, FREE) == Hit.STRONG
    assert decide(STRANGER, FREE) == Hit.MISS


@pytest.mark.parametrize("rules", [replace(FREE, **{each.name: False}) for each in fields(Rules)])
def test_any_one_rule_keeps_a_paraphrase_from_being_strong(rules: Rules) -> None:
    assert decide(PARAPHRASE, rules) == Hit.WEAK


@given(signals=any_signals, rules=any_rules)
def test_strong_needs_every_rule_and_something_besides_the_vector(
    signals: Signals, rules: Rules
) -> None:
    if decide(signals, rules) == Hit.STRONG:
        assert rules == FREE
        assert probability(signals) >= STRONG_PROBABILITY
        assert words_agree(signals)


@given(signals=any_signals)
def test_a_probability_lies_between_none_and_one(signals: Signals) -> None:
    assert 0.0 <= probability(signals) <= 1.0


@given(signals=any_signals)
def test_what_the_signals_add_is_the_logit(signals: Signals) -> None:
    added = contributions(signals)

    logit = BIAS + sum(each.contribution for each in added)
    assert [(each.name, each.value) for each in added] == list(signals.listed())
    assert probability(signals) == pytest.approx(1 / (1 + math.exp(-logit)))


@given(signals=any_signals, more=st.floats(0, 10))
def test_more_of_a_signal_never_lowers_the_probability(signals: Signals, more: float) -> None:
    names = ("title", "passage", "margin", "coverage", "title_trigrams", "words", "signature")
    for name in names:
        raised = replace(signals, **{name: getattr(signals, name) + more})
        assert probability(raised) >= probability(signals)


def test_a_vector_alone_is_not_strong() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.9, passage=3.9)
    silent = replace(silent, margin=4.0)

    assert not words_agree(silent)
    assert decide(silent, FREE) != Hit.STRONG


def test_another_language_comes_in_by_a_shared_identifier_or_a_vector_far_out() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.0, passage=3.0)

    assert words_agree(replace(silent, named=1))
    assert words_agree(replace(silent, passage=STANDING_ALONE))
    assert not words_agree(silent)


def test_the_same_error_stands_in_for_words_that_agree() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.0, passage=3.0)
    down = replace(FREE, all_arms=False)

    assert decide(replace(silent, signature=1.0), FREE) == Hit.STRONG
    assert not words_agree(replace(silent, signature=0.5))
    assert decide(replace(silent, signature=1.0), down) == Hit.WEAK


def test_words_alone_make_a_note_weak_when_they_cover_the_question() -> None:
    down = replace(FREE, all_arms=False)
    alone = replace(STRANGER, title=0.0, passage=0.0)

    assert decide(replace(alone, coverage=0.5), down) == Hit.WEAK
    assert decide(replace(alone, coverage=0.49), down) == Hit.MISS


def test_signals_are_listed_in_a_fixed_order() -> None:
    assert [name for name, _ in PARAPHRASE.listed()] == [
        "title",
        "passage",
        "margin",
        "coverage",
        "title_trigrams",
        "words",
        "named",
        "signature",
    ]


def test_the_thresholds_stand_in_order() -> None:
    assert 0.0 < WEAK_PROBABILITY < STRONG_PROBABILITY < 1.0
