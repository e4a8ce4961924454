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
    other_numbers,
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


@pytest.mark.parametrize(
    ("question", "note", "renumbered"),
    [
        ("the pod ends with exit code 143", "exit code 137 is the memory limit", ("code 143",)),
        ("what does pgx v4 need", "pgx 5 needs exec mode", ("pgx 4",)),
        ("python 2 or python 3", "python 3 it is", ("python 2",)),
        ("the adapter of rev2", "rev 3 has its adapter at 0x31", ("rev 2",)),
        ("which port is it, port 7431?", "the port is 7431", ()),
        ("django 4.2.3 fails", "django 4.2 fails", ()),
        ("django 4 fails", "django 4.2 fails", ()),
        ("node 20 fails", "node 17+ fails", ()),
        ("node 20 fails", "fails since node 17", ()),
        ("node 20 fails", "node 17 and later fail", ()),
        ("node 20 fails", "fails on hosts of 17", ()),
        ("makefile:31: missing separator", "makefile:12: missing separator", ()),
        ("exit code 143", "143 and not exit code 137", ()),
        ("raise it to 2000", "it was set to 200", ()),
        ("error 0x80070005 on 2025-09-30", "the release of 2024-01-15", ()),
    ],
)
def test_a_number_is_another_one_where_the_same_thing_has_it(
    question: str, note: str, renumbered: tuple[str, ...]
) -> None:
    assert other_numbers(question, note) == renumbered


def test_opposites_go_both_ways() -> None:
    assert all(word in OPPOSITES[other] for word, others in OPPOSITES.items() for other in others)


@given(st.text(), st.text())
def test_any_text_is_compared(question: str, note: str) -> None:
    assert set(differing_names(question, note)) <= set(missing_names(question, note))
    assert set(missing_names(question, note)) <= names_in(question)
    assert not opposite_words(note, note)
    assert not other_numbers(note, note)
    assert not other_numbers(question, f"{question} {note}")


def test_names_are_found_within_and_beside_letters() -> None:
    assert names_in("abc12def34 v2.0.1 x") == {"abc12def", "34", "v2.0.1"}


def test_a_word_of_a_million_letters_is_read_once() -> None:
    assert names_in("a" * 1_000_000 + " b2") == {"b2"}
