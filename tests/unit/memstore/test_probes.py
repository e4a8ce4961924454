"""Questions that are made out of notes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.probes import (
    WORDS_MAX,
    WORDS_MIN,
    ProbeKind,
    ProbeNote,
    as_asked,
    longest_passage,
    make_probes,
    split_words,
)

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "数据库"])
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)


def notes_of(*texts: tuple[str, str]) -> list[ProbeNote]:
    return [
        ProbeNote(seq=seq, title=title, body=body, scope=f"team:{seq}")
        for seq, (title, body) in enumerate(texts, 1)
    ]


def test_a_title_is_asked_in_another_order_without_its_rarer_words() -> None:
    counts = Counter({"pip": 4, "cannot": 3, "see": 3, "the": 9, "proxy": 2})

    assert as_asked("pip cannot see the proxy", counts, []) == "cannot the pip"


def test_as_many_words_stay_as_it_takes_for_no_other_note_to_answer() -> None:
    counts = Counter({"pip": 4, "cannot": 3, "see": 3, "the": 9, "proxy": 2})
    others = [frozenset({"pip", "cannot", "the", "see"})]

    assert as_asked("pip cannot see the proxy", counts, others) == "see the proxy pip cannot"
    assert as_asked("pip cannot see", counts, others) == ""


def test_a_passage_is_the_sentence_with_the_most_words_outside_of_code() -> None:
    body = "Short one.\n```\nfive words in fenced code\n```\nSet the variable first. Then go on."

    assert longest_passage(body) == "Set the variable first."


def test_notes_that_share_their_words_give_no_question() -> None:
    notes = notes_of(*[("restart the service after each deploy", "")] * 5)

    assert make_probes(notes) == []


def test_halves_of_two_titles_are_asked_where_both_notes_are_seen() -> None:
    notes = notes_of(
        ("pip cannot see the proxy", ""),
        ("clock drift breaks tokens", ""),
        ("disk fills with old logs", ""),
    )

    mixed = [probe for probe in make_probes(notes) if probe.kind is ProbeKind.MIXED]

    assert mixed[0].text == "pip cannot see with old logs"
    assert mixed[0].scopes == ("team:1", "team:3")
    assert not mixed[0].answered


@given(texts=st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_every_question_is_short_and_no_other_note_holds_all_its_words(
    texts: list[tuple[str, str]],
) -> None:
    notes = notes_of(*texts)

    probes = make_probes(notes)

    for probe in probes:
        words = split_words(probe.text)
        assert WORDS_MIN <= len(words) <= 2 * WORDS_MAX
        others = [note for note in notes if note != probe.note or not probe.answered]
        assert not any(
            set(words) <= set(split_words(f"{note.title}\n{note.body}")) for note in others
        )
    assert {probe.held_out for probe in probes} <= {False, True}
    assert make_probes(notes) == probes


@given(texts=st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_no_note_gives_questions_on_both_sides(texts: list[tuple[str, str]]) -> None:
    probes = make_probes(notes_of(*texts))

    sides = {(probe.note.seq, probe.held_out) for probe in probes}
    assert len(sides) == len({seq for seq, _ in sides})


@given(text=st.text())
def test_any_text_can_be_asked(text: str) -> None:
    asked = split_words(as_asked(text, Counter(), []))

    assert len(asked) <= WORDS_MAX
    assert set(asked) <= set(split_words(text))
    longest_passage(text)
