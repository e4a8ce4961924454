"""Who calls: an agent, unless the call carries the token of a reviewer's session."""

from dataclasses import replace

import grpc

from graft.wire.errors import NotAllowedError
from graft.wire.metadata import CallMetadata
from graft_memstore.lifecycle import REVIEWING_DOORS
from graft_memstore.model import Caller
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.convert import caller_of


def proved_caller(context: grpc.ServicerContext, reviewer: Reviewer) -> Caller:
    """Read who calls; a token that opens nothing is refused, never taken for an agent's call.

    Raises:
        NotAllowedError: its token is of no session, or comes through an agent's own door.
    """
    caller = caller_of(context)
    pairs = ((pair[0], pair[1]) for pair in context.invocation_metadata() or ())
    token = CallMetadata.read(pairs).reviewer
    if not token:
        return caller
    if caller.door not in REVIEWING_DOORS:
        raise NotAllowedError(f"no reviewer comes through the door {caller.door}")
    return replace(caller, actor=reviewer.role_of(token))
