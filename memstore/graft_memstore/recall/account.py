"""The gate's own account of an answer: names and figures, which are all that a receipt knows of it.

Nothing else that explains answers looks into the gate.
"""

from dataclasses import dataclass, fields

from graft_memstore.gate import (
    Contribution,
    Hit,
    Rules,
    Signals,
    contributions,
    words_agree,
)
from graft_memstore.gate_model import GATE_MODEL

WORDS_AGREE = "words_agree"
"""The rule that something besides the vector must speak for a STRONG answer."""

RISING = (Hit.MISS, Hit.WEAK, Hit.STRONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """From which probability on an answer is *hit*, if the rules allow."""

    hit: Hit
    probability: float


THRESHOLDS = (
    Threshold(hit=Hit.STRONG, probability=GATE_MODEL.strong),
    Threshold(hit=Hit.WEAK, probability=GATE_MODEL.weak),
)


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


NO_CANDIDATE = Account(bias=GATE_MODEL.bias, signals=(), thresholds=THRESHOLDS, rules=())


def account_of(signals: Signals, rules: Rules, chance: float, hit: Hit) -> Account:
    """Return how the gate came from *signals* and *rules* to a probability and an answer."""
    return Account(
        bias=GATE_MODEL.bias,
        signals=contributions(signals, GATE_MODEL),
        thresholds=THRESHOLDS,
        rules=_outcomes(signals, rules, chance, hit),
    )


def _outcomes(signals: Signals, rules: Rules, chance: float, hit: Hit) -> tuple[RuleOutcome, ...]:
    """Return every rule, and whether it is among those that lowered the answer."""
    kept = {each.name: bool(getattr(rules, each.name)) for each in fields(rules)}
    kept[WORDS_AGREE] = words_agree(signals)
    reached = [each.hit for each in THRESHOLDS if chance >= each.probability]
    by_probability = max(reached, key=RISING.index, default=Hit.MISS)
    lowered = RISING.index(hit) < RISING.index(by_probability)
    return tuple(
        RuleOutcome(name=name, kept=holds, lowered=lowered and not holds)
        for name, holds in kept.items()
    )
