"""How replies that tell who vouches and who decides turn into plain results."""

from graft.memory.v1 import note_pb2, review_service_pb2
from graft_client.authority import Oracle, ReviewerStatus
from graft_client.times import from_milliseconds
from graft_client.vocabulary import ORACLES


def reviewer(reply: review_service_pb2.ReviewerStatus) -> ReviewerStatus:
    """Read how the reviewer is."""
    return ReviewerStatus(
        exists=reply.exists,
        since=from_milliseconds(reply.set_at_ms) if reply.set_at_ms else None,
        event=reply.event,
        profile=reply.profile,
        failures=reply.failures,
        problem=reply.problem,
    )


def oracle(reply: note_pb2.Oracle) -> Oracle:
    """Read by what a note was verified."""
    return Oracle(
        kind=ORACLES.get(reply.kind, "run"),
        commit=reply.commit,
        command=reply.command,
        exit_code=reply.exit_code,
        output_digest=reply.output_digest,
        by=reply.actor,
        session=reply.session,
        door=reply.door,
        at=from_milliseconds(reply.at_ms),
    )
