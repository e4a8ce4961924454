"""What a note's words say to a question's."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.lexical import fold_note, fold_question
from graft_memstore.recall.evidence import (
    STRETCH_SENTENCES_MAX,
    WordEvidence,
    compare_words,
    weigh,
)
from graft_memstore.store.folded import FoldedText

QUESTION = "rotate certificates of the staging proxy"
COUNTS = {"rotate": 2, "certificates": 3, "of": 40, "the": 45, "staging": 5, "proxy": 4}
NOTES = 50


def compare(
    title: str, body: str, question: str = QUESTION, counts: Mapping[str, int] = COUNTS
) -> WordEvidence:
    folded = fold_note(title, body, [])
    note = FoldedText(
        title=folded.title, body=folded.body, keywords=folded.keywords, cjk=folded.cjk
    )
    asked = fold_question(question)
    known = {term: counts.get(term, 0) for term in asked.terms}
    return compare_words(weigh(asked, known, NOTES), note)


def test_words_that_stand_together_cover_more_of_a_stretch_than_words_apart() -> None:
    filler = "Nothing here. Nothing there. "
    together = compare("t", f"Rotate certificates. On staging, by the proxy. {filler}")
    apart = compare("t", f"Rotate it. {filler}Certificates. {filler}Staging. {filler}The proxy.")

    assert together.coverage == pytest.approx(apart.coverage)
    assert together.stretch == pytest.approx(together.coverage)
    assert apart.stretch < together.stretch / 2


def test_a_title_is_a_stretch_of_its_own() -> None:
    assert compare(QUESTION, "Nothing here.").stretch == pytest.approx(1.0)


def test_what_others_know_and_this_note_lacks_is_missing() -> None:
    found = compare("rotate certificates", "On staging.", f"{QUESTION} zyx")

    assert found.missing_words == ("proxy",)
    assert found.uncovered_rarest >= found.missing_rarest > 0.0


def test_another_form_of_a_word_covers_it() -> None:
    assert compare("a certificate", "").missing_words == ("rotate", "staging", "proxy")


def test_a_title_is_covered_by_the_question_as_far_as_its_telling_words_are() -> None:
    assert compare("the staging proxy", "").title_coverage == pytest.approx(1.0)
    assert compare("the production proxy", "").title_coverage < 0.7
    assert compare("", "").title_coverage == 0.0


def test_two_languages_of_one_letter_are_two_words() -> None:
    title = "C++ templates fail to link unless they are defined in the header"

    assert compare(title, "", "C++ templates").coverage == pytest.approx(1.0)
    other = compare(title, "", "C# templates")
    assert other.coverage < 0.7
    assert other.uncovered_rarest > 0.0
    assert compare(title, "", "C#").coverage == 0.0


def test_a_name_that_differs_and_an_opposite_are_told() -> None:
    found = compare("enable tls on proxy5", "", "disable tls on proxy7")

    assert (found.differing, found.opposite) == (("proxy7",), ("disable",))


def test_a_sentence_far_down_covers_the_question_but_is_no_stretch() -> None:
    body = "Nothing here. " * STRETCH_SENTENCES_MAX + QUESTION
    found = compare("t", body)

    assert found.coverage == pytest.approx(1.0)
    assert found.stretch == 0.0


@given(st.text(), st.text(), st.text())
def test_shares_are_shares(title: str, body: str, question: str) -> None:
    found = compare(title, body, question)

    for share in (found.coverage, found.stretch, found.missing, found.title_coverage):
        assert 0.0 <= share <= 1.0 + 1e-9
    assert found.stretch <= found.coverage + 1e-9
    assert found.coverage + found.missing <= 1.0 + 1e-9
