"""What looks like a secret in a note that was sent, as plain data and in words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFinding:
    """What looks like a secret, and where it stands; never the secret.

    Attributes:
        field: of the note: "title", "body", "keywords[0]", "sources[0].locator" and the like.
        line: of the field, from 1.
        column: character of the line, from 1.
        excerpt: what may be shown of it.
    """

    kind: str
    field: str
    line: int
    column: int
    excerpt: str


def finding_words(finding: SecretFinding) -> str:
    """Say what and where, in a line."""
    where = f"{finding.field}, line {finding.line}, column {finding.column}"
    return f"{where} looks like a secret: {finding.kind} ({finding.excerpt})"
