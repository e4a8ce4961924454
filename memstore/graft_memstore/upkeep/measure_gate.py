"""Measures the gate on a profile's own notes, and sets the profile's own threshold by that."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from graft.wire.errors import DeadlinePassedError, WrongStateError
from graft_memstore.deadline import ANSWER_MARGIN_SECONDS, Deadline
from graft_memstore.embedding import Embedder, TextRefusedError, model_for
from graft_memstore.gate import GateModel
from graft_memstore.gate_model import GATE_DIGEST, GATE_MODEL
from graft_memstore.measurement import (
    Bin,
    Curve,
    KindRate,
    Outcome,
    Rates,
    calibration,
    rates_by_kind,
)
from graft_memstore.model import USER_SCOPE, Caller, Model, ModelRole, ScopeFilter
from graft_memstore.probes import Probe, make_probes
from graft_memstore.recall.answer import UNKNOWN_BACKGROUND, Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.own_gate import gate_of, passed_over
from graft_memstore.recall.probing import ask, notes_to_probe
from graft_memstore.signature import understand
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.models import read_model
from graft_memstore.store.own_threshold import (
    OwnThreshold,
    read_own_threshold,
    write_own_threshold,
)
from graft_memstore.store.pending import count_pending
from graft_memstore.store.profile import Profile
from graft_memstore.store.transaction import Transaction

ACTION_APPLY = "apply-gate"
ACTION_RESET = "reset-gate"

NOTES_MIN = 20
"""Notes with questions of their own below which the figures would tell nothing."""

MOVE_MAX = 0.1
"""How far from the fitted threshold one is proposed: questions that are made up are not asked ones,
and bear out no more than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """How the gate does on a profile's notes.

    Attributes:
        notes: those that questions were made of.
        gate: the gate that was asked.
        passed_over: a threshold of the profile's own that holds no more; None without.
        serving: the model whose vectors answered.
        rates: of all questions.
        by_kind: how often each kind of question went wrong.
        proposed: the threshold of STRONG that is best by the questions not held out.
        held_out: rates of those held out, at present.
        held_out_proposed: the same with the proposed threshold.
    """

    notes: int
    gate: GateModel
    passed_over: float | None
    serving: Model
    rates: Rates
    by_kind: list[KindRate]
    calibration: list[Bin]
    proposed: float
    held_out: Rates
    held_out_proposed: Rates

    @property
    def objections(self) -> tuple[str, ...]:
        """What speaks against the proposed threshold, in words; empty for nothing."""
        if self.proposed == self.gate.strong:
            return ("no other threshold makes fewer mistakes of one kind and no more of the other",)
        return self.held_out_proposed.worsened(self.held_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How far it is; the last step has what came out."""

    done: int
    total: int
    measurement: Measurement | None = None


def measure_gate(
    profile: Profile[VectorIndex], embedder: Embedder, deadline: Deadline
) -> Iterator[Step]:
    """Ask a profile's notes questions made of them, and count how often the gate is wrong.

    Raises:
        WrongStateError: there are too few notes, or not all have their vectors.
        ModelNotReadyError: questions cannot be embedded now.
        DeadlinePassedError: there was no time for all questions.
        ServiceError: see `Profile.snapshot`.
    """
    with profile.snapshot() as connection:
        pending = count_pending(connection)
        serving = read_model(connection, ModelRole.SERVING)
        gate, old = gate_of(connection, serving), passed_over(connection, serving)
        found = notes_to_probe(connection, profile.now_ms(connection))
    probes = make_probes(found)
    notes = len({probe.note.seq for probe in probes if probe.answered})
    if serving is None or notes < NOTES_MIN:
        raise WrongStateError(
            f"{notes} notes give a question that only they answer; measuring the gate takes"
            f" {NOTES_MIN}. Store more and ask again",
            metadata={"state": "too few notes"},
        )
    if pending:
        raise WrongStateError(
            f"{pending:,} texts still wait for their vectors; see `graft status` and ask again",
            metadata={"state": "pending"},
        )
    asker = _Asker(profile, embedder, gate, serving)
    outcomes: list[Outcome] = []
    for done, probe in enumerate(probes):
        yield Step(done=done, total=len(probes))
        outcomes += asker.outcomes(probe, deadline)
        # After the last one as well: for a caller that has gone nothing may be applied.
        if deadline.left() < ANSWER_MARGIN_SECONDS:
            raise DeadlinePassedError(
                f"{done + 1:,} of {len(probes):,} questions could be asked in time; give more of it"
            )
    yield Step(
        done=len(probes),
        total=len(probes),
        measurement=_measurement(
            outcomes, notes=notes, gate=gate, passed_over=old, serving=serving
        ),
    )


def apply_threshold(
    profile: Profile[VectorIndex], measurement: Measurement, caller: Caller, wait_seconds: float
) -> None:
    """Make the proposed threshold the profile's own, and record who did.

    Raises:
        ServiceError: see `Profile.write`.
    """
    own = OwnThreshold(
        strong=measurement.proposed, gate=GATE_DIGEST, model=measurement.serving.identity
    )
    reason = f"STRONG from {own.strong:.3f}, before from {measurement.gate.strong:.3f}"

    def apply(transaction: Transaction) -> None:
        write_own_threshold(transaction.connection, own)
        _record(transaction, caller, ACTION_APPLY, own, reason)

    profile.write(apply, wait_seconds)


def reset_threshold(
    profile: Profile[VectorIndex], caller: Caller, wait_seconds: float
) -> float | None:
    """Take the profile's own threshold away and record who did; None when it had none.

    Raises:
        ServiceError: see `Profile.write`.
    """

    def reset(transaction: Transaction) -> float | None:
        own = read_own_threshold(transaction.connection)
        if own is None:
            return None
        write_own_threshold(transaction.connection, None)
        reason = f"STRONG from {GATE_MODEL.strong:.3f}, before from {own.strong:.3f}"
        _record(transaction, caller, ACTION_RESET, own, reason)
        return own.strong

    return profile.write(reset, wait_seconds)


def _record(
    transaction: Transaction, caller: Caller, action: str, own: OwnThreshold, reason: str
) -> None:
    transaction.record(
        EventDraft(
            caller=caller,
            action=action,
            note_id=None,
            content_hash=own.content_hash(),
            reason=reason,
        )
    )


def _measurement(
    outcomes: list[Outcome],
    *,
    notes: int,
    gate: GateModel,
    passed_over: float | None,
    serving: Model,
) -> Measurement:
    held_out = Curve([each for each in outcomes if each.held_out])
    chosen_by = Curve([each for each in outcomes if not each.held_out])
    low, high = max(GATE_MODEL.strong - MOVE_MAX, gate.weak), GATE_MODEL.strong + MOVE_MAX
    proposed = chosen_by.best_threshold(gate.strong, low, high)
    return Measurement(
        notes=notes,
        gate=gate,
        passed_over=passed_over,
        serving=serving,
        rates=Curve(outcomes).at(gate.strong),
        by_kind=rates_by_kind(outcomes, gate.strong),
        calibration=calibration(outcomes),
        proposed=proposed,
        held_out=held_out.at(gate.strong),
        held_out_proposed=held_out.at(proposed),
    )


class _Asker:
    """Puts questions as somebody would who works where their notes were stored."""

    def __init__(
        self, profile: Profile[VectorIndex], embedder: Embedder, gate: GateModel, serving: Model
    ) -> None:
        self._profile = profile
        self._embedder = embedder
        self._gate = gate
        self._serving = serving

    def outcomes(self, probe: Probe, deadline: Deadline) -> list[Outcome]:
        """Return what comes of a question: with its note, where it answers, and without it.

        A question that no vector can be made of gives none.
        """
        said = understand(probe.text)
        try:
            vector = self._embedder.embed_query(
                model_for(self._serving, self._embedder), said.focus, 0, deadline
            )
        except TextRefusedError:
            return []
        # Each question reads for itself, so that no long snapshot holds up cleaning the file.
        with self._profile.snapshot() as connection:
            serving, index = read_model(connection, ModelRole.SERVING), self._profile.index
            if serving != self._serving or index is None or index.model_id != serving.model_id:
                raise WrongStateError(
                    "the profile moved to another model while it was asked; ask again",
                    metadata={"state": "moved"},
                )
            question = Question(
                said=said,
                vector=np.frombuffer(vector.values, dtype="<f4"),
                prior=vector.model.background or UNKNOWN_BACKGROUND,
                scope=ScopeFilter(scopes=tuple(dict.fromkeys((*probe.scopes, USER_SCOPE)))),
                now_ms=self._profile.now_ms(connection),
            )
            asked = [question]
            if probe.answered:
                asked.append(replace(question, without=probe.note.seq))
            return [ask(connection, index, each, probe, self._gate) for each in asked]
