"""Between the proto's words about secrets and the memstore's own."""

from graft.memory.v1 import notes_service_pb2 as pb
from graft_memstore.leaks.scan import Finding
from graft_memstore.write.screen import SecretsWish


def wish_of(
    request: pb.InsertNoteRequest | pb.InsertNotesRequest, *, has_reviewer: bool
) -> SecretsWish:
    """Read what a caller wants done about secrets."""
    return SecretsWish(
        strict=request.strict_secrets, allow=request.allow_secret, has_reviewer=has_reviewer
    )


def finding_message(finding: Finding) -> pb.SecretFinding:
    """Pack what looks like a secret."""
    return pb.SecretFinding(
        kind=finding.kind,
        field=finding.field,
        line=finding.line,
        column=finding.column,
        excerpt=finding.excerpt,
    )
