"""ScopesService: tell which scopes there are, and move what one holds."""

import grpc
from typing_extensions import override

from graft.memory.v1 import scopes_service_pb2 as pb
from graft.memory.v1 import scopes_service_pb2_grpc
from graft_memstore.deadline import Deadline
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import scope_filter_of
from graft_memstore.service.request_key import request_key
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.stats import count_by_scope
from graft_memstore.visibility import View
from graft_memstore.write.move_scope import MoveOrder, move_scope
from graft_memstore.write.state_change import Saying
from graft_memstore.write.validate import check_scopes


class ScopesServicer(scopes_service_pb2_grpc.ScopesServiceServicer):
    """Answers for the scopes of every profile."""

    def __init__(self, profiles: Profiles[VectorIndex], reviewer: Reviewer) -> None:
        self._profiles = profiles
        self._reviewer = reviewer

    @override
    def ListScopes(
        self, request: pb.ListScopesRequest, context: grpc.ServicerContext
    ) -> pb.ListScopesResponse:
        """List the scopes that hold notes."""
        scope = check_scopes(scope_filter_of(request.scope))
        seconds = Deadline.of_call(context).for_work()
        found: dict[str, pb.ScopeSummary] = {}
        with (
            self._profiles.use(request.profile, seconds) as profile,
            profile.snapshot() as connection,
        ):
            view = View(scope=scope, now_ms=profile.now_ms(connection))
            for name, shown, count in count_by_scope(connection, view):
                if scope.all or name in scope.scopes:
                    summary = found.setdefault(name, pb.ScopeSummary(scope=name))
                    if shown:
                        summary.notes = count
                    else:
                        summary.hidden_notes = count
        listed = sorted(found.values(), key=lambda each: (-each.notes, each.scope))
        return pb.ListScopesResponse(scopes=listed)

    @override
    def MoveScope(
        self, request: pb.MoveScopeRequest, context: grpc.ServicerContext
    ) -> pb.MoveScopeResponse:
        """Move every note of one scope to another."""
        source = getattr(request, "from")
        order = MoveOrder(
            source=source,
            target=request.to,
            key=request_key(request, request.request_id, "MoveScope"),
            saying=Saying(caller=proved_caller(context, self._reviewer), reason=request.reason),
            dry_run=request.dry_run,
        )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            moved = move_scope(profile, order, deadline.for_work())
            if profile.index is not None and not order.dry_run:
                # It knows the scopes of its notes.
                with profile.snapshot() as connection:
                    profile.index.renew(connection)
        return pb.MoveScopeResponse(
            moved=moved.moved,
            left=moved.left,
            reviewed=moved.reviewed,
            duplicates=moved.duplicates,
            rejections=moved.rejections,
            event=moved.event,
        )
