"""What is remembered of an agent's session between its hooks: what it was told, what it met."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from graft_client.whole_files import write_whole

SESSIONS_MAX = 100
"""Sessions that are remembered; the oldest make room for new ones."""
TOLD_MAX = 200
"""Notes that are remembered as told, for each session."""


@dataclass(slots=True, kw_only=True)
class SessionState:
    """One session.

    Attributes:
        told: ids of notes that it was given by hooks, marked where it was the title alone.
        met_ms: when it first met an error that no note answers, UTC milliseconds; 0: never.
        solved: a tool has run without an error since.
        asked: it has been asked to save what it learned.
    """

    told: list[str] = field(default_factory=list)
    met_ms: int = 0
    solved: bool = False
    asked: bool = False

    def tell(self, ids: Iterable[str]) -> None:
        """Remember that notes were told, the newest `TOLD_MAX` of them."""
        self.told = [*self.told, *ids][-TOLD_MAX:]


class SessionStates:
    """The states of all sessions, a file each, in *folder*; a home that is not there gets none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, session: str) -> SessionState:
        """Return what is remembered of *session*; nothing where that cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            content = json.loads(self._path(session).read_text("utf-8"))
            return SessionState(
                told=[str(each) for each in content["told"]][-TOLD_MAX:],
                met_ms=int(content["met_ms"]),
                solved=bool(content["solved"]),
                asked=bool(content["asked"]),
            )
        return SessionState()

    def write(self, session: str, state: SessionState) -> None:
        """Remember *state*; where that cannot be done, it is forgotten."""
        path = self._path(session)
        with suppress(OSError):
            if not path.exists():
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._make_room()
            write_whole(path, json.dumps(asdict(state)).encode(), synced=False)

    def _path(self, session: str) -> Path:
        # Names come from agents, and may hold anything.
        return (
            self._folder / f"{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()}.json"
        )

    def _make_room(self) -> None:
        kept = sorted(self._folder.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)
        for path in kept[: max(len(kept) - SESSIONS_MAX + 1, 0)]:
            path.unlink(missing_ok=True)
