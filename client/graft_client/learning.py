"""How far an agent has learned a project: its topics, each open, done or skipped, in a file.

The file outlives the agent's sessions. It lies in the home, one for each profile and project, and
holds no note.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from graft.wire.locks import FileLock
from graft.wire.paths import Home
from graft_client.errors import GraftError, InputError
from graft_client.scope import Project
from graft_client.whole_files import write_whole

TopicState = Literal["open", "done", "skipped"]
TOPIC_STATES: tuple[TopicState, ...] = get_args(TopicState)

TOPICS_MAX = 500
TOPIC_CHARS_MAX = 200
REMARK_CHARS_MAX = 500
FILE_BYTES_MAX = 4 << 20
LOCK_SECONDS = 10.0
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One thing to learn of a project.

    Attributes:
        remark: where it was left off, or why it was skipped.
    """

    name: str
    state: TopicState
    remark: str
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """How far a project is learned: topics in the order in which they were named."""

    scope: str
    topics: tuple[Topic, ...] = ()

    @property
    def next(self) -> str | None:
        """The first topic that is open; None where none is."""
        return next((each.name for each in self.topics if each.state == "open"), None)

    def count(self, state: TopicState) -> int:
        """Count the topics in a state."""
        return sum(each.state == state for each in self.topics)

    def marked(
        self, names: Sequence[str], state: TopicState, remark: str | None, at: datetime
    ) -> "Learned":
        """Return this with topics put into a state; those that are not there yet are added.

        Args:
            names: of the topics.
            state: what they are to be.
            remark: kept with each of them; None keeps what is there.
            at: when.

        Raises:
            InputError: a name or the remark cannot be, or there would be too many topics.
        """
        if remark is not None and len(remark) > REMARK_CHARS_MAX:
            raise InputError(
                f"the remark has {len(remark):,} characters; {REMARK_CHARS_MAX} at most"
            )
        topics = {each.name: each for each in self.topics}
        for name in map(_checked, names):
            before = topics.get(name)
            kept = before.remark if before is not None and remark is None else remark or ""
            topics[name] = Topic(name=name, state=state, remark=kept, updated_at=at)
        if len(topics) > TOPICS_MAX:
            raise InputError(f"{len(topics):,} topics; {TOPICS_MAX} at most, so join some of them")
        return replace(self, topics=tuple(topics.values()))

    def without(self, names: Sequence[str]) -> "Learned":
        """Return this without topics.

        Raises:
            InputError: one of them is not there.
        """
        gone = {_checked(name) for name in names}
        unknown = gone - {each.name for each in self.topics}
        if unknown:
            raise InputError(f"no topic {min(unknown)!r}; see: graft project status")
        return replace(self, topics=tuple(each for each in self.topics if each.name not in gone))


class LearningFile:
    """The file of one profile and project."""

    def __init__(self, home: Home, profile: str, project: Project) -> None:
        self._home = home
        self._scope = project.scope
        folder = home.root / "projects" / profile
        self.path = folder / _name(project.scope)
        # Where it was before the repository had a remote.
        self._before = folder / _name(project.path_scope)

    def read(self) -> Learned:
        """Return what is known; nothing where there is no file.

        Raises:
            GraftError: it cannot be read.
        """
        for path in dict.fromkeys((self.path, self._before)):
            try:
                with path.open("rb") as file:
                    return Learned(scope=self._scope, topics=_topics(file.read(FILE_BYTES_MAX)))
            except FileNotFoundError:
                continue
            except (
                OSError,
                ValueError,
                KeyError,
                TypeError,
                AttributeError,
                OverflowError,
            ) as error:
                raise GraftError(
                    f"{path} cannot be read ({type(error).__name__}); move it away, or begin anew"
                    " with: graft project reset"
                ) from error
        return Learned(scope=self._scope)

    def write(self, learned: Learned) -> None:
        """Keep *learned*; call it while the file is locked.

        Raises:
            GraftError: it cannot be written.
        """
        content = {
            "scope": learned.scope,
            "topics": [
                {
                    "name": each.name,
                    "state": each.state,
                    "remark": each.remark,
                    "updated_at": each.updated_at.isoformat(),
                }
                for each in learned.topics
            ],
        }
        with _told(self.path):
            write_whole(self.path, json.dumps(content, ensure_ascii=False, indent=1).encode())
            if self._before != self.path:
                self._before.unlink(missing_ok=True)

    def exists(self) -> bool:
        """Tell whether anything is known, readable or not."""
        return self.path.exists() or self._before.exists()

    def remove(self) -> None:
        """Forget everything.

        Raises:
            GraftError: the file cannot be removed.
        """
        with _told(self.path):
            self.path.unlink(missing_ok=True)
            self._before.unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other programs from changing the file while the block runs.

        Raises:
            GraftError: another program is at it for too long, or the home cannot be written.
        """
        with _told(self.path):
            self._home.create()
            for folder in (self.path.parent.parent, self.path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
        lock = FileLock(self.path.with_suffix(".lock"))
        pause, end = threading.Event(), time.monotonic() + LOCK_SECONDS
        while not lock.try_acquire():
            if time.monotonic() > end:
                raise GraftError(f"another program has been changing {self.path}; try again")
            pause.wait(POLL_SECONDS)
        try:
            yield
        finally:
            lock.release()


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GraftError(
            f"{path} cannot be written: {error.strerror or error}; see: graft doctor"
        ) from error


def _name(scope: str) -> str:
    return f"{hashlib.sha256(scope.encode()).hexdigest()[:32]}.json"


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise InputError("a topic needs a name in words")
    if len(name) > TOPIC_CHARS_MAX:
        raise InputError(f"a topic's name has {len(name):,} characters; {TOPIC_CHARS_MAX} at most")
    return name


def _topics(content: bytes) -> tuple[Topic, ...]:
    return tuple(_topic(each) for each in json.loads(content)["topics"])


def _topic(content: Mapping[str, Any]) -> Topic:
    if content["state"] not in TOPIC_STATES:
        raise ValueError("no such state")
    return Topic(
        name=str(content["name"]),
        state=content["state"],
        remark=str(content["remark"]),
        updated_at=datetime.fromisoformat(content["updated_at"]),
    )
