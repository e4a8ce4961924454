"""Texts become sequences: prefix and marks inside the window, long queries head and tail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_engine import FakeEngine

from graft.wire.errors import BadFieldError
from graft_embedder.catalogue import BY_NAME
from graft_embedder.preparation import PIECE_CHARACTERS, Options, Preparer, Purpose
from graft_embedder.work_queue import CallEndedError

PASSAGE = Options(purpose=Purpose.PASSAGE)
QUERY = Options(purpose=Purpose.QUERY)
OVERHEAD = 2 + 2
"""Marks, and "passage:" in the fake's tokens of four letters."""


def preparer(window: int = 100, query_tokens: int = 64) -> Preparer:
    """Return a preparer over a fake engine of *window* tokens."""
    engine = FakeEngine(sequence_tokens=window, batch_tokens=window)
    return Preparer(engine, BY_NAME["starter"], query_tokens)


def waiting() -> None:
    """Stand for a caller who waits."""


def test_a_short_text_is_one_window_with_its_prefix() -> None:
    made = preparer().prepare(" a lock ", "texts[0]", PASSAGE, waiting)

    engine = FakeEngine()
    assert made.spans == ((0, 8),)
    assert made.sequences == (engine.tokenize("passage: a lock", marks=True),)
    assert made.tokens == 2
    assert made.uncovered == 8


def test_the_window_of_the_model_leaves_room_for_prefix_and_marks() -> None:
    made = preparer(window=100).prepare("word " * 300, "texts[0]", PASSAGE, waiting)

    assert max(map(len, made.sequences)) <= 100
    assert preparer(window=100).room(Purpose.PASSAGE) == 100 - OVERHEAD


def test_a_text_that_just_fits_is_one_window() -> None:
    exact = preparer(window=100).prepare("word " * 96, "texts[0]", PASSAGE, waiting)
    over = preparer(window=100).prepare("word " * 97, "texts[0]", PASSAGE, waiting)

    assert len(exact.sequences) == 1
    assert len(exact.sequences[0]) == 100
    assert len(over.sequences) == 2


def test_windows_asked_for_are_made_and_the_rest_reported() -> None:
    options = Options(purpose=Purpose.PASSAGE, window_tokens=20, overlap_tokens=4, windows_max=3)

    made = preparer().prepare("word " * 300, "texts[0]", options, waiting)

    assert len(made.sequences) == 3
    assert all(len(sequence) <= 20 + OVERHEAD for sequence in made.sequences)
    assert made.spans[-1][1] == made.uncovered < 1500
    assert made.tokens == 300


def test_a_window_above_the_models_is_cut_to_it() -> None:
    options = Options(purpose=Purpose.PASSAGE, window_tokens=5_000, overlap_tokens=2_000)

    made = preparer(window=100).prepare("word " * 300, "texts[0]", options, waiting)

    assert max(map(len, made.sequences)) <= 100


def test_a_long_query_keeps_three_quarters_of_its_head_and_one_of_its_tail() -> None:
    words = [f"w{number:03d}" for number in range(500)]
    made = preparer(query_tokens=64).prepare(" ".join(words), "texts[0]", QUERY, waiting)

    engine = FakeEngine()
    (sequence,) = made.sequences
    kept = sequence[3:-1]  # start mark, "query:" in two tokens, end mark
    head = [engine.tokenize(word, marks=False)[0] for word in words[:44]]
    tail = [engine.tokenize(word, marks=False)[0] for word in words[-12:]]
    assert 56 <= len(kept) <= 64
    assert kept[:44] == head
    assert kept[-12:] == tail
    assert made.spans == ((0, 500 * 5 - 1),)
    assert 44 * 5 <= made.uncovered <= 49 * 5
    assert made.tokens == 500


@given(text=st.text(min_size=1, max_size=400), most=st.integers(16, 90))
def test_a_query_is_always_one_window_of_at_most_what_was_asked(text: str, most: int) -> None:
    options = Options(purpose=Purpose.QUERY, query_tokens_max=most)

    try:
        made = preparer(window=100).prepare(text, "texts[0]", options, waiting)
    except BadFieldError:
        assert not FakeEngine().tokenize(text, marks=False)
        return

    assert len(made.sequences) == 1
    assert len(made.sequences[0]) <= most + OVERHEAD
    assert made.uncovered <= len(text)


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u00a0", "\u200b", "\x00", "\u200b \x00"])
@pytest.mark.parametrize("options", [PASSAGE, QUERY])
def test_a_text_without_content_is_refused_by_its_place(text: str, options: Options) -> None:
    with pytest.raises(BadFieldError, match=r"texts\[3\]"):
        preparer().prepare(text, "texts[3]", options, waiting)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Options(purpose=Purpose.PASSAGE, window_tokens=15), "window_tokens"),
        (Options(purpose=Purpose.PASSAGE, windows_max=65), "windows_max"),
        (Options(purpose=Purpose.PASSAGE, window_tokens=32, overlap_tokens=16), "overlap_tokens"),
        (Options(purpose=Purpose.PASSAGE, overlap_tokens=48), "overlap_tokens"),
        (Options(purpose=Purpose.QUERY, query_tokens_max=15), "query_tokens_max"),
    ],
)
def test_options_that_can_never_work_are_refused_by_name(options: Options, field: str) -> None:
    with pytest.raises(BadFieldError) as caught:
        preparer(window=100).check(options)

    assert caught.value.violations[0].field == field


def test_a_long_text_is_counted_in_pieces_as_the_whole_would_be() -> None:
    text = "one two three four " * 3_000
    assert len(text) > 3 * PIECE_CHARACTERS

    assert preparer().count(text, waiting) == 3_000 * 5


def test_counting_stops_when_the_caller_has_gone() -> None:
    pieces = 0

    def go_on() -> None:
        nonlocal pieces
        pieces += 1
        if pieces > 2:
            raise CallEndedError

    with pytest.raises(CallEndedError):
        preparer().count("word " * 100_000, go_on)

    assert pieces == 3
