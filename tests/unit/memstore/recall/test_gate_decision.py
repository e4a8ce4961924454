"""What the gate makes of signals."""

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.gate import (
    STANDING_ALONE,
    Coefficient,
    GateModel,
    Hit,
    Rules,
    Signals,
    contributions,
    decide,
    features,
    probability,
    words_agree,
)
from graft_memstore.gate_model import GATE_MODEL

FREE = Rules(
    all_arms=True,
    may_be_strong=True,
    is_answer=True,
    applies=True,
    has_vectors=True,
    error_fits=True,
    numbers_fit=True,
)
PARAPHRASE = Signals(
    title=4.0,
    passage=4.2,
    margin=2.5,
    coverage=0.6,
    stretch=0.6,
    shared=12.0,
    missing=0.1,
    missing_rarest=1.0,
    uncovered_rarest=2.0,
    title_coverage=0.4,
    title_trigrams=0.4,
    words=1.0,
    named=0,
    unnamed=0,
    differing=0,
    opposite=0,
    youth=0.1,
)
STRANGER = replace(
    PARAPHRASE,
    title=0.3,
    passage=0.1,
    margin=0.1,
    coverage=0.05,
    stretch=0.05,
    shared=0.5,
    missing=0.5,
    missing_rarest=4.0,
    uncovered_rarest=4.0,
    title_coverage=0.05,
    title_trigrams=0.05,
)
any_number = st.floats(-50, 50)
share = st.floats(0, 1)
any_signals = st.builds(
    Signals,
    title=any_number,
    passage=any_number,
    margin=any_number,
    coverage=share,
    stretch=share,
    shared=st.floats(0, 60),
    missing=share,
    missing_rarest=st.floats(0, 6),
    uncovered_rarest=st.floats(0, 6),
    title_coverage=share,
    title_trigrams=share,
    words=share,
    named=st.integers(0, 20),
    unnamed=st.integers(0, 20),
    differing=st.integers(0, 5),
    opposite=st.integers(0, 5),
    youth=share,
    signature=st.sampled_from([0.0, 0.5, 1.0]),
)
any_rules = st.builds(Rules, **{each.name: st.booleans() for each in fields(Rules)})


def test_a_paraphrase_is_strong_and_a_stranger_a_miss() -> None:
    assert decide(PARAPHRASE, FREE, GATE_MODEL) == Hit.STRONG
    assert decide(STRANGER, FREE, GATE_MODEL) == Hit.MISS


@pytest.mark.parametrize("rules", [replace(FREE, **{each.name: False}) for each in fields(Rules)])
def test_any_one_rule_keeps_a_paraphrase_from_being_strong(rules: Rules) -> None:
    assert decide(PARAPHRASE, rules, GATE_MODEL) == Hit.WEAK


@given(signals=any_signals, rules=any_rules)
def test_strong_needs_every_rule_and_something_besides_the_vector(
    signals: Signals, rules: Rules
) -> None:
    if decide(signals, rules, GATE_MODEL) == Hit.STRONG:
        assert rules == FREE
        assert probability(signals, GATE_MODEL) >= GATE_MODEL.strong
        assert words_agree(signals)


@given(signals=any_signals)
def test_a_probability_lies_between_none_and_one(signals: Signals) -> None:
    assert 0.0 <= probability(signals, GATE_MODEL) <= 1.0


@given(signals=any_signals, more=st.floats(0, 10))
def test_what_speaks_for_a_candidate_never_lowers_its_probability(
    signals: Signals, more: float
) -> None:
    for name in (
        "title",
        "passage",
        "margin",
        "coverage",
        "stretch",
        "shared",
        "words",
        "signature",
    ):
        raised = replace(signals, **{name: getattr(signals, name) + more})
        assert probability(raised, GATE_MODEL) >= probability(signals, GATE_MODEL)


@given(signals=any_signals, more=st.integers(0, 10))
def test_what_speaks_against_a_candidate_never_raises_its_probability(
    signals: Signals, more: int
) -> None:
    for name in ("missing", "missing_rarest", "uncovered_rarest", "unnamed", "opposite"):
        raised = replace(signals, **{name: getattr(signals, name) + more})
        assert probability(raised, GATE_MODEL) <= probability(signals, GATE_MODEL)


@given(signals=any_signals)
def test_contributions_and_bias_are_the_whole_logit(signals: Signals) -> None:
    added = contributions(signals, GATE_MODEL)

    logit = GATE_MODEL.bias + sum(each.contribution for each in added)
    assert {each.name: each.value for each in added} == features(signals)
    assert probability(signals, GATE_MODEL) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_the_model_weighs_what_there_is() -> None:
    assert set(GATE_MODEL.coefficients) <= set(features(PARAPHRASE))


def test_a_signal_counts_no_further_than_it_was_seen() -> None:
    model = GateModel(
        bias=0.0,
        coefficients={"passage": Coefficient(weight=2.0, low=-1.0, high=3.0)},
        strong=0.7,
        weak=0.2,
    )

    added = {each.name: each for each in contributions(replace(PARAPHRASE, passage=9.0), model)}

    assert (added["passage"].value, added["passage"].contribution) == (9.0, 6.0)
    assert {name for name, each in added.items() if each.contribution} == {"passage"}


def test_a_vector_alone_is_not_strong() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.9, passage=3.9)
    silent = replace(silent, margin=4.0)

    assert not words_agree(silent)
    assert decide(silent, FREE, GATE_MODEL) != Hit.STRONG


def test_another_language_comes_in_by_a_shared_identifier_or_a_vector_far_out() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.0, passage=3.0)

    assert words_agree(replace(silent, named=1))
    assert words_agree(replace(silent, passage=STANDING_ALONE))
    assert not words_agree(silent)


def test_the_same_error_stands_in_for_words_that_agree() -> None:
    silent = replace(PARAPHRASE, coverage=0.1, title_trigrams=0.1, title=3.0, passage=3.0)
    down = replace(FREE, all_arms=False)

    assert decide(replace(silent, signature=1.0), FREE, GATE_MODEL) == Hit.STRONG
    assert not words_agree(replace(silent, signature=0.5))
    assert decide(replace(silent, signature=1.0), down, GATE_MODEL) == Hit.WEAK


def test_words_alone_make_a_note_weak_when_they_cover_the_question() -> None:
    down = replace(FREE, all_arms=False)
    alone = replace(STRANGER, title=0.0, passage=0.0)

    assert decide(replace(alone, coverage=0.5), down, GATE_MODEL) == Hit.WEAK
    assert decide(replace(alone, coverage=0.49), down, GATE_MODEL) == Hit.MISS


def test_signals_are_listed_in_a_fixed_order() -> None:
    listed = [name for name, _ in PARAPHRASE.listed()]

    assert listed[:4] == ["title", "passage", "margin", "coverage"]
    assert listed[-1] == "signature"


def test_the_thresholds_stand_in_order() -> None:
    assert 0.0 < GATE_MODEL.weak < GATE_MODEL.strong < 1.0
