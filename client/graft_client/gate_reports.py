"""How the gate does on a profile's own notes, as plain data; fields as in the JSON output."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRate:
    """How many of how many; the real share lies between *low* and *high*, 95 times in 100."""

    count: int
    total: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRates:
    """How often a threshold is wrong.

    Attributes:
        false_strong: of the questions that no note answers, those whose answer was STRONG.
        missed_strong: of the others, those whose note was not handed out as STRONG.
    """

    false_strong: GateRate
    missed_strong: GateRate


@dataclass(frozen=True, slots=True, kw_only=True)
class GateKindRate:
    """How often a threshold is wrong on questions of one kind.

    Attributes:
        kind: what they were made of: "title", "passage", or "mixed", halves of two titles.
        answerable: the note was there that answers.
        wrong: missed STRONG where it was, else false STRONG.
    """

    kind: str
    answerable: bool
    wrong: GateRate


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Answers with a probability from *low* to below *high*; *predicted* is their mean."""

    low: float
    high: float
    predicted: float
    right: GateRate


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What measuring the gate gave.

    Attributes:
        notes: those that questions were made of.
        strong: least probability of a STRONG answer at present.
        strong_is_own: that is the profile's own.
        strong_fitted: the one that comes with the program.
        strong_passed_over: one of the profile's own that was measured with another model or gate.
        strong_proposed: the one that is proposed; the present one where none is better.
        rates: by all questions, at present.
        by_kind: the same by each kind of question.
        held_out: the same by the questions that the proposal was not chosen by.
        held_out_proposed: by these, with the proposal.
        objections: why the proposal is not applied, or would not be; empty for nothing.
        applied: it is the profile's own now.
    """

    notes: int
    strong: float
    strong_is_own: bool
    strong_fitted: float
    strong_passed_over: float | None
    strong_proposed: float
    rates: GateRates
    by_kind: tuple[GateKindRate, ...]
    held_out: GateRates
    held_out_proposed: GateRates
    calibration: tuple[CalibrationBin, ...]
    objections: tuple[str, ...]
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStep:
    """How far measuring is, in questions; the last step has the *report*."""

    done: int
    total: int
    report: GateReport | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReset:
    """Whether the profile had a threshold of its own, and what is STRONG from now on."""

    was_set: bool
    strong: float
