"""The calls that tell why answers are what they are, as values."""

from graft.memory.v1 import recall_service_pb2
from graft_client import receipt_replies
from graft_client.explanations import ClearedMisses, Explanation, Misses
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.recall_operations import RECALL
from graft_client.scope import ScopeChoice


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


def misses(
    profile: str, scope: ScopeChoice, *, limit: int
) -> Operation[recall_service_pb2.ListMissesResponse, Misses]:
    """List the questions that nothing answered; *limit* 0 means the service's own figure."""
    with sendable():
        request = recall_service_pb2.ListMissesRequest(
            profile=profile, scope=scope_filter(scope), limit=limit
        )
    return Operation(
        path=f"{RECALL}/ListMisses",
        request=request,
        reply=recall_service_pb2.ListMissesResponse,
        read=receipt_replies.misses,
    )


def clear_misses(
    profile: str, scope: ScopeChoice, *, request_id: str
) -> Operation[recall_service_pb2.ClearMissesResponse, ClearedMisses]:
    """Erase the questions that nothing answered."""
    with sendable():
        request = recall_service_pb2.ClearMissesRequest(
            profile=profile, scope=scope_filter(scope), request_id=request_id
        )
    return Operation(
        path=f"{RECALL}/ClearMisses",
        request=request,
        reply=recall_service_pb2.ClearMissesResponse,
        read=receipt_replies.cleared_misses,
    )
