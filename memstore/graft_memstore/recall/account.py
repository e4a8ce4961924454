"""The gate's own account of an answer: names and figures, which are all that a receipt knows of it.

Nothing else that explains answers looks into the gate.
"""

from dataclasses import dataclass, fields

from graft_memstore.gate import (
    Contribution,
    GateModel,
    Hit,
    Rules,
    Signals,
    contributions,
    words_agree,
)

WORDS_AGREE = "words_agree"
"""The rule that something besides the vector must speak for a STRONG answer."""

RISING = (Hit.MISS, Hit.WEAK, Hit.STRONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """From which probability on an answer is *hit*, if the rules allow.

    Attributes:
        own: it is the profile's own, not the fitted one.
    """

    hit: Hit
    probability: float
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """One hard rule.

    Attributes:
        kept: the best candidate keeps it.
        lowered: it is broken, and the probability alone would have given more.
    """

    name: str
    kept: bool
    lowered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What the gate made of the best candidate.

    Attributes:
        bias: what the logit is without any signal.
        signals: what each adds to it; empty when there was no candidate.
        thresholds: STRONG first.
        rules: empty when there was no candidate.
    """

    bias: float
    signals: tuple[Contribution, ...]
    thresholds: tuple[Threshold, ...]
    rules: tuple[RuleOutcome, ...]


def no_candidate(gate: GateModel) -> Account:
    """Return the account of an answer that nothing stood for."""
    return Account(bias=gate.bias, signals=(), thresholds=_thresholds(gate), rules=())


def account_of(signals: Signals, rules: Rules, chance: float, hit: Hit, gate: GateModel) -> Account:
    """Return how *gate* came from *signals* and *rules* to a probability and an answer."""
    thresholds = _thresholds(gate)
    reached = [each.hit for each in thresholds if chance >= each.probability]
    by_probability = max(reached, key=RISING.index, default=Hit.MISS)
    return Account(
        bias=gate.bias,
        signals=contributions(signals, gate),
        thresholds=thresholds,
        rules=_outcomes(signals, rules, lowered=RISING.index(hit) < RISING.index(by_probability)),
    )


def _thresholds(gate: GateModel) -> tuple[Threshold, ...]:
    return (
        Threshold(hit=Hit.STRONG, probability=gate.strong, own=gate.strong_is_own),
        Threshold(hit=Hit.WEAK, probability=gate.weak, own=False),
    )


def _outcomes(signals: Signals, rules: Rules, *, lowered: bool) -> tuple[RuleOutcome, ...]:
    """Return every rule, and whether it is among those that lowered the answer."""
    kept = {each.name: bool(getattr(rules, each.name)) for each in fields(rules)}
    kept[WORDS_AGREE] = words_agree(signals)
    return tuple(
        RuleOutcome(name=name, kept=holds, lowered=lowered and not holds)
        for name, holds in kept.items()
    )
