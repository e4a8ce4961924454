"""The calls about scopes, as values."""

from graft.memory.v1 import scopes_service_pb2 as pb
from graft_client.filing_reports import ScopeMoved, ScopeSummary
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.scope import ScopeChoice

SCOPES = "/graft.memory.v1.ScopesService"


def list_scopes(
    profile: str, scope: ScopeChoice
) -> Operation[pb.ListScopesResponse, tuple[ScopeSummary, ...]]:
    """List the scopes that hold notes."""
    with sendable():
        request = pb.ListScopesRequest(profile=profile, scope=scope_filter(scope))
    return Operation(
        path=f"{SCOPES}/ListScopes",
        request=request,
        reply=pb.ListScopesResponse,
        read=lambda reply: tuple(
            ScopeSummary(scope=each.scope, notes=each.notes, hidden_notes=each.hidden_notes)
            for each in reply.scopes
        ),
    )


def move_scope(
    profile: str, ends: tuple[str, str], *, reason: str, request_id: str, dry_run: bool
) -> Operation[pb.MoveScopeResponse, ScopeMoved]:
    """Move every note of the first of two scopes to the second."""
    source, target = ends
    with sendable():
        request = pb.MoveScopeRequest(
            profile=profile, request_id=request_id, to=target, reason=reason, dry_run=dry_run
        )
        # The field's name is a word of the language.
        setattr(request, "from", source)
    return Operation(
        path=f"{SCOPES}/MoveScope",
        request=request,
        reply=pb.MoveScopeResponse,
        read=lambda reply: ScopeMoved(
            moved=reply.moved,
            left=reply.left,
            duplicates=reply.duplicates,
            rejections=reply.rejections,
            event=reply.event or None,
            dry_run=dry_run,
            reviewed=reply.reviewed,
        ),
    )
