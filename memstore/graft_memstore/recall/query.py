"""Asks whether a problem has been seen before: one snapshot, all arms, one answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graft_memstore.applicability import Context
from graft_memstore.fusion import Fused, standing
from graft_memstore.gate import (
    COVERAGE_AGREES,
    MARGIN_WITHOUT_RUNNER_UP,
    WEAK_STANDING,
    GateModel,
    Hit,
    Rules,
    Signals,
    decide,
    probability,
    words_agree,
)
from graft_memstore.gate_model import GATE_MODEL
from graft_memstore.recall.account import account_of, no_candidate
from graft_memstore.recall.answer import (
    DeadEnd,
    Grounds,
    LookedAt,
    NearTitle,
    QueryAnswer,
    Question,
)
from graft_memstore.recall.arms import Gathered, gather
from graft_memstore.recall.aside import Circumstances, choose_finalists, rivals
from graft_memstore.recall.contraries import find_contraries
from graft_memstore.recall.evidence import WordEvidence, compare_words, weigh
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.signature_arm import tell_other_errors
from graft_memstore.recall.vector_arm import Aspects, aspects_of
from graft_memstore.store.database import Connection
from graft_memstore.store.folded import folded_texts
from graft_memstore.store.search import FoundNote, count_elsewhere, found_notes
from graft_memstore.visibility import MAY_BE_STRONG

CANDIDATES_WANTED = 16
"""Notes that each arm is asked for."""
NEAR_MAX = 5
"""Titles that a MISS names."""
YOUNG_NOTES = 10
"""A store of so many notes knows half of what it can of which words are common."""
WORDS_NAMED_MAX = 3
"""Words of the question that a reason names."""
NO_ASPECTS = Aspects(title=None, passage=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate with its signals and what the gate makes of it."""

    note: FoundNote
    circumstances: Circumstances
    signals: Signals
    rules: Rules
    evidence: WordEvidence
    chance: float
    hit: Hit


def answer_query(
    connection: Connection,
    index: VectorIndex | None,
    question: Question,
    gate: GateModel = GATE_MODEL,
) -> QueryAnswer:
    """Return *gate*'s answer from the snapshot that *connection* has open."""
    gathered = gather(connection, index, question, CANDIDATES_WANTED)
    judged = judge(connection, gathered, question.context, gate)
    best = judged[0] if judged else None
    hit = best.hit if best else Hit.MISS
    return QueryAnswer(
        hit=hit,
        probability=best.chance if best else 0.0,
        note_id=best.note.note_id if best and hit is not Hit.MISS else None,
        signals=best.signals.listed() if best else (),
        near=tuple(_near(each) for each in judged[:NEAR_MAX]) if hit is Hit.MISS else (),
        missing=tuple(_reasons(best)) if best and hit is Hit.WEAK else (),
        degraded=gathered.degraded,
        notes_elsewhere=count_elsewhere(connection, question.every_note),
        applicability=best.circumstances.applicability if best and hit is not Hit.MISS else (),
        dead_ends=_dead_ends(judged[1:], gate) if hit is not Hit.MISS else (),
        context_wanted=_context_wanted(judged) if hit is not Hit.MISS else (),
        against=_against(connection, gathered, judged) if hit is Hit.STRONG else (),
        grounds=Grounds(
            account=account_of(best.signals, best.rules, best.chance, hit, gate)
            if best
            else no_candidate(gate),
            looked_at=tuple(
                LookedAt(note_id=each.note.note_id, probability=each.chance) for each in judged
            ),
            arms=gathered.arms,
            background=gathered.background,
        ),
    )


def judge(
    connection: Connection, gathered: Gathered, context: Context, model: GateModel = GATE_MODEL
) -> list[Judged]:
    """Return the best candidates, likeliest first; a STRONG one before all others."""
    finalists = choose_finalists(
        connection, gathered.ranked, context, gathered.eligible.known_at_ms
    )
    seqs = [each.candidate.scores.seq for each in finalists]
    notes = found_notes(connection, seqs, gathered.eligible)
    aspects = aspects_of(gathered.search, seqs) if gathered.search else {}
    texts = folded_texts(connection, seqs)
    other_errors = tell_other_errors(connection, gathered.signatures, seqs)
    weighed = weigh(gathered.question, gathered.words.counts, gathered.words.notes)
    among = rivals(finalists)
    judged = []
    for each in finalists:
        seq, circumstances = each.candidate.scores.seq, each.circumstances
        if seq not in notes or seq not in texts:
            continue
        evidence = compare_words(weighed, texts[seq])
        aspect = aspects.get(seq, NO_ASPECTS)
        margin = _margin(each.candidate, among)
        signals = _signals(gathered, each.candidate, margin, aspect, evidence)
        rules = Rules(
            all_arms=not gathered.degraded,
            may_be_strong=notes[seq].trust in MAY_BE_STRONG,
            is_answer=circumstances.is_answer,
            applies=circumstances.applies,
            has_vectors=aspect.title is not None,
            error_fits=seq not in other_errors,
            numbers_fit=gathered.signatures.printed or not evidence.renumbered,
        )
        judged.append(
            Judged(
                note=notes[seq],
                circumstances=circumstances,
                signals=signals,
                rules=rules,
                evidence=evidence,
                chance=probability(signals, model),
                hit=decide(signals, rules, model),
            )
        )
    # Sorting keeps the fused order, newer notes first, among equals.
    return sorted(judged, key=lambda each: (each.hit is not Hit.STRONG, -each.chance))


