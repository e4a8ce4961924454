"""Beside a STRONG answer stands what says otherwise, until somebody has judged the pair."""

import pytest
from tests.unit.memstore.recall.served import SECONDS, USER, Served
from tests.unit.memstore.room import AGENT

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Decision, NewNote, NoteId, ScopeFilter
from graft_memstore.store.review_items import ItemFilter, read_open_items
from graft_memstore.upkeep.resolve import Resolution, resolve_item
from graft_memstore.upkeep.scan import scan_notes
from graft_memstore.write.state_change import Saying

ANSWER = "Restart the staging pooler of the shop during nightly backups"
DENIAL = "Do not restart the staging pooler of the shop during nightly backups"
OTHERS = (
    "Postgres sorts differently after a libc upgrade",
    "systemd user services stop when the session ends",
    "Docker build cache is invalidated by COPY of the whole tree",
)


def against(reply: pb.QueryResponse) -> list[tuple[str, str]]:
    return [(each.id, each.why) for each in reply.against]


def insert(served: Served, title: str, scope: str = "user") -> NoteId:
    served.room.clock.ms += 1_000
    return served.room.insert(note=NewNote(title=title, scope=scope)).id


@pytest.mark.parametrize(
    ("answer", "other", "why"),
    [
        (ANSWER, DENIAL, "denies what the answer says"),
        (
            "Enable write barriers on the staging database of the shop",
            "Disable write barriers on the staging database of the shop",
            "says the opposite of the answer",
        ),
        (
            "The staging pooler of the shop listens on port 6432",
            "The staging pooler of the shop listens on port 7000",
            "says another value than the answer",
        ),
    ],
)
def test_what_says_otherwise_is_told_beside_the_answer(
    served: Served, answer: str, other: str, why: str
) -> None:
    for title in OTHERS:
        insert(served, title)
    told = insert(served, answer)
    alone = served.query(answer)
    contrary = insert(served, other)

    both = served.query(answer)

    assert (alone.hit, alone.note.id, against(alone)) == (pb.HIT_STRONG, told, [])
    assert (both.hit, both.note.id) == (pb.HIT_STRONG, told)
    assert against(both) == [(contrary, why)]
    assert both.against[0].title == other
    assert both.against[0].trust == note_pb2.TRUST_OBSERVED


def test_another_scopes_note_a_hidden_one_and_the_past_say_nothing(served: Served) -> None:
    for title in OTHERS:
        insert(served, title)
    told = insert(served, ANSWER)
    insert(served, DENIAL, scope="project:theirs")
    gone = insert(served, DENIAL)
    shown = served.query(ANSWER)
    look_back = pb.QueryRequest(
        text=ANSWER, scope=USER, as_of=note_pb2.AsOf(known_at_ms=served.room.clock.ms)
    )
    past = served.recall.Query(look_back, timeout=SECONDS)
    served.room.change(Verb.RETIRE, gone)

    hidden = served.query(ANSWER)

    assert [note for note, _ in against(shown)] == [gone]
    assert (past.hit, past.note.id, against(past)) == (pb.HIT_STRONG, told, [])
    assert (hidden.note.id, against(hidden)) == (told, [])


def test_a_pair_that_somebody_judged_is_told_no_more(served: Served) -> None:
    room = served.room
    for title in OTHERS:
        insert(served, title)
    insert(served, ANSWER)
    contrary = insert(served, DENIAL)
    before = served.query(ANSWER)
    room.wait_until_joined()
    everywhere = ScopeFilter(all=True)
    list(scan_notes(room.profile, everywhere, 30, Deadline(30.0)))
    with room.profile.snapshot() as connection:
        items = read_open_items(connection, ItemFilter(scope=everywhere), count_max=10)
    (item,) = (each for each in items if each.other_id == contrary)
    resolution = Resolution(
        item_id=item.item_id,
        decision=Decision.KEEP_BOTH,
        keep="",
        key=room.key("ResolveItem"),
        saying=Saying(caller=AGENT, reason="one is of the shop's old cluster"),
    )

    resolve_item(room.profile, resolution, 30.0)

    assert [note for note, _ in against(before)] == [contrary]
    assert against(served.query(ANSWER)) == []
