"""Who answers for what: by what a note was verified, and the reviewer of a home."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

OracleKind = Literal["reviewer", "commit", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """What a note was verified by; all but a reviewer's word is a claim of whoever called.

    Attributes:
        commit: whole hash of a commit that touches one of its sources.
        command: that was run, with *exit_code*.
        output_digest: SHA-256 of what it printed, 64 hex digits.
        by: role of whoever said so, in *session* and through *door*; set by the service.
    """

    kind: OracleKind
    commit: str = ""
    command: str = ""
    exit_code: int = 0
    output_digest: str = ""
    by: str = ""
    session: str = ""
    door: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerStatus:
    """The reviewer of a home.

    Attributes:
        since: when the passphrase was set; None where no reviewer has been set up.
        event: that recorded it, in the log of *profile*.
        failures: wrong passphrases since the last right one.
        problem: why the file that keeps the hash cannot be used; empty where it can.
    """

    exists: bool = False
    since: datetime | None = None
    event: int = 0
    profile: str = ""
    failures: int = 0
    problem: str = ""
