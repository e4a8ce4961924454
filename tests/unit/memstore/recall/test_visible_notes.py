"""Every state of a note against every read of a search."""

from collections.abc import Callable

import apsw
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

from graft_memstore.gate import Hit
from graft_memstore.model import ScopeFilter, Trust
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.signature import signatures
from graft_memstore.store import search
from graft_memstore.store.search import Eligible
from graft_memstore.store.signatures import holders_of
from graft_memstore.visibility import MAY_BE_STRONG, View

TITLE = "Kafka consumer lag grows after a rebalance"
ERROR = "org.apache.kafka.CommitFailedException: the group has already rebalanced"
BODY = f"Set max.poll.interval.ms above the slowest batch.\n{ERROR}"
HERE = ScopeFilter(scopes=("user", "project:a"))

STRONG = "may be strong"
LABELLED = "at most weak"
HIDDEN = "hidden"

STATES = [
    (State(), "user", STRONG),
    (State(trust="verified"), "project:a", STRONG),
    (State(expires_at=NOW_MS + 1), "user", STRONG),
    (State(valid_from=NOW_MS), "user", STRONG),
    (State(valid_to=NOW_MS + 1), "user", STRONG),
    (State(trust="candidate"), "user", LABELLED),
    (State(trust="disputed"), "user", LABELLED),
    (State(trust="stale"), "user", LABELLED),
    (State(trust="held"), "user", HIDDEN),
    (State(trust="rejected"), "user", HIDDEN),
    (State(lifecycle="superseded"), "user", HIDDEN),
    (State(lifecycle="retired"), "user", HIDDEN),
    (State(lifecycle="retired", trust="verified"), "user", HIDDEN),
    (State(expires_at=NOW_MS), "user", HIDDEN),
    (State(valid_from=NOW_MS + 1), "user", HIDDEN),
    (State(valid_to=NOW_MS), "user", HIDDEN),
    (State(), "project:b", HIDDEN),
    (State(), "project:a/b", HIDDEN),
]
EVERY_STATE = pytest.mark.parametrize(("state", "scope", "expected"), STATES)


