"""The calls about the reviewer and what waits for one, as values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graft.memory.v1 import lifecycle_service_pb2, note_pb2
from graft.memory.v1 import review_service_pb2 as pb
from graft_client import authority_replies, replies
from graft_client.authority import Oracle, ReviewerStatus
from graft_client.errors import InputError
from graft_client.lifecycle_operations import LIFECYCLE, changed_note
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.results import Changed
from graft_client.reviews import Decided, ReviewDecision, ReviewItem, ReviewKind, ReviewPage
from graft_client.scope import ScopeChoice
from graft_client.times import from_milliseconds
from graft_client.vocabulary import DECISIONS, ORACLES, REVIEWS

REVIEW = "/graft.memory.v1.ReviewService"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a reviewer decides of an item; *note* names one of a pair."""

    item: int
    decision: ReviewDecision
    note: str
    reason: str


def get_reviewer() -> Operation[pb.GetReviewerResponse, ReviewerStatus]:
    """Ask for the reviewer."""
    return Operation(
        path=f"{REVIEW}/GetReviewer",
        request=pb.GetReviewerRequest(),
        reply=pb.GetReviewerResponse,
        read=lambda reply: authority_replies.reviewer(reply.reviewer),
    )


def set_reviewer(
    profile: str, passphrase: str, old: str
) -> Operation[pb.SetReviewerResponse, ReviewerStatus]:
    """Set the passphrase."""
    with sendable():
        request = pb.SetReviewerRequest(profile=profile, passphrase=passphrase, old_passphrase=old)
    return Operation(
        path=f"{REVIEW}/SetReviewer",
        request=request,
        reply=pb.SetReviewerResponse,
        read=lambda reply: authority_replies.reviewer(reply.reviewer),
        repeatable=False,
    )


def open_session(profile: str, passphrase: str) -> Operation[pb.OpenReviewSessionResponse, str]:
    """Prove the passphrase; the result is the session's token."""
    with sendable():
        request = pb.OpenReviewSessionRequest(profile=profile, passphrase=passphrase)
    return Operation(
        path=f"{REVIEW}/OpenReviewSession",
        request=request,
        reply=pb.OpenReviewSessionResponse,
        read=lambda reply: reply.token,
    )


def close_session(token: str) -> Operation[pb.CloseReviewSessionResponse, None]:
    """End a session."""
    return Operation(
        path=f"{REVIEW}/CloseReviewSession",
        request=pb.CloseReviewSessionRequest(token=token),
        reply=pb.CloseReviewSessionResponse,
        read=lambda _: None,
    )


def list_page(
    profile: str,
    scope: ScopeChoice,
    kinds: Sequence[ReviewKind],
    *,
    decided: bool,
    page_token: str,
) -> Operation[pb.ListReviewItemsResponse, ReviewPage]:
    """Fetch one page of the queue."""
    with sendable():
        request = pb.ListReviewItemsRequest(
            profile=profile,
            scope=scope_filter(scope),
            kinds=[pb.ReviewKind.Value(_name("REVIEW_KIND", kind, REVIEWS)) for kind in kinds],
            decided=decided,
            page_token=page_token,
        )
    return Operation(
        path=f"{REVIEW}/ListReviewItems",
        request=request,
        reply=pb.ListReviewItemsResponse,
        read=lambda reply: ReviewPage(
            items=tuple(_item(each, with_body=False) for each in reply.items),
            next_page_token=reply.next_page_token,
            waiting={
                REVIEWS[each.kind]: each.count for each in reply.waiting if each.kind in REVIEWS
            },
        ),
    )


def get_item(profile: str, item: int) -> Operation[pb.GetReviewItemResponse, ReviewItem]:
    """Fetch one item."""
    with sendable():
        request = pb.GetReviewItemRequest(profile=profile, item=item)
    return Operation(
        path=f"{REVIEW}/GetReviewItem",
        request=request,
        reply=pb.GetReviewItemResponse,
        read=lambda reply: _item(reply.item, with_body=True),
    )


def decide(
    profile: str, decision: Decision, *, request_id: str
) -> Operation[pb.DecideReviewItemResponse, Decided]:
    """Decide of an item."""
    with sendable():
        request = pb.DecideReviewItemRequest(
            profile=profile,
            request_id=request_id,
            item=decision.item,
            decision=pb.ReviewDecision.Value(
                _name("REVIEW_DECISION", decision.decision, DECISIONS)
            ),
            note_id=decision.note,
            reason=decision.reason,
        )
    return Operation(
        path=f"{REVIEW}/DecideReviewItem",
        request=request,
        reply=pb.DecideReviewItemResponse,
        read=lambda reply: Decided(
            item=reply.item,
            decision=DECISIONS.get(reply.decision, "reject"),
            event=reply.event,
            outcome=reply.outcome,
            note=reply.note_id or None,
            note_event=reply.note_event or None,
        ),
    )


def verify(
    profile: str, note_id: str, oracle: Oracle, *, reason: str, request_id: str
) -> Operation[lifecycle_service_pb2.VerifyNoteResponse, Changed]:
    """Record by what a note was verified."""
    with sendable():
        request = lifecycle_service_pb2.VerifyNoteRequest(
            profile=profile, request_id=request_id, id=note_id, reason=reason
        )
        kind = _name("ORACLE_KIND", oracle.kind, ORACLES)
        request.oracle.kind = note_pb2.OracleKind.Value(kind)
        request.oracle.commit = oracle.commit
        request.oracle.command = oracle.command
        request.oracle.exit_code = oracle.exit_code
        request.oracle.output_digest = oracle.output_digest
    return Operation(
        path=f"{LIFECYCLE}/VerifyNote",
        request=request,
        reply=lifecycle_service_pb2.VerifyNoteResponse,
        read=lambda reply: changed_note(reply.note),
    )


def _name(prefix: str, word: str, words: Mapping[int, str]) -> str:
    """Return the name that a *word* has in the protos.

    Raises:
        InputError: it is none of *words*.
    """
    if word not in words.values():
        raise InputError(f"{word!r} is none of {', '.join(words.values())}")
    return f"{prefix}_{word.upper().replace('-', '_')}"


def _item(reply: pb.ReviewItem, *, with_body: bool) -> ReviewItem:
    decided = reply.decision in DECISIONS
    return ReviewItem(
        item=reply.item,
        # A kind that a newer service knows can be looked at, and decided by that alone.
        kind=REVIEWS.get(reply.kind, "candidate"),
        scope=reply.scope,
        note=replies.note(reply.note, with_body=with_body) if reply.HasField("note") else None,
        other=replies.note(reply.other, with_body=with_body) if reply.HasField("other") else None,
        measure=reply.measure if reply.HasField("measure") else None,
        detail=json.loads(reply.detail or "{}"),
        opened_at=from_milliseconds(reply.opened_at_ms),
        event=reply.event or None,
        reason=reply.reason,
        session=reply.session,
        decision=DECISIONS[reply.decision] if decided else None,
        decided_at=from_milliseconds(reply.decided_at_ms) if decided else None,
        decided_by=reply.decided_by or None,
        decisions=tuple(DECISIONS[each] for each in reply.decisions if each in DECISIONS),
    )
