"""Dead ends come beside an answer, and a note that applies elsewhere is no STRONG one."""

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NoteStore,
    State,
    ask,
)

from graft_memstore.applicability import Fit
from graft_memstore.gate import MARGIN_WITHOUT_RUNNER_UP, Hit
from graft_memstore.model import NoteId, NoteKind, ScopeFilter, Trust
from graft_memstore.recall.answer import QueryAnswer
from graft_memstore.recall.aside import ANSWERS_MAX, ASIDE_MAX
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.retrieve import retrieve

TITLE = "pip fails behind the company proxy with a certificate error"
BODY = "Set PIP_CERT to the company's CA bundle; pip does not read the system store."
TRIED = "pip behind the company proxy: --trusted-host hides the certificate error, then fails"
QUESTION = "pip certificate error behind company proxy"
OTHERS = [
    ("Postgres sorts differently after a libc upgrade", "Reindex every text index."),
    ("Docker build cache is invalidated by COPY of the whole tree", "Copy the lock file first."),
    ("systemd user services stop when the session ends", "Run loginctl enable-linger."),
]
DEAD_END = NoteKind.DEAD_END


def query(store: NoteStore, text: str = QUESTION, *context: str) -> QueryAnswer:
    index = VectorIndex(MODEL, DIMENSIONS)
    return answer_query(store.connection, index, ask(text, context=context))


def add_others(store: NoteStore) -> None:
    for title, body in OTHERS:
        store.add(title, body)


def named(answer: QueryAnswer) -> list[NoteId]:
    return [each.note_id for each in answer.dead_ends]


def test_outside_its_range_a_strong_note_is_weak_and_says_so(store: NoteStore) -> None:
    note_id = store.mark(store.add(TITLE, BODY), "pypi:pip>=22,<24")
    add_others(store)

    inside = query(store, QUESTION, "pypi:pip@23.1")
    outside = query(store, QUESTION, "pypi:pip@24.0")

    assert (inside.hit, inside.note_id) == (Hit.STRONG, note_id)
    assert [each.fit for each in inside.applicability] == [Fit.INSIDE]
    assert (outside.hit, outside.note_id) == (Hit.WEAK, note_id)
    assert [each.words for each in outside.applicability] == [
        "applies to pip >=22,<24; here is 24.0"
    ]
    assert (inside.context_wanted, outside.context_wanted) == ((), ())
    assert outside.probability == inside.probability


def test_an_unknown_context_changes_nothing_but_is_said(store: NoteStore) -> None:
    plain = store.add(TITLE, BODY)
    add_others(store)
    before = query(store)

    store.mark(plain, "pypi:pip>=22,<24", "os:linux")
    after = query(store, QUESTION, "npm:pip@1.0.0")

    assert (after.hit, after.probability, after.signals) == (
        before.hit,
        before.probability,
        before.signals,
    )
    assert [each.words for each in after.applicability] == [
        "only for linux",
        "only for pip >=22,<24",
    ]
    assert (before.context_wanted, after.context_wanted) == ((), ("os", "pypi:pip"))


def test_where_one_note_does_not_apply_the_next_may_be_strong(store: NoteStore) -> None:
    old = store.mark(store.add(TITLE, BODY), "pypi:pip<24")
    new = store.mark(store.add(TITLE + " in 24", BODY), "pypi:pip>=24")
    add_others(store)

    assert query(store, TITLE, "pypi:pip@23.0").note_id == old
    assert query(store, TITLE, "pypi:pip@23.0").hit == Hit.STRONG
    assert query(store, TITLE, "pypi:pip@25.1").note_id == new
    assert query(store, TITLE, "pypi:pip@25.1").hit == Hit.STRONG


def test_a_note_that_does_not_apply_says_so_among_the_near_titles(store: NoteStore) -> None:
    store.mark(store.add(TITLE, BODY), "os:windows")

    answer = query(store, "why does my toaster burn every slice of bread", "os:linux")

    assert answer.hit == Hit.MISS
    assert "applies to windows; here is linux" in answer.near[0].why
    assert (answer.applicability, answer.dead_ends, answer.context_wanted) == ((), (), ())


def test_a_dead_end_alone_is_weak_with_its_kind(store: NoteStore) -> None:
    tried = store.mark(store.add(TRIED, BODY), kind=DEAD_END)
    add_others(store)

    answer = query(store, TRIED)
    miss = query(store, "why does my toaster burn every slice of bread")

    assert (answer.hit, answer.note_id, answer.dead_ends) == (Hit.WEAK, tried, ())
    assert {each.kind for each in miss.near if each.note_id == tried} == {DEAD_END}
    assert any("it is a dead end" in each.why for each in miss.near)


def test_a_dead_end_comes_beside_the_answer_and_takes_nothing_from_it(store: NoteStore) -> None:
    note_id = store.add(TITLE, BODY)
    add_others(store)
    before = query(store)

    tried = store.mark(store.add(TRIED, "It fails because of HSTS."), kind=DEAD_END)
    after = query(store)

    assert (before.hit, before.dead_ends) == (Hit.STRONG, ())
    assert (after.hit, after.note_id, named(after)) == (Hit.STRONG, note_id, [tried])
    assert (after.dead_ends[0].title, after.dead_ends[0].trust) == (TRIED, Trust.OBSERVED)
    assert dict(after.signals)["margin"] > MARGIN_WITHOUT_RUNNER_UP


