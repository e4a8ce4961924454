"""What sets a question apart from a note that looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.contrast import (
    OPPOSITES,
    differing_names,
    missing_names,
    names_in,
    opposite_words,
)


@pytest.mark.parametrize(
    ("question", "note", "differing"),
    [
        ("which cameras are in snowcam5", "snowcam7 must be split by camera", ("snowcam5",)),
        ("works on python 3.10", "fails on python 3.11", ("3.10",)),
        ("works on python 3.11.4", "fails on python 3.11.4", ()),
        ("works on python 3.11", "fails on python 3.11.4", ()),
        ("adc1 pin jumps", "no digits here", ()),
        ("adc2 pin jumps", "adc2 pin jumps", ()),
    ],
)
def test_a_name_of_the_same_make_differs(
    question: str, note: str, differing: tuple[str, ...]
) -> None:
    assert differing_names(question, note) == differing


def test_a_name_that_is_nowhere_is_missing() -> None:
    assert missing_names("error 404 on port 8080", "port 8080 is taken") == ("404",)


def test_an_opposite_counts_only_where_the_word_itself_is_not() -> None:
    assert opposite_words("how do i disable it", "how to enable it") == ("disable",)
    assert opposite_words("how do i disable it", "enable or disable it") == ()
    assert opposite_words("how do i open it", "how to enable it") == ()


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("turn off the linter", "how to enable the linter"),
        ("how was it turned off", "turn it on again"),
        ("switching it off", "activated by default"),
        ("is it deactivated", "enabling it"),
    ],
)
def test_enabling_has_many_names(question: str, note: str) -> None:
    assert opposite_words(question, note) == ("disable",)
    assert opposite_words(note, question) == ("enable",)


def test_what_is_turned_on_stands_for_enabling_it() -> None:
    assert opposite_words("turn on the linter", "enable the linter, do not disable it") == ()


def test_opposites_go_both_ways() -> None:
    assert all(word in OPPOSITES[other] for word, others in OPPOSITES.items() for other in others)


@given(st.text(), st.text())
def test_any_text_is_compared(question: str, note: str) -> None:
    assert set(differing_names(question, note)) <= set(missing_names(question, note))
    assert set(missing_names(question, note)) <= names_in(question)
    assert not opposite_words(note, note)


def test_names_are_found_within_and_beside_letters() -> None:
    assert names_in("abc12def34 v2.0.1 x") == {"abc12def", "34", "v2.0.1"}


def test_a_word_of_a_million_letters_is_read_once() -> None:
    assert names_in("a" * 1_000_000 + " b2") == {"b2"}
