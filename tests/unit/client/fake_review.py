"""The review service of the fake memstore: one item, one passphrase, one token."""

from collections.abc import Callable
from dataclasses import dataclass, field

import grpc
from typing_extensions import override

from graft.memory.v1 import note_pb2, review_service_pb2_grpc
from graft.memory.v1 import review_service_pb2 as pb

Enter = Callable[[str, object, grpc.ServicerContext], None]

TOKEN = "a1" * 32


def item(number: int = 1, **fields: object) -> pb.ReviewItem:
    """Make a pair that contradicts itself."""
    made = pb.ReviewItem(
        item=number,
        kind=pb.REVIEW_KIND_CONTRADICTION,
        note=note_pb2.Note(id="0" * 31 + "1", title="the port is 6432", body="by the file"),
        other=note_pb2.Note(id="0" * 31 + "2", title="the port is 7000", body="by the file"),
        scope="user",
        measure=0.5,
        detail='{"on": "port"}',
        opened_at_ms=1_767_225_600_000,
        decisions=[
            pb.REVIEW_DECISION_KEEP_BOTH,
            pb.REVIEW_DECISION_SUPERSEDE,
            pb.REVIEW_DECISION_REJECT,
        ],
    )
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@dataclass(slots=True)
class FakeQueue:
    """What waits, and who may decide."""

    passphrase: str = ""
    items: list[pb.ReviewItem] = field(default_factory=list)


class FakeReview(review_service_pb2_grpc.ReviewServiceServicer):
    """Answers as the proto says."""

    def __init__(self, enter: Enter, queue: FakeQueue) -> None:
        self._enter = enter
        self._queue = queue

    @override
    def GetReviewer(
        self, request: pb.GetReviewerRequest, context: grpc.ServicerContext
    ) -> pb.GetReviewerResponse:
        self._enter("GetReviewer", request, context)
        return pb.GetReviewerResponse(reviewer=self._status())

    @override
    def SetReviewer(
        self, request: pb.SetReviewerRequest, context: grpc.ServicerContext
    ) -> pb.SetReviewerResponse:
        self._enter("SetReviewer", request, context)
        self._queue.passphrase = request.passphrase
        return pb.SetReviewerResponse(reviewer=self._status())

    @override
    def OpenReviewSession(
        self, request: pb.OpenReviewSessionRequest, context: grpc.ServicerContext
    ) -> pb.OpenReviewSessionResponse:
        self._enter("OpenReviewSession", request, context)
        return pb.OpenReviewSessionResponse(token=TOKEN, lasts_ms=1_000)

    @override
    def CloseReviewSession(
        self, request: pb.CloseReviewSessionRequest, context: grpc.ServicerContext
    ) -> pb.CloseReviewSessionResponse:
        self._enter("CloseReviewSession", request, context)
        return pb.CloseReviewSessionResponse()

    @override
    def ListReviewItems(
        self, request: pb.ListReviewItemsRequest, context: grpc.ServicerContext
    ) -> pb.ListReviewItemsResponse:
        self._enter("ListReviewItems", request, context)
        start = int(request.page_token or 0)
        return pb.ListReviewItemsResponse(
            items=self._queue.items[start : start + 1],
            next_page_token=str(start + 1) if start + 1 < len(self._queue.items) else "",
        )

    @override
    def GetReviewItem(
        self, request: pb.GetReviewItemRequest, context: grpc.ServicerContext
    ) -> pb.GetReviewItemResponse:
        self._enter("GetReviewItem", request, context)
        (found,) = (each for each in self._queue.items if each.item == request.item)
        return pb.GetReviewItemResponse(item=found)

    @override
    def DecideReviewItem(
        self, request: pb.DecideReviewItemRequest, context: grpc.ServicerContext
    ) -> pb.DecideReviewItemResponse:
        self._enter("DecideReviewItem", request, context)
        return pb.DecideReviewItemResponse(
            item=request.item, decision=request.decision, event=8, outcome="done", note_event=9
        )

    def _status(self) -> pb.ReviewerStatus:
        exists = bool(self._queue.passphrase)
        return pb.ReviewerStatus(
            exists=exists, set_at_ms=1_767_225_600_000 if exists else 0, event=3 if exists else 0
        )