def test_a_dead_end_that_is_nearer_does_not_hide_the_answer(store: NoteStore) -> None:
    tried = store.mark(store.add(QUESTION + " again", ""), kind=DEAD_END)
    note_id = store.add(TITLE, BODY)
    add_others(store)

    answer = query(store)

    assert (answer.hit, answer.note_id, named(answer)) == (Hit.STRONG, note_id, [tried])


def test_dead_ends_of_another_subject_stay_away(store: NoteStore) -> None:
    store.add(TITLE, BODY)
    for title, body in OTHERS:
        store.mark(store.add(title, body), kind=DEAD_END)

    answer = query(store)

    assert (answer.hit, answer.dead_ends) == (Hit.STRONG, ())


def test_many_dead_ends_crowd_out_no_answer_and_only_a_few_are_named(store: NoteStore) -> None:
    for number in range(ASIDE_MAX + ANSWERS_MAX):
        store.mark(store.add(f"{QUESTION} {number}"), kind=DEAD_END)
    note_id = store.add(TITLE, BODY)

    answer = query(store)

    assert (answer.hit, answer.note_id) == (Hit.STRONG, note_id)
    assert len(answer.dead_ends) == ASIDE_MAX


def test_many_notes_that_do_not_apply_crowd_out_no_answer(store: NoteStore) -> None:
    for number in range(ASIDE_MAX + ANSWERS_MAX):
        store.mark(store.add(f"{TITLE} {number}", BODY), "os:windows")
    tried = store.mark(store.add(TRIED), kind=DEAD_END)
    note_id = store.add(TITLE + " here", BODY)

    answer = query(store, TITLE, "os:linux")

    assert (answer.hit, answer.note_id, named(answer)) == (Hit.STRONG, note_id, [tried])


def test_a_dead_end_says_whether_it_applies_here(store: NoteStore) -> None:
    store.add(TITLE, BODY)
    store.mark(store.add(TRIED), "pypi:pip<10", kind=DEAD_END)

    (dead_end,) = query(store, QUESTION, "pypi:pip@24").dead_ends

    assert [each.words for each in dead_end.applicability] == ["applies to pip <10; here is 24"]


@pytest.mark.parametrize(
    "state",
    [
        State(lifecycle="superseded"),
        State(lifecycle="retired"),
        State(trust="held"),
        State(trust="rejected"),
        State(expires_at=1),
        State(valid_from=2**40),
        State(valid_to=1),
    ],
)
def test_a_hidden_dead_end_comes_beside_nothing(store: NoteStore, state: State) -> None:
    store.add(TITLE, BODY)
    tried = store.mark(store.add(TRIED), "tool:docker<2", kind=DEAD_END)
    shown = query(store)

    store.set_state(tried, state)
    hidden = query(store)

    assert (named(shown), shown.context_wanted) == ([tried], ("tool:docker",))
    assert (hidden.hit, named(hidden), hidden.context_wanted) == (Hit.STRONG, [], ())


def test_a_dead_end_of_another_scope_comes_beside_nothing(store: NoteStore) -> None:
    store.add(TITLE, BODY)
    tried = store.mark(store.add(TRIED, scope="project:b"), "tool:docker<2", kind=DEAD_END)
    index = VectorIndex(MODEL, DIMENSIONS)

    here = answer_query(store.connection, index, ask(QUESTION, scope=ScopeFilter(scopes=("user",))))

    assert named(query(store)) == [tried]
    assert (named(here), here.context_wanted, here.notes_elsewhere) == ([], (), 1)


def test_a_doubted_dead_end_is_labelled(store: NoteStore) -> None:
    store.add(TITLE, BODY)
    store.mark(store.add(TRIED, state=State(trust="disputed")), kind=DEAD_END)

    assert [each.trust for each in query(store).dead_ends] == [Trust.DISPUTED]


def test_without_vectors_dead_ends_still_come_beside(store: NoteStore) -> None:
    store.add(TITLE, BODY)
    tried = store.mark(store.add(TRIED), kind=DEAD_END)

    answer = answer_query(store.connection, None, ask(TITLE, with_vector=False))

    assert (answer.hit, named(answer)) == (Hit.WEAK, [tried])


def test_a_search_shows_kinds_and_ranges(store: NoteStore, cold_index: VectorIndex) -> None:
    plain = store.add(TITLE, BODY)
    tried = store.mark(store.add(TRIED), "pypi:pip<10", kind=DEAD_END)

    results = retrieve(store.connection, cold_index, ask(TITLE), 25).results

    assert {each.note_id: (each.kind, len(each.applies_to)) for each in results} == {
        plain: (NoteKind.NOTE, 0),
        tried: (DEAD_END, 1),
    }
