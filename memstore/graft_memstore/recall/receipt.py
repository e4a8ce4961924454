"""What an answer was made of, so that it can be explained later; ids and figures, never text."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graft_memstore.gate import Contribution, Hit
from graft_memstore.model import (
    Background,
    Condition,
    Model,
    NoteId,
    ReceiptId,
    ScopeFilter,
)
from graft_memstore.provenance import SourceCheck, SourceState
from graft_memstore.recall.account import Account, RuleOutcome, Threshold
from graft_memstore.recall.answer import LookedAt, QueryAnswer

NO_INDEX = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """A note that would have been a candidate, had its state allowed it."""

    note_id: NoteId
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """A source that the caller was to look at.

    Attributes:
        known: its fingerprint when the answer was given.
        state: what was found; None while nobody has said.
    """

    source_id: int
    known: str
    state: SourceState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What an answer was read from.

    Attributes:
        at_ms: the time that it holds for, UTC milliseconds.
        event: the last event that it had seen; 0 before the first.
        model: the model that served; None before the first vector.
        index: state of its index in memory.
    """

    at_ms: int
    event: int
    model: Model | None
    index: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What one answer of the gate was made of.

    Attributes:
        event: last event of the audit chain that the answer had seen.
        account: what the gate made of the best candidate.
        arms: those that were asked.
        degraded: those that could not be had.
        model, model_identity: empty before the first vector.
        index: "int8", "bits" or "none".
        looked_at: candidates, the best first.
        withheld: hidden notes that would have been candidates.
        session: of whoever was answered; empty where that is not known.
        check: how the files that the answer rests on are; None where it rests on none.
        sources: those that its caller was to look at.
    """

    receipt_id: ReceiptId
    at_ms: int
    event: int
    scope: ScopeFilter
    hit: Hit
    probability: float
    account: Account
    arms: tuple[str, ...]
    degraded: tuple[str, ...]
    background: Background
    index: str
    model: str
    model_identity: str
    looked_at: tuple[LookedAt, ...]
    withheld: tuple[Withheld, ...] = ()
    session: str = ""
    check: SourceCheck | None = None
    sources: tuple[CheckedSource, ...] = ()


def receipt_of(
    receipt_id: ReceiptId, answer: QueryAnswer, scope: ScopeFilter, snapshot: Snapshot
) -> Receipt:
    """Return the receipt of *answer*; what was withheld is found out later."""
    grounds, model = answer.grounds, snapshot.model
    return Receipt(
        receipt_id=receipt_id,
        at_ms=snapshot.at_ms,
        event=snapshot.event,
        scope=scope,
        hit=answer.hit,
        probability=answer.probability,
        account=grounds.account,
        arms=grounds.arms,
        degraded=answer.degraded,
        background=grounds.background,
        index=snapshot.index,
        model=model.name if model else "",
        model_identity=model.identity if model else "",
        looked_at=grounds.looked_at,
    )


def encode_receipt(receipt: Receipt) -> str:
    """Return *receipt* as JSON."""
    return json.dumps(asdict(receipt), separators=(",", ":"), allow_nan=False)


def decode_receipt(content: str) -> Receipt:
    """Return the receipt that `encode_receipt` wrote."""
    told: Mapping[str, Any] = json.loads(content)
    scope = told["scope"]
    return Receipt(
        receipt_id=ReceiptId(told["receipt_id"]),
        at_ms=told["at_ms"],
        event=told["event"],
        scope=ScopeFilter(scopes=tuple(scope["scopes"]), all=scope["all"]),
        hit=Hit(told["hit"]),
        probability=told["probability"],
        account=_account_of(told["account"]),
        arms=tuple(told["arms"]),
        degraded=tuple(told["degraded"]),
        background=Background(**told["background"]),
        index=told["index"],
        model=told["model"],
        model_identity=told["model_identity"],
        looked_at=tuple(LookedAt(**each) for each in told["looked_at"]),
        withheld=tuple(
            Withheld(note_id=NoteId(each["note_id"]), condition=Condition(each["condition"]))
            for each in told["withheld"]
        ),
        **_provenance_of(told),
    )


def _provenance_of(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what receipts of an earlier version do not know of."""
    check = told.get("check")
    return {
        "session": told.get("session", ""),
        "check": None if check is None else SourceCheck(check),
        "sources": tuple(
            CheckedSource(
                source_id=each["source_id"],
                known=each["known"],
                state=None if each["state"] is None else SourceState(each["state"]),
            )
            for each in told.get("sources", ())
        ),
    }


def _account_of(told: Mapping[str, Any]) -> Account:
    return Account(
        bias=told["bias"],
        signals=tuple(Contribution(**each) for each in told["signals"]),
        thresholds=tuple(
            # Receipts of an earlier version know of none that is a profile's own.
            Threshold(
                hit=Hit(each["hit"]), probability=each["probability"], own=each.get("own", False)
            )
            for each in told["thresholds"]
        ),
        rules=tuple(RuleOutcome(**each) for each in told["rules"]),
    )
