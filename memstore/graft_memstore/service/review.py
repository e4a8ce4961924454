"""ReviewService: the reviewer of a home, and what waits for one."""

import grpc
from typing_extensions import override

from graft.memory.v1 import review_service_pb2 as pb
from graft.memory.v1 import review_service_pb2_grpc
from graft.wire.errors import BadFieldError, NotAllowedError
from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import REVIEWING_DOORS
from graft_memstore.model import Caller, ItemId
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.decide import DecisionOrder, decide
from graft_memstore.review.look import read_queue, read_seen
from graft_memstore.review.reviewer import SESSION_SECONDS, Reviewer
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import caller_of, scope_filter_of
from graft_memstore.service.given import Giving
from graft_memstore.service.request_key import request_key
from graft_memstore.service.reviewed import (
    DECISIONS,
    KINDS,
    decision_of,
    item_message,
    kinds_of,
    place_of,
    reviewer_message,
)
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.review_items import ItemFilter
from graft_memstore.write.limits import PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX
from graft_memstore.write.state_change import Saying
from graft_memstore.write.validate import check_scopes


class ReviewServicer(review_service_pb2_grpc.ReviewServiceServicer):
    """Answers for the reviewer of the home and the queues of every profile.

    Args:
        profiles: the queues.
        reviewer: proves who is one.
        giving: knows to whom notes were given.
    """

    def __init__(self, profiles: Profiles[VectorIndex], reviewer: Reviewer, giving: Giving) -> None:
        self._profiles = profiles
        self._reviewer = reviewer
        self._giving = giving

    @override
    def GetReviewer(
        self, request: pb.GetReviewerRequest, context: grpc.ServicerContext
    ) -> pb.GetReviewerResponse:
        """Tell whether a reviewer has been set up."""
        return pb.GetReviewerResponse(reviewer=reviewer_message(self._reviewer.status()))

    @override
    def SetReviewer(
        self, request: pb.SetReviewerRequest, context: grpc.ServicerContext
    ) -> pb.SetReviewerResponse:
        """Set the passphrase."""
        caller = _at_a_reviewing_door(context)
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            status = self._reviewer.set(profile, caller, request.passphrase, request.old_passphrase)
        return pb.SetReviewerResponse(reviewer=reviewer_message(status))

    @override
    def OpenReviewSession(
        self, request: pb.OpenReviewSessionRequest, context: grpc.ServicerContext
    ) -> pb.OpenReviewSessionResponse:
        """Prove the passphrase."""
        caller = _at_a_reviewing_door(context)
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            token = self._reviewer.prove(profile, caller, request.passphrase)
        return pb.OpenReviewSessionResponse(token=token, lasts_ms=SESSION_SECONDS * 1_000)

    @override
    def CloseReviewSession(
        self, request: pb.CloseReviewSessionRequest, context: grpc.ServicerContext
    ) -> pb.CloseReviewSessionResponse:
        """End a session."""
        self._reviewer.close(request.token)
        return pb.CloseReviewSessionResponse()

    @override
    def ListReviewItems(
        self, request: pb.ListReviewItemsRequest, context: grpc.ServicerContext
    ) -> pb.ListReviewItemsResponse:
        """List what waits, or what was decided."""
        wanted = ItemFilter(
            scope=check_scopes(scope_filter_of(request.scope)), kinds=kinds_of(request.kinds)
        )
        if request.page_size > PAGE_SIZE_MAX:
            raise BadFieldError("page_size", f"{request.page_size}; at most {PAGE_SIZE_MAX}")
        place = place_of(request.page_token)
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            page = read_queue(
                profile,
                wanted,
                decided=request.decided,
                place=place,
                count_max=request.page_size or PAGE_SIZE_DEFAULT,
            )
        return pb.ListReviewItemsResponse(
            items=[item_message(each) for each in page.items],
            next_page_token=str(page.next_place or ""),
            waiting=[
                pb.ReviewCount(kind=KINDS[kind], count=page.waiting[kind])
                for kind in KINDS
                if kind in page.waiting
            ],
        )

    @override
    def GetReviewItem(
        self, request: pb.GetReviewItemRequest, context: grpc.ServicerContext
    ) -> pb.GetReviewItemResponse:
        """Show one item."""
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            return pb.GetReviewItemResponse(
                item=item_message(read_seen(profile, ItemId(request.item)))
            )

    @override
    def DecideReviewItem(
        self, request: pb.DecideReviewItemRequest, context: grpc.ServicerContext
    ) -> pb.DecideReviewItemResponse:
        """Decide of an item."""
        order = DecisionOrder(
            item_id=ItemId(request.item),
            decision=decision_of(request.decision),
            piece=request.note_id,
            key=request_key(request, request.request_id, "DecideReviewItem"),
            saying=Saying(caller=proved_caller(context, self._reviewer), reason=request.reason),
        )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            self._giving.before_change(profile.name, deadline)
            decided = decide(profile, order, deadline.for_work())
        return pb.DecideReviewItemResponse(
            item=decided.item_id,
            decision=DECISIONS[decided.decision],
            event=decided.event,
            outcome=decided.outcome,
            note_id=decided.note_id or "",
            note_event=decided.note_event,
        )


def _at_a_reviewing_door(context: grpc.ServicerContext) -> Caller:
    """Read who calls, through a door that a reviewer may come through.

    Raises:
        NotAllowedError: it is an agent's own.
    """
    caller = caller_of(context)
    if caller.door not in REVIEWING_DOORS:
        raise NotAllowedError(f"no reviewer comes through the door {caller.door}")
    return caller
