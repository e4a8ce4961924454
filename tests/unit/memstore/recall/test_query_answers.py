"""What a question to the store is answered, in one snapshot."""

import json

import numpy as np
import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
    embed,
)

from graft_memstore.gate import Hit
from graft_memstore.model import ScopeFilter, Trust
from graft_memstore.recall.answer import QueryAnswer
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import NEAR_MAX, answer_query
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.recall.similar import SimilarNotes

TITLE = "pip fails behind the company proxy with a certificate error"
BODY = "Set PIP_CERT to the company's CA bundle; pip does not read the system store."
OTHERS = [
    ("Postgres sorts differently after a libc upgrade", "Reindex every text index."),
    ("Docker build cache is invalidated by COPY of the whole tree", "Copy the lock file first."),
    ("systemd user services stop when the session ends", "Run loginctl enable-linger."),
    ("GitHub Actions cannot read secrets in forks", "Use pull_request_target with care."),
]


def query(store: NoteStore, text: str, index: VectorIndex | None = None) -> QueryAnswer:
    return answer_query(store.connection, index or VectorIndex(MODEL, DIMENSIONS), ask(text))


def test_one_note_alone_is_strong_for_its_title_and_a_miss_for_another_subject(
    store: NoteStore,
) -> None:
    note_id = store.add(TITLE, BODY)

    assert query(store, "pip certificate error behind company proxy").note_id == note_id
    assert query(store, "pip certificate error behind company proxy").hit == Hit.STRONG
    assert query(store, "how do I rotate a picture in GIMP").hit == Hit.MISS


def test_an_empty_store_misses(store: NoteStore) -> None:
    answer = query(store, "anything")

    assert (answer.hit, answer.probability, answer.near, answer.degraded) == (
        Hit.MISS,
        0.0,
        (),
        (),
    )


def test_warm_and_cold_answer_alike(store: NoteStore) -> None:
    for title, body in [(TITLE, BODY), *OTHERS]:
        store.add(title, body)
    warm = VectorIndex(MODEL, DIMENSIONS)
    warm.load(store.connection)

    for text in (TITLE, "docker cache", "unrelated question about bread"):
        cold_answer, warm_answer = query(store, text), query(store, text, warm)
        assert (cold_answer.hit, cold_answer.note_id) == (warm_answer.hit, warm_answer.note_id)
        assert cold_answer.probability == pytest.approx(warm_answer.probability, abs=0.02)


def test_a_miss_names_what_came_near_and_why(store: NoteStore) -> None:
    store.add("proton bridge IMAP setup", "Use port 1143 and the bridge's own password.")
    for title, body in OTHERS:
        store.add(title, body)

    answer = query(store, "why does my toaster burn every slice of bread")

    assert answer.hit == Hit.MISS
    assert len(answer.near) == NEAR_MAX
    assert "far in meaning" in {reason for each in answer.near for reason in each.why.split("; ")}
    assert all("of the question's 9 words" in each.why for each in answer.near)
    assert all(each.why for each in answer.near)


def test_a_short_question_names_the_note_it_is_about(store: NoteStore) -> None:
    note_id = store.add("proton bridge IMAP setup", "Use port 1143 and the bridge's password.")
    for title, body in OTHERS:
        store.add(title, body)

    answer = query(store, "proton bridge")

    named = [answer.note_id, *(each.note_id for each in answer.near)]
    assert note_id in named


@pytest.mark.parametrize("with_index", [True, False])
def test_words_alone_are_never_strong_and_say_which_arm_is_missing(
    store: NoteStore, with_index: bool
) -> None:
    note_id = store.add(TITLE, BODY)
    index = VectorIndex(MODEL, DIMENSIONS) if with_index else None

    answer = answer_query(store.connection, index, ask(TITLE, with_vector=not with_index))

    assert (answer.hit, answer.note_id, answer.degraded) == (Hit.WEAK, note_id, ("vector",))


def test_a_note_without_vectors_yet_is_found_by_its_words_and_is_not_strong(
    store: NoteStore,
) -> None:
    note_id = store.add(TITLE, BODY, vectors=())

    answer = query(store, TITLE)

    assert (answer.hit, answer.note_id) == (Hit.WEAK, note_id)


def test_a_question_without_words_is_answered_by_its_vector(store: NoteStore) -> None:
    store.add("the crab", "🦀", vectors=[embed("🦀🦀🦀"), embed("🦀🦀🦀")])

    ranked = retrieve(store.connection, VectorIndex(MODEL, DIMENSIONS), ask("🦀"), 5)
    answer = query(store, "🦀")

    assert [set(result.arms) for result in ranked.results] == [{"vector"}]
    assert answer.hit in set(Hit)


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "🦀" * 600, "a" * 65_536, '"' * 65_536])
def test_no_text_is_an_error(store: NoteStore, text: str) -> None:
    store.add(TITLE, BODY)

    assert query(store, text).hit in set(Hit)


