"""Walks over the edges of a real store: what they return, and what they must never touch."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
)
from tests.unit.memstore.recall.test_visible_notes import EVERY_STATE, HERE, HIDDEN, LABELLED

from graft_memstore.model import NoteId, Trust
from graft_memstore.recall.explore import ExploreAnswer, WalkBounds, explore
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.edges import FoundEdge, heaviest_edges, insert_edges
from graft_memstore.visibility import RANKED_BELOW, View

ONE = WalkBounds(depth=3, beam=1)
START = "Kafka consumer lag grows after a rebalance"


def join(store: NoteStore, *pairs: tuple[int, int], weight: float = 0.9) -> None:
    """Join notes by their numbers."""
    with store.connection:
        insert_edges(
            store.connection,
            [
                FoundEdge(one=one, other=other, keyword_id=None, weight=weight)
                for one, other in pairs
            ],
        )


def walked(
    store: NoteStore,
    bounds: WalkBounds = ONE,
    *,
    text: str = START,
    keywords: tuple[str, ...] = (),
    with_vector: bool = True,
) -> ExploreAnswer:
    question = ask(
        text,
        scope=HERE,
        keywords=keywords,
        keywords_min=min(len(keywords), 1),
        with_vector=with_vector,
    )
    return explore(store.connection, VectorIndex(MODEL, DIMENSIONS), question, bounds)


def ids(answer: ExploreAnswer) -> list[NoteId]:
    return [each.note.note_id for each in answer.nodes]


def paths(answer: ExploreAnswer) -> list[tuple[NoteId, ...]]:
    return [each.note_ids for each in answer.paths]


def chain(store: NoteStore, titles: Sequence[str] = ()) -> list[NoteId]:
    """Store notes of which each is joined with the next."""
    notes = [store.add(title) for title in titles or (START, "zebra", "quokka", "walrus")]
    join(store, *((n, n + 1) for n in range(1, len(notes))))
    return notes


def test_a_walk_goes_along_the_edges_as_deep_as_it_may(store: NoteStore) -> None:
    notes = chain(store, (START, "zebra", "quokka", "walrus", "narwhal"))

    answer = walked(store)

    assert ids(answer) == notes[:4]
    assert paths(answer) == [tuple(notes[:4])]
    assert [(each.src, each.dst) for each in answer.edges] == [
        (notes[0], notes[1]),
        (notes[1], notes[2]),
        (notes[2], notes[3]),
    ]
    assert [each.depth for each in answer.nodes] == [0, 1, 2, 3]
    assert [each.score for each in answer.nodes] == sorted(
        (each.score for each in answer.nodes), reverse=True
    )
    assert (answer.hint, answer.degraded) == ("", ())


def test_a_walk_goes_along_an_edge_from_either_end(store: NoteStore) -> None:
    first = store.add("zebra")
    start = store.add(START)
    join(store, (1, 2))

    answer = walked(store, replace(ONE, depth=1))

    assert paths(answer) == [(start, first)]
    assert [(each.src, each.dst) for each in answer.edges] == [(first, start)]


def test_a_seed_without_edges_is_a_path_by_itself(store: NoteStore) -> None:
    note = store.add(START)

    answer = walked(store)

    assert (paths(answer), answer.edges) == ([(note,)], ())
    assert answer.nodes[0].cosine == pytest.approx(1.0)


def test_paths_that_part_share_their_beginning(store: NoteStore) -> None:
    notes = [store.add(title) for title in (START, "zebra", "quokka")]
    join(store, (1, 2), weight=0.9)
    join(store, (1, 3), weight=0.8)

    # Seeds are the four nearest; a keyword leaves one of them.
    with store.connection:
        store.connection.execute("INSERT INTO keywords (keyword) VALUES ('kafka')")
        store.connection.execute(
            "INSERT INTO note_keywords (note_id, keyword_id, origin, known_from)"
            " VALUES (?, 1, 'author', 0)",
            (notes[0],),
        )
    answer = walked(store, WalkBounds(depth=1, beam=2), keywords=("kafka",))

    assert paths(answer) == [(notes[0], notes[1]), (notes[0], notes[2])]
    assert ids(answer) == notes


def test_two_notes_may_be_joined_in_several_ways(store: NoteStore) -> None:
    for title in (START, "zebra"):
        store.add(title, keywords=["kafka", "lag"])
    join(store, (1, 2))
    with store.connection:
        insert_edges(
            store.connection,
            [FoundEdge(one=2, other=1, keyword_id=keyword, weight=0.9) for keyword in (1, 2)],
        )

    answer = walked(store)

    assert sorted((each.edge.kind, each.edge.keyword or "") for each in answer.edges) == [
        ("KEYWORD", "kafka"),
        ("KEYWORD", "lag"),
        ("SEMANTIC", ""),
    ]


def test_an_edge_of_a_keyword_that_one_of_the_notes_does_not_carry_is_not_written(
    store: NoteStore,
) -> None:
    store.add(START, keywords=["kafka"])
    store.add("zebra")

    with store.connection:
        insert_edges(store.connection, [FoundEdge(one=1, other=2, keyword_id=1, weight=0.9)])

    assert walked(store, replace(ONE, depth=1)).edges == ()


@EVERY_STATE
def test_a_walk_begins_at_a_note_as_its_state_allows(
    store: NoteStore, state: State, scope: str, expected: str
) -> None:
    note = store.add(START, scope=scope, state=state)

    assert ids(walked(store)) == ([] if expected == HIDDEN else [note])


@EVERY_STATE
def test_a_walk_passes_through_a_note_as_its_state_allows(
    store: NoteStore, state: State, scope: str, expected: str
) -> None:
    notes = [store.add(START), store.add("zebra", scope=scope, state=state), store.add("quokka")]
    join(store, (1, 2), (2, 3))

    answer = walked(store)

    if expected == HIDDEN:
        assert ids(answer) == [notes[0]]
        assert answer.edges == ()
        assert paths(answer) == [(notes[0],)]
        assert notes[1] not in str(answer)
    else:
        assert set(ids(answer)) == set(notes)
        assert paths(answer) == [tuple(notes)]
        assert len(answer.edges) == 2


@EVERY_STATE
@pytest.mark.parametrize("end", ["newer", "older"])
def test_a_walk_ends_at_a_note_as_its_state_allows(
    store: NoteStore, end: str, state: State, scope: str, expected: str
) -> None:
    if end == "newer":
        store.add(START)
    last = store.add("zebra", scope=scope, state=state)
    if end == "older":
        store.add(START)
    join(store, (1, 2))

    answer = walked(store)

    assert (last in ids(answer)) == (expected != HIDDEN)
    assert len(answer.edges) == (expected != HIDDEN)
    if expected == LABELLED:
        assert {each.note.trust for each in answer.nodes} == {Trust.OBSERVED, Trust(state.trust)}


def test_a_disputed_note_stands_below_all_others_and_so_do_its_paths(store: NoteStore) -> None:
    disputed = store.add(START, state=State(trust="disputed"))
    other = store.add("Kafka consumer")
    assert Trust.DISPUTED in RANKED_BELOW

    answer = walked(store, WalkBounds(depth=1, beam=4))

    assert ids(answer) == [other, disputed]
    assert paths(answer) == [(other,), (disputed,)]
    assert answer.nodes[0].score < answer.nodes[1].score


def test_hidden_neighbours_do_not_push_out_what_is_seen(store: NoteStore) -> None:
    store.add(START)
    shown = store.add("zebra")
    join(store, (1, 2), weight=0.5)
    for number in range(100):
        store.add(f"quokka {number}", scope="project:b")
        join(store, (1, 3 + number), weight=0.99)

    assert ids(walked(store)) == [NoteId(f"{1:032x}"), shown]


def test_the_heaviest_edges_of_a_note_are_walked_and_no_more_than_asked_for(
    store: NoteStore,
) -> None:
    for number in range(6):
        store.add(f"zebra {number}")
    for number in range(2, 7):
        join(store, (1, number), weight=number / 10)

    found = heaviest_edges(store.connection, 1, View(scope=HERE, now_ms=NOW_MS), 3)

    assert [(each.dst, each.weight) for each in found] == [(6, 0.6), (5, 0.5), (4, 0.4)]


def test_an_unknown_keyword_is_an_empty_answer_with_a_hint_and_nothing_is_written(
    store: NoteStore,
) -> None:
    store.add(START, keywords=["kafka"])
    before = store.connection.total_changes()

    answer = walked(store, keywords=("lagg",))

    assert (answer.nodes, answer.edges, answer.paths) == ((), (), ())
    assert answer.hint == 'no note that can be seen from here carries the keyword "lagg"'
    assert store.connection.total_changes() == before
    assert store.connection.execute("SELECT keyword FROM keywords").fetchall() == [("kafka",)]


@EVERY_STATE
def test_a_keyword_of_hidden_notes_alone_is_unknown(
    store: NoteStore, state: State, scope: str, expected: str
) -> None:
    store.add(START, keywords=["kafka"], scope=scope, state=state)

    assert ("kafka" in walked(store, keywords=("kafka",)).hint) == (expected == HIDDEN)


def test_one_unknown_keyword_among_known_ones_is_named_and_the_walk_begins_at_the_others(
    store: NoteStore,
) -> None:
    note = store.add(START, keywords=["kafka"])
    store.add(f"{START} now")

    answer = walked(store, keywords=("kafka", "lagg"))

    assert ids(answer) == [note]
    assert '"lagg"' in answer.hint


def test_a_hint_names_a_few_of_many_unknown_keywords(store: NoteStore) -> None:
    answer = walked(store, keywords=tuple(f"k{number}" for number in range(64)))

    assert answer.hint.endswith('"k4" and 59 more')


def test_a_keyword_says_where_a_walk_begins_and_not_where_it_goes(store: NoteStore) -> None:
    other = store.add(START)
    start = store.add("zebra crossing", keywords=["animal"])
    join(store, (1, 2))

    answer = walked(store, keywords=("animal",))

    assert paths(answer) == [(start, other)]


def test_without_a_vector_words_say_where_a_walk_begins(store: NoteStore) -> None:
    notes = chain(store)

    answer = walked(store, with_vector=False)

    assert ids(answer) == notes
    assert answer.degraded == ("vector",)
    assert [each.cosine for each in answer.nodes] == [None] * 4


def test_a_store_of_no_notes_lacks_nothing(store: NoteStore) -> None:
    answer = walked(store)

    assert (answer.nodes, answer.paths, answer.degraded, answer.hint) == ((), (), (), "")


def test_notes_without_vectors_are_begun_at_by_their_words(store: NoteStore) -> None:
    note = store.add(START, vectors=())

    answer = walked(store)

    assert (ids(answer), answer.degraded) == ([note], ())


def test_notes_that_wait_for_their_edges_are_told(store: NoteStore) -> None:
    store.add(START)
    store.connection.execute("INSERT INTO edges_pending (seq) VALUES (1)")

    assert "notes that wait: 1" in walked(store).hint


def test_a_deleted_note_is_gone_from_every_walk_at_once(store: NoteStore) -> None:
    notes = chain(store)
    before = ids(walked(store))

    store.delete(notes[1])

    assert before == notes
    assert ids(walked(store)) == [notes[0]]


def test_a_walk_is_the_same_each_time(store: NoteStore) -> None:
    for number in range(30):
        store.add(f"Kafka note {number % 3}")
    join(store, *((a, b) for a in range(1, 30) for b in range(a + 1, min(a + 4, 31))))

    answers = {str(walked(store, WalkBounds(depth=8, beam=32))) for _ in range(3)}

    assert len(answers) == 1
