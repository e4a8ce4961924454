"""Hidden notes that an answer had to do without: id and state, of the asked scopes alone."""

from dataclasses import replace

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    EVERYWHERE,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
    embed,
)

from graft_memstore.model import Condition, NoteId, ScopeFilter
from graft_memstore.recall.answer import Question
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.withheld import PLACES, WITHHELD_MAX, find_withheld
from graft_memstore.store.withheld import present_notes
from graft_memstore.visibility import View

TITLE = "Kafka consumer lag grows after a rebalance"
BODY = "Set max.poll.interval.ms above the slowest batch."
HERE = ScopeFilter(scopes=("user",))

STATES = [
    (State(), Condition.SHOWN),
    (State(trust="candidate"), Condition.SHOWN),
    (State(trust="stale", expires_at=NOW_MS + 1), Condition.SHOWN),
    (State(valid_from=NOW_MS, valid_to=NOW_MS + 1), Condition.SHOWN),
    (State(lifecycle="superseded"), Condition.SUPERSEDED),
    (State(lifecycle="retired", trust="rejected"), Condition.RETIRED),
    (State(trust="held"), Condition.HELD),
    (State(trust="rejected"), Condition.REJECTED),
    (State(expires_at=NOW_MS), Condition.EXPIRED),
    (State(valid_from=NOW_MS + 1), Condition.NOT_YET_VALID),
    (State(valid_to=NOW_MS), Condition.NO_LONGER_VALID),
]
EVERY_STATE = pytest.mark.parametrize(("state", "condition"), STATES)


def index_of(store: NoteStore, state: str) -> VectorIndex:
    index = VectorIndex(MODEL, DIMENSIONS)
    if state == "int8":
        index.load(store.connection)
    return index


def withheld(
    store: NoteStore, question: Question, index: VectorIndex | None = None
) -> list[tuple[NoteId, Condition]]:
    found = find_withheld(store.connection, index or VectorIndex(MODEL, DIMENSIONS), question)
    return [(each.note_id, each.condition) for each in found]


@EVERY_STATE
def test_a_note_is_withheld_exactly_when_a_query_does_not_show_it(
    store: NoteStore, any_index: str, state: State, condition: Condition
) -> None:
    note_id = store.add(TITLE, BODY, state=state)
    index = index_of(store, any_index)

    answer = answer_query(store.connection, index, ask(TITLE, scope=HERE))

    shown = note_id in [each.note_id for each in answer.grounds.looked_at]
    hidden = withheld(store, ask(TITLE, scope=HERE), index)
    assert shown == (condition is Condition.SHOWN)
    assert hidden == ([] if shown else [(note_id, condition)])


@EVERY_STATE
def test_a_title_is_told_later_exactly_when_a_query_shows_it(
    store: NoteStore, state: State, condition: Condition
) -> None:
    note_id, gone = store.add(TITLE, BODY, state=state), NoteId("f" * 32)

    found = present_notes(store.connection, [note_id, gone], View(scope=HERE, now_ms=NOW_MS))

    assert (found[note_id].condition, found[gone].condition) == (condition, Condition.DELETED)
    assert found[note_id].title == (TITLE if condition is Condition.SHOWN else "")
    assert found[gone].title == ""


def test_another_scope_s_notes_are_never_named(store: NoteStore, any_index: str) -> None:
    other = store.add(TITLE, BODY, scope="project:b", state=State(lifecycle="superseded"))
    mine = store.add(TITLE, BODY, state=State(lifecycle="superseded"))
    index = index_of(store, any_index)

    here = withheld(store, ask(TITLE, scope=HERE), index)
    everywhere = withheld(store, ask(TITLE, scope=EVERYWHERE), index)
    titles = present_notes(store.connection, [other], View(scope=HERE, now_ms=NOW_MS))

    assert here == [(mine, Condition.SUPERSEDED)]
    assert {note_id for note_id, _ in everywhere} == {mine, other}
    assert titles[other].title == ""


@pytest.mark.parametrize("with_vector", [True, False])
def test_words_and_vector_each_find_what_is_withheld(store: NoteStore, with_vector: bool) -> None:
    by_words = store.add(TITLE, BODY, state=State(trust="rejected"), vectors=())
    by_vector = store.add("🦀", state=State(trust="rejected"), vectors=[embed(TITLE)])

    found = withheld(store, ask(TITLE, with_vector=with_vector))

    expected = {by_words, by_vector} if with_vector else {by_words}
    assert {note_id for note_id, _ in found} == expected


def test_a_hidden_note_of_the_same_error_is_withheld(store: NoteStore) -> None:
    error = "ledger.errors.ClosedBookError: the book of {} is closed for writing"
    hidden = State(lifecycle="superseded")
    note_id = store.add("🦀", error.format(2030), state=hidden, vectors=())
    store.add("🦐", error.format(2030), state=hidden, vectors=(), scope="project:b")

    found = find_by_error_alone(store, error.format(2031))

    assert found == [(note_id, Condition.SUPERSEDED)]


def find_by_error_alone(store: NoteStore, text: str) -> list[tuple[NoteId, Condition]]:
    """Return what is withheld from a question whose words are in no note."""
    question = ask(text, scope=HERE, with_vector=False)
    wordless = replace(question.said, focus="nothing of it")
    return withheld(store, replace(question, said=wordless))


def test_a_hidden_note_far_from_the_question_is_not_withheld(
    store: NoteStore, any_index: str
) -> None:
    for number in range(PLACES):
        store.add(f"{TITLE} {number}", BODY)
    store.add("How to prune an apple tree", state=State(lifecycle="retired"))
    near = store.add(TITLE, state=State(lifecycle="retired"))

    found = withheld(store, ask(TITLE), index_of(store, any_index))

    assert found == [(near, Condition.RETIRED)]


def test_a_vector_above_the_index_s_mark_is_looked_at(store: NoteStore) -> None:
    store.add("something else")
    index = index_of(store, "int8")
    newer = store.add("🦀", state=State(trust="held"), vectors=[embed(TITLE)])

    assert withheld(store, ask(TITLE), index) == [(newer, Condition.HELD)]


def test_only_so_many_are_named(store: NoteStore) -> None:
    for _ in range(WITHHELD_MAX + 5):
        store.add(TITLE, BODY, state=State(lifecycle="superseded"))

    assert len(withheld(store, ask(TITLE))) == WITHHELD_MAX


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "🦀", '"' * 999, "修复", "a AND"])
def test_no_text_is_an_error(store: NoteStore, text: str) -> None:
    store.add(TITLE, BODY, state=State(lifecycle="superseded"))

    assert len(withheld(store, ask(text))) <= 1
