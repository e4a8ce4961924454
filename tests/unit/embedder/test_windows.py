"""Windows: they cover the text in order, overlap, fit, and cost little."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graft_embedder.graphemes import is_boundary
from graft_embedder.windows import Split, WindowSize, split

TOKENS_OF = {"ﷺ": 18, "\u200b": 0}

texts = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \n\t.-ab"),
        st.sampled_from("修復é\u0301\u200b\u200dﷺ\U0001f468\U0001f1ee\U0001f1f9\U0001f3fd"),
        st.characters(codec="utf-8"),
    ),
    max_size=600,
)
sizes = st.integers(16, 60).flatmap(
    lambda tokens: st.builds(
        WindowSize,
        tokens=st.just(tokens),
        overlap=st.integers(0, (tokens - 1) // 2),
        windows_max=st.integers(1, 64),
    )
)


def count(text: str) -> int:
    """Count a token for every two letters of a word, and for every rarer character its own."""
    total = 0
    for word in text.split():
        plain = sum(character.isascii() for character in word)
        total += (plain + 1) // 2
        total += sum(TOKENS_OF.get(each, 1) for each in word if not each.isascii())
    return total


def embedded(text: str, found: Split) -> list[str]:
    """Return what each window embeds."""
    return [text[span.content_start : span.content_end] for span in found.spans]


@given(text=texts, size=sizes)
@example(text="\u200b" * 700 + "a", size=WindowSize(tokens=16, overlap=7, windows_max=64))
@example(text="a" + " " * 2000 + "b", size=WindowSize(tokens=16, overlap=7, windows_max=64))
@example(text="e" + "\u0301" * 500, size=WindowSize(tokens=16, overlap=7, windows_max=64))
def test_windows_cover_the_text_from_its_beginning_without_a_gap(
    text: str, size: WindowSize
) -> None:
    found = split(text, size, count)

    covered = 0
    for span in found.spans:
        assert span.start <= covered < span.end
        assert span.start <= span.content_start < span.content_end <= span.end
        # What a window covers but does not embed is white space or invisible.
        assert count(text[span.start : span.content_start]) == 0
        assert count(text[span.content_end : span.end]) == 0
        covered = span.end
    assert found.uncovered == covered
    if found.spans and len(found.spans) < size.windows_max:
        assert covered == len(text)


@given(text=texts, size=sizes)
def test_no_window_holds_more_tokens_than_it_may_unless_one_character_does(
    text: str, size: WindowSize
) -> None:
    found = split(text, size, count)

    assert len(found.spans) <= size.windows_max
    for part in embedded(text, found):
        assert 0 < count(part) <= size.tokens or len(part) == 1


@given(text=texts, size=sizes)
def test_neighbours_share_no_more_than_the_overlap_and_each_brings_something_new(
    text: str, size: WindowSize
) -> None:
    found = split(text, size, count)

    for before, after in zip(found.spans, found.spans[1:], strict=False):
        assert after.start > before.start
        assert after.content_end > before.content_end
        assert count(text[after.content_start : before.content_end]) <= size.overlap


@given(text=texts, size=sizes)
def test_all_text_is_embedded_when_there_are_windows_enough(text: str, size: WindowSize) -> None:
    wide = WindowSize(tokens=size.tokens, overlap=size.overlap, windows_max=10_000)

    found = split(text, wide, count)

    embedded_at = {
        place for span in found.spans for place in range(span.content_start, span.content_end)
    }
    assert all(place in embedded_at for place, each in enumerate(text) if count(each))


def test_windows_of_prose_are_nearly_full_and_end_between_words() -> None:
    text = "the quick brown fox jumps over the lazy dog and goes on " * 100

    found = split(text, WindowSize(tokens=100, overlap=20, windows_max=64), count)

    for span in found.spans[:-1]:
        assert 88 <= count(text[span.content_start : span.content_end]) <= 100
        assert text[span.content_end - 1].isspace() or text[span.content_end].isspace()


def test_neighbours_share_about_the_overlap() -> None:
    text = "the quick brown fox jumps over the lazy dog and goes on " * 100

    found = split(text, WindowSize(tokens=100, overlap=20, windows_max=64), count)

    for before, after in zip(found.spans, found.spans[1:], strict=False):
        assert 12 <= count(text[after.content_start : before.content_end]) <= 20


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301\u0323", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1ee\U0001f1f9", "각"],
)
def test_no_window_ends_inside_what_people_see_as_one_character(cluster: str) -> None:
    text = unicodedata.normalize("NFD", cluster) * 200

    found = split(text, WindowSize(tokens=30, overlap=8, windows_max=64), len)

    for span in found.spans:
        assert is_boundary(text, span.content_start)
        assert is_boundary(text, span.content_end)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("word and words " * 70_000, id="prose"),
        pytest.param("x" * 1_048_576, id="one word"),
        pytest.param("x" + " " * 1_048_574 + "y", id="white space"),
        pytest.param("x" + "\u200b" * 349_000 + "y", id="invisible"),
        pytest.param(("e" + "\u0301" * 99) * 5_000, id="marks"),
        pytest.param(("a" + " " * 999) * 1_000, id="sparse"),
    ],
)
def test_splitting_a_mebibyte_counts_hardly_more_than_it_covers(text: str) -> None:
    counted = 0

    def watched(part: str) -> int:
        nonlocal counted
        counted += len(part)
        return count(part)

    found = split(text, WindowSize(tokens=240, overlap=32, windows_max=64), watched)

    assert found.spans
    assert counted <= 15 * found.uncovered + 200_000
