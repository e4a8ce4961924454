"""A search against a superseding sees the old note or the new one, at no moment both or neither."""

import threading

import pytest
from tests.unit.memstore.recall.served import Served

from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.model import NewNote

pytestmark = pytest.mark.timeout(300)

TIMES = 1_000
TITLE = "the staging pooler listens on port {}"


def test_every_search_sees_one_note_of_the_chain(served: Served) -> None:
    room = served.room
    room.insert("something else about the weather in the staging area")
    chain = [room.insert(TITLE.format(0)).id]
    done = threading.Event()
    seen: list[tuple[str, list[str]]] = []

    def supersede() -> None:
        try:
            for number in range(1, TIMES):
                room.clock.ms += 1
                title = TITLE.format(number)
                note = NewNote(title=title, supersedes=chain[-1], reason="moved")
                chain.append(room.insert(note=note).id)
        finally:
            done.set()

    writer = threading.Thread(target=supersede)
    writer.start()
    while not done.is_set():
        ranked = [each.id for each in served.retrieve(TITLE.format(0)).results]
        answer = served.query(TITLE.format(0))
        asked = [answer.note.id] if answer.hit != pb.HIT_MISS else [each.id for each in answer.near]
        seen += [("retrieve", ranked), ("query", asked)]
    writer.join()

    ids = set(chain)
    assert len(seen) > TIMES // 10
    for read, told in seen:
        assert len(ids & set(told)) == 1, (read, told)