def test_a_trusted_note_is_preferred_to_a_disputed_one_that_says_the_same(
    store: NoteStore,
) -> None:
    trusted = store.add(TITLE, BODY)
    for title, body in OTHERS:
        store.add(title, body)
    store.add(TITLE + "!", BODY, state=State(trust="disputed"))

    answer = query(store, TITLE)

    assert (answer.note_id, answer.hit) == (trusted, Hit.STRONG)


def test_another_scope_is_counted_and_not_named(store: NoteStore) -> None:
    store.add(TITLE, BODY, scope="project:b")

    answer = answer_query(
        store.connection,
        VectorIndex(MODEL, DIMENSIONS),
        ask(TITLE, scope=ScopeFilter(scopes=("user",))),
    )

    assert (answer.hit, answer.near, answer.notes_elsewhere) == (Hit.MISS, (), 1)


def test_retrieve_ranks_by_meaning_and_words(store: NoteStore, cold_index: VectorIndex) -> None:
    note_id = store.add(TITLE, BODY, keywords=["pip", "proxy"])
    for title, body in OTHERS:
        store.add(title, body)

    answer = retrieve(store.connection, cold_index, ask("PIP_CERT behind a proxy"), 3)

    best = answer.results[0]
    assert (best.note_id, best.title, best.keywords) == (note_id, TITLE, ("pip", "proxy"))
    assert {name: place.rank for name, place in best.arms.items()} == {
        "vector": 1,
        "words": 1,
        "pieces": 1,
    }
    assert len(answer.results) == 3
    assert [result.score for result in answer.results] == sorted(
        (result.score for result in answer.results), reverse=True
    )


def test_of_equal_notes_the_newer_is_ranked_first(
    store: NoteStore, cold_index: VectorIndex
) -> None:
    notes = [store.add(TITLE, BODY) for _ in range(4)]

    answer = retrieve(store.connection, cold_index, ask(TITLE), 3)

    assert [result.note_id for result in answer.results] == notes[::-1][:3]


@pytest.mark.parametrize("trust", ["disputed", "stale"])
def test_disputed_and_stale_notes_stand_below_all_others(
    store: NoteStore, cold_index: VectorIndex, trust: str
) -> None:
    doubted = store.add(TITLE, BODY, state=State(trust=trust))
    for title, body in OTHERS:
        store.add(title, body)

    answer = retrieve(store.connection, cold_index, ask(TITLE), 25)
    narrow = retrieve(store.connection, cold_index, ask(TITLE), 1)

    assert (answer.results[-1].note_id, answer.results[-1].trust) == (doubted, Trust(trust))
    assert len(answer.results) == 5
    # It is the best of all, so a shorter list does not lose it.
    assert [result.note_id for result in narrow.results] == [doubted]


@pytest.mark.parametrize(
    ("keywords", "keywords_min", "expected"),
    [(("a", "b"), 1, {1, 2, 3}), (("a", "b"), 2, {3}), (("c",), 1, set()), ((), 0, {1, 2, 3, 4})],
)
def test_keywords_narrow_a_search(
    store: NoteStore,
    any_index: str,
    keywords: tuple[str, ...],
    keywords_min: int,
    expected: set[int],
) -> None:
    for number, carried in enumerate([["a"], ["b"], ["a", "b"], []]):
        store.add(f"{TITLE} {number}", keywords=carried)
    index = VectorIndex(MODEL, DIMENSIONS)
    if any_index == "int8":
        index.load(store.connection)

    question = ask(TITLE, keywords=keywords, keywords_min=keywords_min)
    answer = retrieve(store.connection, index, question, 25)

    assert {int(result.note_id, 16) for result in answer.results} == expected


def test_similar_notes_are_named_best_first(store: NoteStore, cold_index: VectorIndex) -> None:
    for title, body in OTHERS:
        store.add(title, body)
    near = store.add(TITLE + " again", BODY)
    same = store.add(TITLE, BODY)

    similar = SimilarNotes(lambda: NOW_MS)(
        store.connection,
        cold_index,
        embed(TITLE).tobytes(),
        scope="user",
        limit=3,
    )

    assert [each.note_id for each in similar] == [same, near][: len(similar)]
    assert similar[0].similarity == pytest.approx(1.0)


def test_signals_are_plain_numbers(store: NoteStore) -> None:
    store.add(TITLE, BODY)

    signals = query(store, TITLE).signals

    assert json.loads(json.dumps(dict(signals)))["title_trigrams"] == pytest.approx(1.0)
    assert all(np.isfinite(value) for _, value in signals)


def test_two_folders_of_one_name_do_not_share_their_notes(store: NoteStore) -> None:
    store.add(TITLE, BODY, scope="project:/a/my-app")

    answer = answer_query(
        store.connection,
        VectorIndex(MODEL, DIMENSIONS),
        ask(TITLE, scope=ScopeFilter(scopes=("project:/b/my-app", "user"))),
    )

    assert (answer.hit, answer.notes_elsewhere) == (Hit.MISS, 1)
