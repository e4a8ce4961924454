"""Words of notes and questions, against the real full-text index."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.memstore.recall.store_builder import EVERYWHERE, NOW_MS, NoteStore

from graft_memstore import lexical
from graft_memstore.lexical import (
    FoldedQuestion,
    choose_terms,
    fold,
    fold_note,
    fold_question,
    match_any,
    match_pieces,
    rarity,
)
from graft_memstore.model import ScopeFilter
from graft_memstore.recall.words_arm import find_by_words
from graft_memstore.store import term_counts
from graft_memstore.store.search import Eligible

ANYWHERE = Eligible(scope=EVERYWHERE, now_ms=NOW_MS)
ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs"]),
        st.sampled_from("\x00\"'*()^:-+{}[]\\/._@#$%&|~<>=!?;, \n\tANDORNOTEAR"),
        st.sampled_from("修复用户サンドボックスㄅ한국어ﬁßＵé"),
    ),
    max_size=60,
)
# One store serves all examples: each only reads, or writes a note of its own.
SHARED_STORE = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100
)


def found(store: NoteStore, text: str) -> set[int]:
    hits = find_by_words(store.connection, fold_question(text), ANYWHERE, 20)
    return set(hits.words) | set(hits.pieces)


@SHARED_STORE
@given(question=ANY_TEXT)
def test_no_question_is_an_error(store: NoteStore, question: str) -> None:
    found(store, question)


@SHARED_STORE
@given(title=ANY_TEXT, body=ANY_TEXT, keyword=ANY_TEXT)
def test_every_note_can_be_folded_and_stored(
    store: NoteStore, title: str, body: str, keyword: str
) -> None:
    folded = fold_note(title, body, [keyword])

    store.connection.execute(
        "INSERT INTO notes_fts (title, body, keywords, cjk) VALUES (?, ?, ?, ?)",
        (folded.title, folded.body, folded.keywords, folded.cjk),
    )
    store.connection.execute("INSERT INTO notes_pieces (pieces) VALUES (?)", (folded.pieces,))


@SHARED_STORE
@given(text=ANY_TEXT)
def test_every_word_of_a_question_finds_the_note_that_is_the_question(
    store: NoteStore, text: str
) -> None:
    folded = fold_note(text, "", [])
    store.connection.execute(
        "INSERT INTO notes_fts (title, body, keywords, cjk) VALUES (?, '', '', ?)",
        (folded.title, folded.cjk),
    )
    seq = store.connection.last_insert_rowid()

    for term in fold_question(text).terms:
        rows = store.connection.execute(
            "SELECT rowid FROM notes_fts WHERE notes_fts MATCH ? AND rowid = ?",
            (match_any([term]), seq),
        )
        assert rows.fetchall() == [(seq,)], term


@given(text=ANY_TEXT)
def test_folding_what_is_folded_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("\uff35\uff33\uff25", "use"),
        ("e\u0301te\u0301", "été"),
        ("été", "ete"),
        ("ﾊﾟｽ", "パス"),
        ("co\u00adop", "coop"),
        ("x\u200by", "xy"),
        ("İ", "i"),
    ],
)
def test_spellings_of_one_word_fold_alike(left: str, right: str) -> None:
    assert fold(left) == fold(right)


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("tier1 test of unicode", "tier1-test AND unicode"),
        ("Downloads/transcripts holds the recordings", "Downloads/transcripts"),
        ("agents answer slowly", "don't use agents"),
        ("サンドボックス修正テスト", "サンドボックス"),
        ("user login name", "user identity name"),
        ("修复用户身份", "修复"),
        ("修复用户身份", "份"),
        ("수정했습니다", "수정"),
        ("the keyword is below", "f2c59d63-a7a7-b5e6"),
        ("getUserName fails", "user name"),
        ("user_name fails", "userName"),
        ("read the config.toml file", "config"),
        ("src/graft/store/notes.py", "graft/store"),
        ("why the database is locked", "why is the database locked"),
        ("C++ templates", "C++"),
        ("copies 3 GB/s", "GB/s"),
        ("a deadlock", "deadlock -fix"),
        ("quotes", '"unbalanced quotes'),
        ("a Donaudampfschifffahrtsgesellschaft sails", "dampfschifffahrt"),
        ("ภาษาไทยเขียนติดกัน", "เขียน"),
    ],
)
def test_words_find_the_note(store: NoteStore, title: str, question: str) -> None:
    store.add("something else entirely", "that is not asked for")
    store.add(title, keywords=["f2c59d63-a7a7-b5e6"])
    ((seq,),) = store.connection.execute("SELECT max(seq) FROM notes")

    assert seq in found(store, question)


@pytest.mark.parametrize("question", ["💥", "—", "", "\x00", "\ud800", " \n"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    assert fold_question(question).terms == ()


def test_nul_and_lone_surrogates_separate_words() -> None:
    assert fold_question("a1\x00b2\ud800c3").words == ("a1", "b2", "c3")


def test_identifiers_stand_beside_their_parts() -> None:
    question = fold_question("store.getUserName() in src/a_b.py")

    assert question.wholes == ("store.getusername", "src/a_b.py")
    assert question.words == (
        "store",
        "getusername",
        "get",
        "user",
        "name",
        "in",
        "src",
        "a",
        "b",
        "py",
    )
    assert question.named == {"store.getusername", "src/a_b.py"}


def test_numbers_and_identifiers_mean_the_same_in_every_language() -> None:
    assert fold_question("la porta 5434 di RabbitMQ è chiusa").named == {"5434", "rabbitmq"}


def test_a_question_of_64_kib_asks_for_a_bounded_number_of_terms(store: NoteStore) -> None:
    text = " ".join(f"word{number}" for number in range(8_000))[: 64 * 1024]
    store.add("it says word17 and word7001")

    terms = lexical.terms_to_count(fold_question(text))

    assert len(terms) == lexical.COUNTED_TERMS_MAX
    assert len(choose_terms(dict.fromkeys(terms, 1))[0]) == lexical.QUERY_TERMS_MAX


def test_a_token_of_64_kib_is_searched_for_by_its_beginning(store: NoteStore) -> None:
    store.add("the log", "x" * 200_000)
    ((seq,),) = store.connection.execute("SELECT max(seq) FROM notes")

    assert found(store, "x" * 65_536) <= {seq}


def test_a_rare_word_at_the_end_of_a_long_question_is_searched_for() -> None:
    text = "it is so and so " * 3_000 + " kubelet-eviction-threshold"

    assert "kubelet-eviction-threshold" in lexical.terms_to_count(fold_question(text))


def test_common_terms_are_dropped_where_rarer_ones_exist() -> None:
    limit = lexical.POSTINGS_MAX

    assert choose_terms({"the": limit, "kafka": 3, "of": limit, "absent": 0}) == (
        ["kafka"],
        ["the", "of"],
    )
    assert choose_terms({"the": 2 * limit, "absent": 0}) == (["the"], [])
    assert choose_terms({"the": 10, "kafka": 3}) == (["kafka", "the"], [])


def test_common_terms_are_searched_for_where_a_scope_does_not_use_the_rare_ones(
    store: NoteStore,
) -> None:
    elsewhere = 1_000
    for number in range(lexical.POSTINGS_MAX):
        row = {"rowid": elsewhere + number}
        store.connection.execute("INSERT INTO notes_fts (rowid, title) VALUES (:rowid, 'the')", row)
    store.add("kafka", scope="project:b")
    store.add("the end")

    here = Eligible(scope=ScopeFilter(scopes=("user",)), now_ms=NOW_MS)
    hits = find_by_words(store.connection, fold_question("kafka the"), here, 5)

    assert list(hits.words) == [2]


def test_a_common_term_is_counted_by_how_far_the_count_went(store: NoteStore) -> None:
    for number in range(4 * term_counts.TERM_COUNT_MAX):
        row = {"rowid": number + 1, "title": "the end" if number % 2 else "the"}
        store.connection.execute(
            "INSERT INTO notes_fts (rowid, title) VALUES (:rowid, :title)", row
        )
    store.connection.execute("INSERT INTO notes_fts (rowid, title) VALUES (3000, 'rare')")

    counts = term_counts.count_terms(
        store.connection, ['"the"', '"end"', '"rare"', '"none"'], 2_000
    )

    assert counts == [2_000, 1_000, 1, 0]


def test_quotes_in_a_run_are_doubled() -> None:
    assert match_pieces(['a"b']) == '"a""b"'


def test_in_a_store_of_one_note_function_words_still_weigh_little() -> None:
    assert rarity("the", 1, 1) < 0.5 * rarity("kubernetes", 1, 1)
    assert rarity("kubernetes", 1, 1) < rarity("kubernetes", 0, 1)


def test_in_a_large_store_the_count_decides() -> None:
    assert rarity("kubernetes", 9_000, 10_000) < 0.2 * rarity("kubernetes", 3, 10_000)


def test_the_text_that_is_searched_inside_is_bounded() -> None:
    body = " ".join(f"identifier_{number}" for number in range(50_000))

    pieces = fold_note("", body, []).pieces

    assert len(pieces) <= lexical.NOTE_PIECES_CHARS_MAX
    assert pieces.startswith("identifier_0\n")


def test_an_empty_question_is_a_question() -> None:
    assert fold_question("") == FoldedQuestion(
        text="", words=(), wholes=(), pairs=(), named=frozenset()
    )
