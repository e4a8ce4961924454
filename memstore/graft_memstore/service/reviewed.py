"""Between the review service's messages and the memstore's own data."""

import json
from collections.abc import Sequence

from graft.memory.v1 import note_pb2
from graft.memory.v1 import review_service_pb2 as pb
from graft.wire.errors import BadFieldError, BadPageTokenError
from graft_memstore.model import Decision, ItemKind
from graft_memstore.review.decide import decisions_of
from graft_memstore.review.look import SeenItem, SeenNote
from graft_memstore.review.reviewer import ReviewerStatus
from graft_memstore.service.convert import note_message

KINDS = {
    ItemKind.CANDIDATE: pb.REVIEW_KIND_CANDIDATE,
    ItemKind.HELD: pb.REVIEW_KIND_HELD,
    ItemKind.PROPOSAL: pb.REVIEW_KIND_PROPOSAL,
    ItemKind.RESTATED_REJECTION: pb.REVIEW_KIND_RESTATED_REJECTION,
    ItemKind.DUPLICATE: pb.REVIEW_KIND_DUPLICATE,
    ItemKind.SUPERSESSION: pb.REVIEW_KIND_SUPERSESSION,
    ItemKind.CONTRADICTION: pb.REVIEW_KIND_CONTRADICTION,
    ItemKind.POSSIBLE_CONTRADICTION: pb.REVIEW_KIND_POSSIBLE_CONTRADICTION,
    ItemKind.CHANGED_SOURCE: pb.REVIEW_KIND_CHANGED_SOURCE,
    ItemKind.REMOVED_SOURCE: pb.REVIEW_KIND_REMOVED_SOURCE,
    ItemKind.KEYWORD_VARIANT: pb.REVIEW_KIND_KEYWORD_VARIANT,
    ItemKind.ISOLATED: pb.REVIEW_KIND_ISOLATED,
    ItemKind.NEVER_USED: pb.REVIEW_KIND_NEVER_USED,
    ItemKind.EXPIRED: pb.REVIEW_KIND_EXPIRED,
    ItemKind.PURGE_DUE: pb.REVIEW_KIND_PURGE_DUE,
}
DECISIONS = {
    Decision.APPROVE: pb.REVIEW_DECISION_APPROVE,
    Decision.REJECT: pb.REVIEW_DECISION_REJECT,
    Decision.KEEP_BOTH: pb.REVIEW_DECISION_KEEP_BOTH,
    Decision.SUPERSEDE: pb.REVIEW_DECISION_SUPERSEDE,
}
_KIND_OF = {number: kind for kind, number in KINDS.items()}
_DECISION_OF = {number: decision for decision, number in DECISIONS.items()}


def kinds_of(numbers: Sequence[pb.ReviewKind.ValueType]) -> tuple[ItemKind, ...]:
    """Read kinds.

    Raises:
        BadFieldError: one is none that this version knows.
    """
    for number in numbers:
        if number not in _KIND_OF:
            raise BadFieldError("kinds", f"{number} is none that this version knows")
    return tuple(_KIND_OF[number] for number in numbers)


def decision_of(number: pb.ReviewDecision.ValueType) -> Decision:
    """Read a decision.

    Raises:
        BadFieldError: it is none that this version knows.
    """
    if number not in _DECISION_OF:
        raise BadFieldError("decision", f"{number} is none that this version knows")
    return _DECISION_OF[number]


def place_of(token: str) -> int:
    """Read a page token: the number of the item that the page before ended with; 0 for none.

    Raises:
        BadPageTokenError: it is none.
    """
    if not token:
        return 0
    if not (token.isascii() and token.isdecimal() and 0 < len(token) <= len(str(2**62))):
        raise BadPageTokenError(
            "the page token is not one that this listing gave out; begin anew without one"
        )
    return int(token)


def item_message(seen: SeenItem) -> pb.ReviewItem:
    """Pack an item with its notes."""
    item = seen.item
    return pb.ReviewItem(
        item=item.item_id,
        kind=KINDS[item.kind],
        note=_note(seen.note),
        other=_note(seen.other),
        scope=item.scope if seen.note is None else seen.note.note.scope,
        measure=item.measure,
        detail=json.dumps(item.detail, sort_keys=True),
        opened_at_ms=item.opened_at_ms,
        event=item.event or 0,
        reason=seen.reason,
        session=seen.session,
        decision=(
            pb.REVIEW_DECISION_UNSPECIFIED if item.decision is None else DECISIONS[item.decision]
        ),
        decided_at_ms=item.decided_at_ms or 0,
        decided_by=item.decided_by or 0,
        decisions=[DECISIONS[each] for each in decisions_of(item.kind)],
    )


def reviewer_message(status: ReviewerStatus) -> pb.ReviewerStatus:
    """Pack how the reviewer is."""
    return pb.ReviewerStatus(
        exists=status.set_at_ms is not None,
        set_at_ms=status.set_at_ms or 0,
        event=status.event,
        profile=status.profile,
        failures=status.failures,
        problem=status.problem,
    )


def _note(seen: SeenNote | None) -> note_pb2.Note | None:
    return None if seen is None else note_message(seen.note, seen.condition)
