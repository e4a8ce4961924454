"""Keywords for a draft: from the notes nearest to it, and from nowhere else."""

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
)
from tests.unit.memstore.recall.test_visible_notes import EVERY_STATE, HERE, HIDDEN

from graft_memstore.recall.classify import (
    SUGGESTED_MAX,
    SUGGESTED_MIN,
    ClassifyAnswer,
    classify,
)
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.keywords import count_carriers
from graft_memstore.visibility import View

TITLE = "Kafka consumer lag grows after a rebalance"


def classified(store: NoteStore, title: str = TITLE, *, with_vector: bool = True) -> ClassifyAnswer:
    draft = ask(title, scope=HERE, with_vector=with_vector)
    return classify(store.connection, VectorIndex(MODEL, DIMENSIONS), draft)


def suggested(store: NoteStore, title: str = TITLE, *, with_vector: bool = True) -> list[str]:
    answer = classified(store, title, with_vector=with_vector)
    return [each.keyword for each in answer.suggestions]


def fill(store: NoteStore) -> None:
    for number in range(20):
        store.add(f"Button colour number {number} of the settings page", keywords=["css", "page"])


def test_the_keywords_of_the_nearest_notes_come_first(store: NoteStore) -> None:
    fill(store)
    store.add("Kafka consumer lag after rebalancing", keywords=["broker", "streaming"])

    assert suggested(store)[:2] == ["broker", "streaming"]


def test_a_rare_keyword_comes_before_one_that_all_carry(store: NoteStore) -> None:
    for number in range(20):
        store.add(f"Button colour number {number}", keywords=["everything"])
    store.add(TITLE, keywords=["everything", "rare"])

    assert suggested(store)[0] == "rare"


def test_a_keyword_that_stands_in_the_title_comes_first(store: NoteStore) -> None:
    fill(store)
    store.add("Kafka consumer lag", keywords=["alpha", "rebalance", "zeta"])
    store.add("Kafka consumer lag grows", keywords=["alpha", "zeta"])

    assert suggested(store)[0] == "rebalance"
    assert suggested(store, "Kafka consumer lag grows")[0] == "alpha"


def test_a_keyword_of_a_run_without_spaces_is_found_in_the_title(store: NoteStore) -> None:
    fill(store)
    store.add("数据库连接失败", keywords=["alpha", "数据库"])

    assert suggested(store, "数据库连接失败了")[0] == "数据库"


def test_no_more_than_six_are_suggested_and_three_however_weak_the_last(
    store: NoteStore,
) -> None:
    fill(store)
    store.add(TITLE, keywords=[f"alike{number}" for number in range(10)])
    many = suggested(store)
    other = suggested(store, "Button colour kafka")

    assert many == [f"alike{number}" for number in range(SUGGESTED_MAX)]
    assert len(other) >= SUGGESTED_MIN


def test_scores_fall_from_one(store: NoteStore) -> None:
    fill(store)
    store.add(TITLE, keywords=["alpha", "kafka"])

    scores = [each.score for each in classified(store).suggestions]

    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0.0


def test_a_store_without_keywords_suggests_none(store: NoteStore) -> None:
    assert suggested(store) == []

    store.add(TITLE)

    assert suggested(store) == []


def test_the_same_draft_gets_the_same_suggestions(store: NoteStore) -> None:
    for number in range(30):
        store.add(f"Kafka note {number % 3}", keywords=[f"a{number % 7}", f"b{number % 5}"])

    assert len({str(classified(store)) for _ in range(3)}) == 1


@EVERY_STATE
def test_a_keyword_is_suggested_as_the_state_of_its_note_allows(
    store: NoteStore, state: State, scope: str, expected: str
) -> None:
    store.add(TITLE, keywords=["streaming"], scope=scope, state=state)

    assert suggested(store) == ([] if expected == HIDDEN else ["streaming"])
    assert suggested(store, with_vector=False) == ([] if expected == HIDDEN else ["streaming"])


def test_hidden_notes_do_not_make_a_keyword_common(store: NoteStore) -> None:
    store.add(TITLE, keywords=["streaming"])
    for number in range(5):
        store.add(f"note {number}", keywords=["streaming"], scope="project:b")

    count = count_carriers(
        store.connection, ["streaming", "absent"], View(scope=HERE, now_ms=NOW_MS), 100
    )

    assert count == {"streaming": 1}


def test_without_a_vector_the_notes_that_share_words_are_asked(store: NoteStore) -> None:
    fill(store)
    store.add("Kafka consumer lag", keywords=["streaming"])

    answer = classified(store, with_vector=False)

    assert answer.suggestions[0].keyword == "streaming"
    assert answer.degraded == ("vector",)


@pytest.mark.parametrize("title", ["💥", "C++", '"', "a AND", "a\ud800b", "\x00", " ", "x" * 1_024])
def test_any_title_is_answered(store: NoteStore, title: str) -> None:
    fill(store)

    assert len(suggested(store, title)) <= SUGGESTED_MAX
    assert len(suggested(store, title, with_vector=False)) <= SUGGESTED_MAX