def by_words(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(search.search_words(connection, '"kafka"', eligible, 5))


def by_pieces(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(search.search_pieces(connection, '"poll.interval"', eligible, 5))


def by_chunk(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(len(search.chunks_by_id(connection, MODEL, [1, 2], eligible)))


def by_newer_chunks(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(len(search.newer_chunks(connection, MODEL, 0, eligible, 5)))


def by_chunks_of_note(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(len(search.chunks_of_notes(connection, MODEL, [1], eligible, 5)))


def by_allowed_chunks(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(len(search.allowed_chunks(connection, MODEL, eligible)))


def by_keyword(connection: apsw.Connection, eligible: Eligible) -> bool:
    narrowed = Eligible(
        scope=eligible.scope, now_ms=eligible.now_ms, keywords=("kafka",), keywords_min=1
    )
    return bool(len(search.allowed_chunks(connection, MODEL, narrowed)))


def by_found_note(connection: apsw.Connection, eligible: Eligible) -> bool:
    return bool(search.found_notes(connection, [1], eligible))


def by_signature(connection: apsw.Connection, eligible: Eligible) -> bool:
    digests = [each.digest for each in signatures(ERROR)]
    return any(holders_of(connection, digests, eligible, 5).values())


READS = [
    by_words,
    by_signature,
    by_pieces,
    by_chunk,
    by_newer_chunks,
    by_chunks_of_note,
    by_allowed_chunks,
    by_keyword,
    by_found_note,
]


def index_of(store: NoteStore, state: str) -> VectorIndex:
    index = VectorIndex(MODEL, DIMENSIONS)
    if state == "int8":
        index.load(store.connection)
    assert index.state == state
    return index


@EVERY_STATE
@pytest.mark.parametrize("read", READS)
def test_a_read_sees_what_its_state_allows(
    store: NoteStore,
    state: State,
    scope: str,
    expected: str,
    read: Callable[[apsw.Connection, Eligible], bool],
) -> None:
    store.add(TITLE, BODY, keywords=["kafka"], scope=scope, state=state)

    visible = read(store.connection, Eligible(scope=HERE, now_ms=NOW_MS))

    assert visible == (expected != HIDDEN)


@EVERY_STATE
def test_a_query_answers_as_the_state_allows(
    store: NoteStore, any_index: str, state: State, scope: str, expected: str
) -> None:
    note_id = store.add(TITLE, BODY, keywords=["kafka"], scope=scope, state=state)

    answer = answer_query(store.connection, index_of(store, any_index), ask(TITLE, scope=HERE))

    if expected == HIDDEN:
        assert (answer.hit, answer.note_id, answer.near) == (Hit.MISS, None, ())
    else:
        assert answer.note_id == note_id
        assert answer.hit == (Hit.STRONG if expected == STRONG else Hit.WEAK)


@EVERY_STATE
def test_a_ranked_search_lists_as_the_state_allows(
    store: NoteStore, any_index: str, state: State, scope: str, expected: str
) -> None:
    store.add(TITLE, BODY, keywords=["kafka"], scope=scope, state=state)

    answer = retrieve(store.connection, index_of(store, any_index), ask(TITLE, scope=HERE), 25)

    assert [result.trust for result in answer.results] == (
        [] if expected == HIDDEN else [Trust(state.trust)]
    )


@EVERY_STATE
def test_a_new_note_is_told_of_similar_ones_as_the_state_allows(
    store: NoteStore, any_index: str, state: State, scope: str, expected: str
) -> None:
    note_id = store.add(TITLE, BODY, scope=scope, state=state)

    similar = SimilarNotes(lambda: NOW_MS)(
        store.connection,
        index_of(store, any_index),
        embed(TITLE).tobytes(),
        scope="user",
        limit=3,
    )

    named = expected != HIDDEN and scope == "user"
    assert [each.note_id for each in similar] == ([note_id] if named else [])


@pytest.mark.parametrize(("state", "scope"), [(state, scope) for state, scope, _ in STATES])
def test_notes_elsewhere_are_those_that_wider_scopes_would_show(
    store: NoteStore, state: State, scope: str
) -> None:
    store.add(TITLE, BODY, scope=scope, state=state)
    store.add("another note", scope="team:x")

    elsewhere = search.count_elsewhere(store.connection, View(scope=HERE, now_ms=NOW_MS))

    # Hidden here for its scope alone, a note counts; hidden for its state, it never does.
    assert elsewhere == 1 + (scope not in HERE.scopes)
    assert search.count_elsewhere(store.connection, View(scope=EVERYWHERE, now_ms=NOW_MS)) == 0


def test_a_hidden_note_elsewhere_is_not_counted(store: NoteStore) -> None:
    for state, _, expected in STATES:
        if expected == HIDDEN and state != State():
            store.add(TITLE, scope="project:b", state=state)

    assert search.count_elsewhere(store.connection, View(scope=HERE, now_ms=NOW_MS)) == 0


def test_hidden_notes_do_not_push_out_what_is_seen(store: NoteStore, any_index: str) -> None:
    shown = store.add("Kafka lag after a rebalance", "Kafka")
    for _ in range(150):
        store.add(TITLE, BODY, state=State(lifecycle="retired"))
    for _ in range(150):
        store.add(TITLE, BODY, scope="project:b")
    index = index_of(store, any_index)

    ranked = retrieve(store.connection, index, ask(TITLE, scope=HERE), 3)
    answer = answer_query(store.connection, index, ask(TITLE, scope=HERE))

    assert [result.note_id for result in ranked.results] == [shown]
    assert set(ranked.results[0].arms) == {"vector", "words"}
    assert answer.note_id == shown


def test_a_note_that_is_retired_after_the_index_was_loaded_is_gone_at_once(
    store: NoteStore,
) -> None:
    note_id = store.add(TITLE, BODY)
    index = index_of(store, "int8")

    store.set_state(note_id, State(lifecycle="retired"))

    assert retrieve(store.connection, index, ask(TITLE), 5).results == ()


def test_a_deleted_note_is_absent_from_every_arm_and_the_near_list(
    store: NoteStore, any_index: str
) -> None:
    note_id = store.add(TITLE, BODY)
    index = index_of(store, any_index)
    strong = answer_query(store.connection, index, ask(TITLE))

    store.delete(note_id)

    answer = answer_query(store.connection, index, ask(TITLE))
    assert strong.hit == Hit.STRONG
    assert (answer.hit, answer.near, answer.signals) == (Hit.MISS, (), ())
    assert retrieve(store.connection, index, ask(TITLE), 5).results == ()


def test_a_note_written_after_the_index_was_loaded_is_found(store: NoteStore) -> None:
    store.add("something else", "entirely")
    index = index_of(store, "int8")

    note_id = store.add(TITLE, BODY)

    found = retrieve(store.connection, index, ask(TITLE), 5).results[0]
    assert (found.note_id, found.arms["vector"].rank) == (note_id, 1)
    assert found.arms["vector"].score == pytest.approx(1.0)


def test_a_search_reads_one_snapshot(store: NoteStore) -> None:
    note_id = store.add(TITLE, BODY)
    index = index_of(store, "int8")
    path = store.connection.db_filename("main")
    reader = apsw.Connection(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM notes").fetchall()

    store.delete(note_id)
    index.refresh(store.connection)

    eligible = Eligible(scope=EVERYWHERE, now_ms=NOW_MS)
    assert list(search.found_notes(reader, [1], eligible)) == [1]
    assert len(search.chunks_by_id(reader, MODEL, [1, 2], eligible)) == 2
    reader.close()


def test_only_observed_and_verified_notes_may_be_strong() -> None:
    assert {Trust.OBSERVED, Trust.VERIFIED} == MAY_BE_STRONG
