"""Questions that nothing answered, as the proto tells them."""

from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import BadFieldError, BusyError
from graft_memstore.deadline import Deadline
from graft_memstore.model import Caller
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.convert import scope_filter_of
from graft_memstore.service.request_key import request_key
from graft_memstore.store.misses import MISSES_MAX, MissGroup, read_misses
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.scribe import Scribe
from graft_memstore.write.clear_misses import forget_misses
from graft_memstore.write.validate import check_scopes

GROUPS_DEFAULT = 50
SETTLE_SECONDS = 2.0
"""How long a listing waits for what has just been asked to be written."""
RETRY_AFTER_MS = 500


def list_misses(
    profile: Profile[VectorIndex], scribe: Scribe, request: pb.ListMissesRequest
) -> pb.ListMissesResponse:
    """Answer which questions nothing has answered.

    Raises:
        BadFieldError: there is no scope, or more is wanted than can be had.
        ServiceError: see `Profile.snapshot`.
    """
    scope = check_scopes(scope_filter_of(request.scope))
    if request.limit > MISSES_MAX:
        raise BadFieldError("limit", f"{request.limit}; {MISSES_MAX} at most")
    # Where nothing can be written now, what was written before is told.
    scribe.settle(SETTLE_SECONDS)
    with profile.snapshot() as connection:
        groups = read_misses(
            connection,
            scope,
            now_ms=profile.now_ms(connection),
            count_max=request.limit or GROUPS_DEFAULT,
        )
    return pb.ListMissesResponse(
        groups=[_message(each) for each in groups], kept=scribe.keeps_misses
    )


def clear_misses(
    profile: Profile[VectorIndex],
    scribe: Scribe,
    request: pb.ClearMissesRequest,
    caller: Caller,
    deadline: Deadline,
) -> pb.ClearMissesResponse:
    """Erase questions, those that were just asked among them.

    Raises:
        BadFieldError: there is no scope, or the request_id is no UUID.
        BusyError: questions wait that cannot be written now, and so would come back.
        ServiceError: see `forget_misses`.
    """
    key = request_key(request, request.request_id, "ClearMisses")
    scope = check_scopes(scope_filter_of(request.scope))
    if not scribe.settle(deadline.sooner(SETTLE_SECONDS)):
        raise BusyError(
            "questions that were just asked still wait to be written and cannot be erased yet; "
            "try again",
            retry_after_ms=RETRY_AFTER_MS,
        )
    cleared = forget_misses(profile, scope, key, caller, deadline.for_work())
    return pb.ClearMissesResponse(
        groups=cleared.groups, questions=cleared.questions, erasing=cleared.erasing
    )


def _message(group: MissGroup) -> pb.MissGroup:
    return pb.MissGroup(
        question=group.question,
        count=group.count,
        first_at_ms=group.first_at_ms,
        last_at_ms=group.last_at_ms,
        scopes=group.scope.scopes,
        all_scopes=group.scope.all,
        answered_by=group.answered_by or "",
    )
