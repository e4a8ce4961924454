"""Questions in vain as a client meets them: kept, listed, answered by a note, erased."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import grpc
import pytest
from tests.unit.memstore.recall.served import SECONDS, TITLE, USER, Served, refusal_of, serve
from tests.unit.memstore.room import START_MS, Room, locked, open_room

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.metadata import CallMetadata
from graft_memstore.model import NewNote
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.misses import MISSES_MAX

ALL = note_pb2.ScopeFilter(all=True)
OTHER = note_pb2.ScopeFilter(scopes=["project:b", "user"])
REQUEST_ID = str(UUID(int=7))
QUESTION = "quokkas vortexquestion"


def misses(
    served: Served, scope: note_pb2.ScopeFilter = ALL, limit: int = 0
) -> pb.ListMissesResponse:
    request = pb.ListMissesRequest(scope=scope, limit=limit)
    return served.recall.ListMisses(request, timeout=SECONDS)


def questions(served: Served, scope: note_pb2.ScopeFilter = ALL) -> dict[str, int]:
    return {each.question: each.count for each in misses(served, scope).groups}


def clear(
    served: Served, scope: note_pb2.ScopeFilter = ALL, request_id: str = REQUEST_ID
) -> pb.ClearMissesResponse:
    request = pb.ClearMissesRequest(request_id=request_id, scope=scope)
    return served.recall.ClearMisses(request, timeout=SECONDS)


def ask_in(served: Served, scope: note_pb2.ScopeFilter, text: str) -> pb.QueryResponse:
    return served.recall.Query(pb.QueryRequest(text=text, scope=scope), timeout=SECONDS)


def files_hold(room: Room, word: str) -> bool:
    folder = room.profile.path.parent
    return any(word.encode() in path.read_bytes() for path in folder.iterdir())


def test_what_a_hook_asked_is_no_question_that_was_missed(served: Served) -> None:
    hook = CallMetadata(door="hook", session="s-1").to_pairs()
    request = pb.QueryRequest(text="please tidy up this function", scope=USER)
    served.recall.Query(request, timeout=SECONDS, metadata=hook)
    served.query(QUESTION)

    kept = questions(served)

    assert kept == {QUESTION: 1}


def test_a_miss_is_kept_and_listed_at_once(served: Served) -> None:
    for text in (QUESTION, QUESTION, "another thing entirely"):
        assert served.query(text).hit == pb.HIT_MISS

    reply = misses(served, USER)

    (first, second) = reply.groups
    assert reply.kept
    assert (first.question, first.count, list(first.scopes)) == (QUESTION, 2, ["user"])
    assert (first.first_at_ms, first.last_at_ms, first.answered_by) == (START_MS, START_MS, "")
    assert (second.question, second.count) == ("another thing entirely", 1)
    assert len(misses(served, limit=1).groups) == 1


def test_of_a_paste_with_an_error_the_telling_part_is_kept(served: Served) -> None:
    for part in (1, 2):
        noise = "\n".join(f"07:0{part}:{second:02} INFO part {second} read" for second in range(60))
        served.query(f"{noise}\nshop.errors.TillJammedError: drawer 7 does not open\n{noise}")

    assert questions(served) == {"TillJammedError: drawer 7 does not open": 2}


def test_an_answer_is_no_miss(served: Served) -> None:
    served.room.insert(TITLE, wait=True)
    strong = served.query(TITLE)
    served.room.embedder.away["fake"] = "it is being fetched"
    weak = served.query(TITLE)

    assert (strong.hit, weak.hit) == (pb.HIT_STRONG, pb.HIT_WEAK)
    assert questions(served) == {}


def test_a_miss_without_the_model_is_kept_by_its_words(served: Served) -> None:
    served.room.embedder.away["fake"] = "it is being fetched"
    served.query(QUESTION)
    served.room.embedder.away.clear()
    served.query(QUESTION)

    assert questions(served) == {QUESTION: 2}
    assert served.room.insert(QUESTION).answers == 2


def test_other_scopes_questions_are_neither_told_nor_erased(served: Served) -> None:
    ask_in(served, USER, "asked in user")
    ask_in(served, OTHER, "asked in project b")
    ask_in(served, ALL, "asked everywhere")

    here = questions(served, USER)
    cleared = clear(served, USER)

    assert here == {"asked in user": 1}
    assert (cleared.groups, cleared.questions) == (1, 1)
    assert questions(served) == {"asked in project b": 1, "asked everywhere": 1}
    assert questions(served, OTHER) == {"asked in project b": 1}


def test_an_insert_says_how_many_questions_it_answers(served: Served) -> None:
    for _ in range(3):
        served.query(TITLE)
    served.query("rotate a picture")
    assert questions(served) == {TITLE: 3, "rotate a picture": 1}

    unrelated = served.room.insert("where quokkas live", wait=True)
    stored = served.room.insert(TITLE, "Set HTTPS_PROXY.", wait=True)
    twin = served.room.insert(TITLE, "Set HTTPS_PROXY.", wait=True)

    assert (unrelated.answers, stored.answers, twin.answers) == (0, 3, 0)
    assert {each.question: each.answered_by for each in misses(served).groups} == {
        "rotate a picture": "",
        TITLE: stored.id,
    }
    assert served.query(TITLE).hit == pb.HIT_STRONG


def test_a_retried_insert_says_the_same(served: Served) -> None:
    served.query(TITLE)
    assert questions(served) == {TITLE: 1}
    key = served.room.key()

    first = served.room.insert(TITLE, key=key)
    again = served.room.insert(TITLE, key=key)

    assert (first.answers, again.answers, again.id) == (1, 1, first.id)


def test_of_a_batch_each_note_says_what_it_answers_and_no_question_counts_twice(
    served: Served,
) -> None:
    served.query(TITLE)
    ask_in(served, OTHER, "the port of the staging proxy")
    assert len(misses(served).groups) == 2

    stored = served.room.insert_all(
        [
            NewNote(title=TITLE, body="one"),
            NewNote(title=TITLE, body="another"),
            NewNote(title="the port of the staging proxy", scope="project:b"),
            NewNote(title="the port of the staging proxy", scope="project:c"),
        ]
    )

    assert [each.answers for each in stored.notes] == [1, 0, 1, 0]


def test_an_insert_whose_vector_cannot_be_had_answers_nothing(served: Served) -> None:
    served.query(TITLE)
    assert questions(served) == {TITLE: 1}
    served.room.embedder.away["fake"] = "it is being fetched"

    assert served.room.insert(TITLE).answers == 0


def test_erased_questions_leave_no_word_in_any_file(served: Served) -> None:
    served.query(QUESTION)
    assert questions(served) == {QUESTION: 1}
    before = files_hold(served.room, "vortexquestion")

    reply = clear(served)

    assert before
    assert (reply.groups, reply.questions, reply.erasing) == (1, 1, False)
    assert not files_hold(served.room, "vortexquestion")
    assert questions(served) == {}
    with served.room.profile.snapshot() as connection:
        assert count_erasures(connection) == 0


def test_questions_that_were_just_asked_are_erased_as_well(served: Served) -> None:
    served.query(QUESTION)

    reply = clear(served)

    assert reply.questions == 1
    assert questions(served) == {}


def test_a_reader_puts_erasing_off_and_it_is_said(served: Served) -> None:
    served.query(QUESTION)
    assert questions(served) == {QUESTION: 1}
    with served.room.profile.snapshot():
        reply = clear(served)

    assert reply.erasing
    assert questions(served) == {}


def test_a_retried_erasure_answers_the_same_and_spares_what_came_since(served: Served) -> None:
    served.query(QUESTION)
    first = clear(served)
    served.query(QUESTION)
    again = clear(served)

    assert again == first
    assert questions(served) == {QUESTION: 1}
    refusal = refusal_of(lambda: clear(served, USER))
    assert refusal.reason == "REQUEST_ID_REUSED"


def test_erasing_nothing_is_no_error(served: Served) -> None:
    assert clear(served) == pb.ClearMissesResponse()


def test_a_listing_is_answered_while_another_program_holds_the_lock(served: Served) -> None:
    served.query(QUESTION)
    assert questions(served) == {QUESTION: 1}
    with locked(served.room.profile.path):
        served.query("another thing entirely")
        told = questions(served)

    assert told == {QUESTION: 1}
    assert questions(served) == {QUESTION: 1, "another thing entirely": 1}


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Served]:
    """A served room that keeps no questions."""
    with open_room(tmp_path, keep_misses=False) as room, serve(room) as opened:
        yield opened


def test_switched_off_no_question_is_written_anywhere(forgetful: Served) -> None:
    receipt = forgetful.query(QUESTION).receipt

    reply = misses(forgetful)

    assert (list(reply.groups), reply.kept) == ([], False)
    assert forgetful.room.count("SELECT count(*) FROM receipts") == 1
    assert forgetful.explain(receipt).hit == pb.HIT_MISS
    assert not files_hold(forgetful.room, "vortexquestion")


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda served: misses(served, note_pb2.ScopeFilter()), "scope"),
        (lambda served: misses(served, limit=MISSES_MAX + 1), "limit"),
        (lambda served: clear(served, note_pb2.ScopeFilter()), "scope"),
        (lambda served: clear(served, request_id="no uuid"), "request_id"),
    ],
    ids=["no scope", "too many", "no scope to clear", "no uuid"],
)
def test_what_cannot_be_meant_is_refused_and_the_field_named(
    served: Served, call: object, field: str
) -> None:
    assert callable(call)

    refusal = refusal_of(lambda: call(served))

    assert (refusal.reason, [each.field for each in refusal.violations]) == ("BAD_FIELD", [field])


def test_no_question_is_ever_logged(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        with locked(served.room.profile.path):
            served.query(QUESTION)
        misses(served)
        clear(served)
        with pytest.raises(grpc.RpcError):
            served.explain(QUESTION)

    assert caplog.records
    assert "vortexquestion" not in caplog.text
