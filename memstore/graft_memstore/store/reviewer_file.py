"""The files that tell a reviewer: a salted hash of the passphrase, and attempts that failed."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from graft.wire.errors import WrongStateError
from graft_memstore.store.whole_file import write_whole

REVIEWER_FILE = "reviewer.json"
ATTEMPTS_FILE = "reviewer-attempts.json"
ACTION_SET = "reviewer-set"
"""Of the event that records it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReviewer:
    """What a home keeps of its reviewer.

    Attributes:
        salt, hash: hexadecimal; of the passphrase nothing else is kept.
        profile, event: the event that recorded it, and in whose log that is.
    """

    salt: str
    hash: str
    set_at_ms: int
    profile: str
    event: int

    def sealed_bytes(self) -> bytes:
        """Return what the event's digest is made of."""
        return bytes.fromhex(self.salt) + bytes.fromhex(self.hash)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Passphrases that were wrong, one after another, and when the last one came."""

    failures: int = 0
    last_at_ms: int = 0


class ReviewerFiles:
    """The two files in the folder of the audit key; both for their owner alone."""

    def __init__(self, folder: Path) -> None:
        self._reviewer = folder / REVIEWER_FILE
        self._attempts = folder / ATTEMPTS_FILE

    def exists(self) -> bool:
        """Tell whether a reviewer has been set up; a file that is damaged counts."""
        return self._reviewer.exists()

    def read(self) -> StoredReviewer | None:
        """Return the reviewer, None where none was set up.

        Raises:
            WrongStateError: the file cannot be read, or holds something else.
        """
        try:
            return StoredReviewer(**json.loads(self._reviewer.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError) as error:
            raise WrongStateError(
                f"{self._reviewer} cannot be used ({type(error).__name__}); put it back from a "
                "backup",
                metadata={"state": "damaged"},
            ) from error

    def write(self, reviewer: StoredReviewer) -> None:
        """Put *reviewer* in the place of the one before: whole, or not at all.

        Raises:
            DiskFullError, WrongStateError: it cannot be written; what was there stays.
        """
        write_whole(self._reviewer, asdict(reviewer))

    def read_attempts(self) -> Attempts:
        """Return the attempts that failed; a file that is damaged counts as none."""
        try:
            return Attempts(**json.loads(self._attempts.read_text("utf-8")))
        except (OSError, TypeError, ValueError):
            return Attempts()

    def write_attempts(self, attempts: Attempts) -> None:
        """Remember *attempts* over restarts.

        Raises:
            DiskFullError, WrongStateError: they cannot be written.
        """
        write_whole(self._attempts, asdict(attempts))
