"""The calls that tell why answers are what they are, as values."""

from graft.memory.v1 import recall_service_pb2
from graft_client import receipt_replies
from graft_client.explanations import Explanation
from graft_client.operation import Operation, sendable
from graft_client.recall_operations import RECALL


def explain(
    profile: str, receipt: str
) -> Operation[recall_service_pb2.ExplainResponse, Explanation]:
    """Ask what an answer was made of."""
    with sendable():
        request = recall_service_pb2.ExplainRequest(profile=profile, receipt=receipt)
    return Operation(
        path=f"{RECALL}/Explain",
        request=request,
        reply=recall_service_pb2.ExplainResponse,
        read=receipt_replies.explanation,
    )
