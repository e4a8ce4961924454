"""Names of files: safe anywhere, unique, and the same every time."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.client.markdown.notes import note, notes

from graft_client.markdown.names import Names, title_part
from graft_client.results import Note

FORBIDDEN = set('/\\:*?"<>|\0') | {chr(code) for code in range(32)}


@settings(deadline=None)
@given(written=st.lists(notes, max_size=5))
def test_names_are_safe_on_any_file_system_and_unique(written: list[Note]) -> None:
    names = Names()
    given = [names.give(each) for each in written]

    assert len(set(given)) == len(written)
    for name in given:
        assert not FORBIDDEN & set(name)
        assert len(name.encode()) <= 143
        assert name[0] not in ".-_ "
        assert name.endswith(".md")
        # Where case or composition make no difference, it is the same name and no other's.
        assert name.casefold() == name
        assert unicodedata.normalize("NFC", name) == name


@pytest.mark.parametrize(
    ("title", "part"),
    [
        (
            "pip fails: certificate verify failed (proxy)",
            "pip-fails-certificate-verify-failed-proxy",
        ),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con"),
        ("日本語のメモ", "日本語のメモ"),
        ("Größe und Weiß", "grösse-und-weiss"),
        ("🦀🦀", "note"),
        ("\u202eevil\u200b", "evil"),
        ("x" * 500, "x" * 80),
        ("é" * 100, "é" * 40),
    ],
)
def test_a_name_is_its_title_s_letters_and_digits(title: str, part: str) -> None:
    assert title_part(title) == part


def test_the_name_of_a_note_does_not_depend_on_its_neighbours() -> None:
    one, other = note("same title", "one"), note("same title", "other")
    names = Names()

    alone = Names().give(other)

    assert names.give(one) != alone
    assert names.give(other) == alone
    assert names.give(note("same title", "one", scope="user")).startswith("same-title-")


def test_two_notes_that_say_the_same_have_two_names() -> None:
    names = Names()

    assert names.give(note("t", "b")) != names.give(note("t", "b"))