def _signals(
    gathered: Gathered, candidate: Fused, margin: float, aspect: Aspects, evidence: WordEvidence
) -> Signals:
    background = gathered.background
    best_words = max(gathered.words.words.values(), default=0.0)
    words = candidate.scores.words or 0.0
    return Signals(
        title=standing(aspect.title, background),
        passage=standing(aspect.title if aspect.passage is None else aspect.passage, background),
        margin=margin,
        coverage=evidence.coverage,
        stretch=evidence.stretch,
        shared=evidence.shared,
        missing=evidence.missing,
        missing_rarest=evidence.missing_rarest,
        uncovered_rarest=evidence.uncovered_rarest,
        title_coverage=evidence.title_coverage,
        title_trigrams=evidence.title_trigrams,
        words=words / best_words if best_words else 0.0,
        named=len(evidence.named),
        unnamed=len(evidence.unnamed),
        differing=len(evidence.differing),
        opposite=len(evidence.opposite),
        youth=YOUNG_NOTES / (YOUNG_NOTES + gathered.words.notes),
        signature=gathered.signatures.strength(candidate.scores.seq),
    )


def _margin(candidate: Fused, among: Sequence[Fused]) -> float:
    """Return how far the candidate's fused score lies above the best of the others."""
    others = [each.score for each in among if each is not candidate]
    return candidate.score - others[0] if others else MARGIN_WITHOUT_RUNNER_UP


def _near(judged: Judged) -> NearTitle:
    return NearTitle(
        note_id=judged.note.note_id,
        title=judged.note.title,
        why="; ".join(_reasons(judged)),
        trust=judged.note.trust,
        kind=judged.circumstances.kind,
    )


def _dead_ends(judged: Sequence[Judged], gate: GateModel) -> tuple[DeadEnd, ...]:
    """Return the dead ends that would be worth opening if they stood alone.

    What the answer beside them has more of, words and nearness, takes nothing from them.
    """
    near = []
    for each in judged:
        if not each.circumstances.is_answer:
            alone = replace(
                each.signals,
                margin=max(each.signals.margin, MARGIN_WITHOUT_RUNNER_UP),
                words=1.0,
                missing=0.0,
                missing_rarest=0.0,
            )
            if decide(alone, each.rules, gate) is not Hit.MISS:
                near.append(each)
    return tuple(
        DeadEnd(
            note_id=each.note.note_id,
            title=each.note.title,
            trust=each.note.trust,
            applicability=each.circumstances.applicability,
        )
        for each in near
    )


def _against(
    connection: Connection, gathered: Gathered, judged: Sequence[Judged]
) -> tuple[NearTitle, ...]:
    eligible = gathered.eligible
    if eligible.known_at_ms is not None or eligible.valid_at_ms is not None:
        return ()
    others = [each.note for each in judged[1:] if each.circumstances.is_answer]
    return find_contraries(connection, eligible, judged[0].note, others)


def _context_wanted(judged: Sequence[Judged]) -> tuple[str, ...]:
    findings = [finding for each in judged for finding in each.circumstances.applicability]
    return tuple(sorted({each.asks_for for each in findings if not each.here}))


def _reasons(judged: Judged) -> list[str]:
    """Return in plain words what speaks against a candidate, the weightiest first."""
    reasons = [*_distance(judged), *_contrast(judged.evidence), *_standing_back(judged)]
    reasons += _held_back(judged)
    if not reasons and not words_agree(judged.signals):
        reasons.append("shares no telling word with the question")
    return reasons or ["near, but not enough speaks for it"]


def _distance(judged: Judged) -> list[str]:
    if not judged.rules.all_arms:
        return ["compared by words alone"]
    if not judged.rules.has_vectors:
        return ["not embedded yet"]
    return ["far in meaning"] if judged.signals.standing < WEAK_STANDING else []


def _contrast(evidence: WordEvidence) -> list[str]:
    reasons = []
    said = {each.rpartition(" ")[2] for each in evidence.renumbered}
    others = (*evidence.renumbered, *(name for name in evidence.differing if name not in said))
    if others:
        reasons.append(f"tells of another one than {_listed(others)}")
    if evidence.opposite:
        reasons.append(f"says the opposite of {_listed(evidence.opposite)}")
    return reasons


def _standing_back(judged: Judged) -> list[str]:
    signals, evidence = judged.signals, judged.evidence
    reasons = []
    if evidence.telling and signals.coverage < COVERAGE_AGREES:
        reasons.append(f"has {evidence.covered} of the question's {evidence.telling} words")
    elif evidence.missing_words:
        reasons.append(f"says nothing of {_listed(evidence.missing_words)}")
    if signals.margin < 0.0 and judged.rules.all_arms:
        reasons.append("another note is nearer")
    return reasons


def _held_back(judged: Judged) -> list[str]:
    """Return what keeps a candidate from being handed out, however near it is."""
    reasons = list(judged.circumstances.objections)
    if not judged.rules.error_fits:
        reasons.append("tells of another error")
    if not judged.rules.may_be_strong:
        why = f" ({judged.note.trust_reason})" if judged.note.trust_reason else ""
        reasons.append(f"its trust is {judged.note.trust}{why}")
    return reasons


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:WORDS_NAMED_MAX])
