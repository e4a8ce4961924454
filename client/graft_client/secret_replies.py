"""How replies that tell what looks like a secret turn into plain results."""

from collections.abc import Iterable

from graft.memory.v1 import notes_service_pb2
from graft_client.secret_findings import SecretFinding


def secret_findings(
    replies: Iterable[notes_service_pb2.SecretFinding],
) -> tuple[SecretFinding, ...]:
    """Read what looks like a secret."""
    return tuple(
        SecretFinding(
            kind=each.kind,
            field=each.field,
            line=each.line,
            column=each.column,
            excerpt=each.excerpt,
        )
        for each in replies
    )
