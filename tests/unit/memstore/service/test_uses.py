"""How often notes were given out: counted behind the answers, and told with the note."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, START_MS, WAIT_SECONDS, Room, locked, open_room
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft.memory.v1 import notes_service_pb2 as pb
from graft_memstore.lifecycle import Verb
from graft_memstore.model import EventSeq, NoteId
from graft_memstore.store.meta import write as write_meta
from graft_memstore.store.uses import USES_SINCE, Uses, add_uses, read_never_used, read_uses
from graft_memstore.upkeep.ledger import GIVEN_MAX, Given, Ledger

SECONDS = 20
TITLE = "pip cannot see the proxy behind the company firewall"
USER = note_pb2.ScopeFilter(scopes=["user"])
LATER_MS = 2_000


def get(stubs: Stubs, note_id: str) -> pb.NoteUses:
    return stubs.notes.GetNote(pb.GetNoteRequest(id=note_id), timeout=SECONDS).uses


def query(stubs: Stubs, text: str) -> recall_service_pb2.QueryResponse:
    return stubs.recall.Query(
        recall_service_pb2.QueryRequest(text=text, scope=USER), timeout=SECONDS
    )


def settle(room: Room) -> None:
    scribe = room.upkeep.scribe("default")
    assert scribe is not None
    assert scribe.settle(WAIT_SECONDS)


def never_used(room: Room, before_ms: int) -> list[NoteId]:
    with room.profile.snapshot() as connection:
        return read_never_used(connection, before_ms, 10)


def given(note_id: str, at_ms: int = 1) -> Given:
    return Given(note_id=NoteId(note_id), session="", at_ms=at_ms, strong=False, seen=EventSeq(0))


def test_a_note_tells_how_often_it_was_an_answer_and_how_often_it_was_asked_for(
    stubs: Stubs,
) -> None:
    room = stubs.room
    note_id = room.insert(TITLE, "Set `HTTPS_PROXY`.", wait=True).id
    other = room.insert("rotate a picture", wait=True).id

    assert query(stubs, TITLE).hit == recall_service_pb2.HIT_STRONG
    assert query(stubs, TITLE).hit == recall_service_pb2.HIT_STRONG
    at_once = get(stubs, note_id)
    settle(room)
    room.clock.ms += LATER_MS
    settled = get(stubs, note_id)

    assert (at_once.strong, at_once.got, at_once.last_at_ms) == (2, 0, START_MS)
    assert (settled.strong, settled.got, settled.last_at_ms) == (2, 1, START_MS)
    assert get(stubs, note_id).last_at_ms == START_MS + LATER_MS
    unused = get(stubs, other)
    assert (unused.strong, unused.got, unused.HasField("last_at_ms")) == (0, 0, False)


def test_a_title_alone_is_no_use(stubs: Stubs) -> None:
    note_id = stubs.room.insert(TITLE, wait=True).id
    stubs.room.embedder.away["fake"] = "it is being fetched"

    assert query(stubs, TITLE).hit == recall_service_pb2.HIT_WEAK

    assert get(stubs, note_id) == pb.NoteUses(strong=0, got=0)


def test_counting_makes_no_reader_wait_and_waits_for_its_turn(stubs: Stubs) -> None:
    room = stubs.room
    note_id = room.insert(TITLE, wait=True).id

    with locked(room.profile.path):
        get(stubs, note_id)
        seen = get(stubs, note_id)
        written = room.count("SELECT count(*) FROM note_uses")
    settle(room)

    assert (seen.got, written) == (1, 0)
    assert room.count("SELECT got FROM note_uses") == 2


def test_uses_outlive_the_process_and_go_with_the_note(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        note_id = room.insert(TITLE).id
        scribe = room.upkeep.scribe("default")
        assert scribe is not None
        scribe.gave(given(note_id, at_ms=7))

    with open_room(tmp_path, watched=False) as again:
        with again.profile.snapshot() as connection:
            kept = read_uses(connection, note_id)
        again.delete(note_id)
        again.profile.write(
            lambda transaction: add_uses(transaction.connection, note_id, Uses(got=1, last_at_ms=8))
        )

        assert kept == Uses(strong=0, got=1, last_at_ms=7)
        assert again.count("SELECT count(*) FROM note_uses") == 0


@pytest.mark.parametrize(
    "hide",
    [
        lambda room, note_id: room.change(Verb.RETIRE, note_id),
        lambda room, note_id: room.change(Verb.REJECT, note_id),
        lambda room, note_id: room.delete(note_id, caller=AGENT),
    ],
    ids=["retired", "rejected", "deleted"],
)
def test_those_never_used_are_in_force_and_old_enough(
    still_room: Room, hide: Callable[[Room, str], object]
) -> None:
    room = still_room
    first, used, hidden = (room.insert(f"note {number}").id for number in range(3))
    room.clock.ms += LATER_MS
    young = room.insert("a young note").id
    room.profile.write(
        lambda transaction: add_uses(transaction.connection, used, Uses(strong=1, last_at_ms=1))
    )
    hide(room, hidden)

    assert never_used(room, START_MS + 1) == [first]
    assert never_used(room, START_MS + LATER_MS + 1) == [first, young]
    assert never_used(room, START_MS) == []


def test_before_uses_were_counted_nobody_knows_what_was_never_used(still_room: Room) -> None:
    first = still_room.insert("stored by an earlier version").id
    still_room.profile.write(
        lambda transaction: write_meta(transaction.connection, USES_SINCE, str(START_MS + 5))
    )

    assert never_used(still_room, START_MS + 5) == []
    assert never_used(still_room, START_MS + 6) == [first]


def test_the_ledger_keeps_the_newest_when_too_much_waits() -> None:
    ledger = Ledger(lambda: 0.0)
    for number in range(GIVEN_MAX + 1):
        ledger.add(given(f"{number:032x}"))

    taken = ledger.take().given
    ledger.add(given("f" * 32))
    ledger.put_back()
    again = ledger.take().given

    assert [len(taken), len(again)] == [GIVEN_MAX, GIVEN_MAX]
    assert taken[0].note_id == f"{1:032x}"
    assert (again[0].note_id, again[-1].note_id) == (f"{2:032x}", "f" * 32)
    assert not ledger.has_written(ledger.added)
    ledger.done()
    assert ledger.has_written(ledger.added)
    assert not ledger.waits
