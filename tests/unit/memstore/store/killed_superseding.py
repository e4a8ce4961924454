"""Supersedes a note in copies of a home, each time killed before one statement more.

Run as a program it takes a prepared home, a folder for the copies and a way, and prints how many
statements there were; the copy that is named by that number was acknowledged, all others killed.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from tests.unit.memstore.room import Room, open_room

from graft_memstore.ids import IdMaker
from graft_memstore.lifecycle import Verb
from graft_memstore.model import NewNote, Source, SourceKind
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.write.receipts import RequestKey

OLD, NEW = "the pooler listens on port 6432", "the pooler listens on port 7000"
REQUEST = "5d0c7c2e-1f0e-4d0a-9d7e-0c8f3f1f2a10"


def open_same(home: Path) -> Room:
    """Open a home whose new ids are the same every time."""
    room = Room(home, watched=False)
    room.clock.ms += 1_000
    similar = SimilarNotes(room.clock)
    room.inserter = type(room.inserter)(room.embedder, similar, IdMaker(bytes))
    return room


def prepare(home: Path) -> dict[str, str]:
    """Store two notes and return their ids by their titles."""
    source = Source(kind=SourceKind.URL, locator="https://example.com/pooler")
    with open_room(home, watched=False) as room:
        return {
            title: room.insert(
                note=NewNote(title=title, keywords=("pooler",), sources=(source,))
            ).id
            for title in (OLD, "another pooler altogether")
        }


def by_insert(room: Room, old: str, _: str) -> None:
    note = NewNote(title=NEW, keywords=("pooler", "port"), supersedes=old, reason="moved")
    room.insert(
        note=note, key=RequestKey(request_id=REQUEST, method="InsertNote", payload_hash=b"")
    )


def by_id(room: Room, old: str, new: str) -> None:
    key = RequestKey(request_id=REQUEST, method="SupersedeNote", payload_hash=b"")
    room.change(Verb.SUPERSEDE, old, by=new, key=key)


WAYS: dict[str, Callable[[Room, str, str], None]] = {"insert": by_insert, "id": by_id}


def _die_before(statement: int) -> Callable[[object, str, object], bool]:
    seen = count()

    def trace(*_: object) -> bool:
        if next(seen) == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    return trace


def _supersede(home: Path, way: str, statement: int, old: str, new: str) -> None:
    room = open_same(home)
    room.profile.run(lambda connection: setattr(connection, "exec_trace", _die_before(statement)))
    WAYS[way](room, old, new)


def main() -> None:
    """Fork once for each statement: the imports are done, and no thread runs here."""
    prepared, copies, way, old, new = sys.argv[1:]
    for statement in count():
        home = Path(copies) / str(statement)
        shutil.copytree(prepared, home)
        child = os.fork()
        if child == 0:
            _supersede(home, way, statement, old, new)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            sys.stdout.write(f"{statement}\n")
            return
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            sys.exit(f"before statement {statement} it ended with {status}")


if __name__ == "__main__":
    main()
