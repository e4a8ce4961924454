"""Refusals of the memstore that name several fields at once."""

from collections.abc import Sequence

from graft.wire.errors import BadFieldError, FieldViolation, ServiceError


class BadFieldsError(BadFieldError):
    """One or more fields are missing, malformed or over a limit."""

    def __init__(self, violations: Sequence[FieldViolation]) -> None:
        message = "; ".join(f"{each.field}: {each.description}" for each in violations)
        ServiceError.__init__(self, message, violations=violations)
