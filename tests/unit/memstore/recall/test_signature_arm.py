"""A pasted error finds the note that tells of it, and no other is taken for it."""

import pytest
from tests.unit.memstore.recall.store_builder import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    NoteStore,
    State,
    ask,
)

from graft_memstore.gate import Hit
from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.recall.answer import QueryAnswer
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.recall.signature_arm import HOLDERS_MAX

TITLE = "Nightly closing of the books stops until the ledger's year is opened"
BODY = """Seen on the first of January:

```
Traceback (most recent call last):
  File "/home/ann/shop/night.py", line 14, in close_day
    ledger.close(day)
ledger.errors.ClosedBookError: the book of 2030 is closed for writing
```

Open the new year with `ledger year --open` first."""
RAISED = "ledger.errors.ClosedBookError: the book of 2031 is closed for writing"
PASTE = "\n".join(
    [
        *(f"07:08:{number:02} INFO loader: part {number} of 60 is read" for number in range(60)),
        "Traceback (most recent call last):",
        '  File "/srv/app/shop/night.py", line 21, in close_day',
        "    ledger.close(day)",
        RAISED,
        *(
            f"07:09:{number:02} INFO loader: part {number} of 60 is put away"
            for number in range(60)
        ),
    ]
)
OTHERS = [
    ("Loader reads its parts in the order of their names", "Part 10 comes before part 9."),
    ("INFO lines of the loader fill the disk", "Rotate the log of the loader nightly."),
    ("Ledger exports want a comma", "Set `decimal: comma`."),
]


def fill(store: NoteStore) -> NoteId:
    for title, body in OTHERS:
        store.add(title, body)
    return store.add(TITLE, BODY)


def query(store: NoteStore, text: str, scope: ScopeFilter | None = None) -> QueryAnswer:
    question = ask(text, scope=scope) if scope else ask(text)
    return answer_query(store.connection, VectorIndex(MODEL, DIMENSIONS), question)


def test_a_long_paste_is_answered_by_the_note_that_tells_of_its_error(store: NoteStore) -> None:
    note_id = fill(store)

    answer = query(store, PASTE)

    assert (answer.note_id, answer.hit) == (note_id, Hit.STRONG)
    assert dict(answer.signals)["signature"] == 1.0


def test_without_a_vector_the_same_error_makes_a_note_weak(store: NoteStore) -> None:
    note_id = fill(store)

    question = ask(PASTE, with_vector=False)
    answer = answer_query(store.connection, VectorIndex(MODEL, DIMENSIONS), question)

    assert (answer.note_id, answer.hit, answer.degraded) == (note_id, Hit.WEAK, ("vector",))


def test_a_note_of_another_error_is_at_most_weak_and_says_so(store: NoteStore) -> None:
    fill(store)
    text = PASTE.replace(RAISED, "ledger.errors.LockedBookError: the book of 2031 has a lock on it")

    answer = query(store, text)

    whys = [each.why for each in answer.near]
    assert answer.hit is not Hit.STRONG
    assert answer.hit is Hit.WEAK or any("another error" in why for why in whys)


def test_a_note_without_an_error_of_its_own_may_answer_one(store: NoteStore) -> None:
    title = "ClosedBookError: the book of a year is closed for writing until the next is opened"
    note_id = store.add(title, "Open it with: ledger year --open")

    answer = query(store, RAISED)

    assert (answer.note_id, answer.hit) == (note_id, Hit.STRONG)


def test_a_ranked_search_names_the_arm_that_found_a_note(
    store: NoteStore, cold_index: VectorIndex
) -> None:
    note_id = fill(store)

    answer = retrieve(store.connection, cold_index, ask(PASTE), 4)

    best = answer.results[0]
    assert best.note_id == note_id
    assert (best.arms["signature"].rank, best.arms["signature"].score) == (1, 1.0)
    assert all("signature" not in each.arms for each in answer.results[1:])


@pytest.mark.parametrize(
    "state",
    [
        State(trust="rejected"),
        State(trust="held"),
        State(lifecycle="superseded"),
        State(lifecycle="retired"),
        State(expires_at=NOW_MS),
        State(valid_from=NOW_MS + 1),
        State(valid_to=NOW_MS),
    ],
)
def test_a_hidden_note_is_not_found_by_its_error(store: NoteStore, state: State) -> None:
    note_id = fill(store)
    seen = query(store, PASTE)

    store.set_state(note_id, state)
    hidden = query(store, PASTE)

    assert seen.note_id == note_id
    assert note_id not in [hidden.note_id, *(each.note_id for each in hidden.near)]
    assert dict(hidden.signals)["signature"] == 0.0


def test_a_note_of_another_scope_is_not_found_by_its_error(store: NoteStore) -> None:
    store.add(TITLE, BODY, scope="project:b")

    here = query(store, PASTE, ScopeFilter(scopes=("user", "project:a")))
    there = query(store, PASTE, ScopeFilter(scopes=("user", "project:b")))

    assert (here.hit, here.near, here.signals) == (Hit.MISS, (), ())
    assert there.hit is Hit.STRONG


def test_a_deleted_note_is_not_found_by_its_error(store: NoteStore) -> None:
    note_id = fill(store)
    store.delete(note_id)

    answer = query(store, PASTE)

    rows = store.connection.execute("SELECT count(*) FROM note_signatures").fetchall()
    assert answer.note_id != note_id
    assert rows == [(0,)]


def test_hidden_notes_with_the_same_error_push_no_seen_one_out(store: NoteStore) -> None:
    note_id = fill(store)
    for number in range(HOLDERS_MAX + 8):
        store.add(f"{TITLE} {number}", BODY, state=State(lifecycle="retired"))

    answer = query(store, PASTE)

    assert (answer.note_id, answer.hit) == (note_id, Hit.STRONG)


def test_keywords_narrow_what_an_error_finds(store: NoteStore, cold_index: VectorIndex) -> None:
    store.add(TITLE, BODY, keywords=["ledger"])
    store.add(TITLE + "!", BODY, keywords=["shop"])

    question = ask(PASTE, keywords=("shop",), keywords_min=1)
    answer = retrieve(store.connection, cold_index, question, 5)

    assert [each.keywords for each in answer.results] == [("shop",)]


@pytest.mark.parametrize("text", ["Error: \ud800 cannot \0 be", "error: " * 9_000, "`" * 65_536])
def test_no_paste_is_an_error(store: NoteStore, text: str) -> None:
    fill(store)

    assert query(store, text).hit in set(Hit)
