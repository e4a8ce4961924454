"""Which texts are the same, and which say the same."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft.wire.characters import INVISIBLE_OR_CONTROL
from graft_memstore.canonical import encode_fields
from graft_memstore.model import NoteKind
from graft_memstore.write.hashes import content_hash, spelled_once, value_hash

CYRILLIC_PAYPAL = "\u0440\u0430ypal"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use Node 20", "use node 20"),
        ("Use  Node\n20 ", "Use Node 20"),
        ("\uff35\uff53\uff45 \ufb01le", "use file"),
        ("Stra\u00dfe", "STRASSE"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a \u200b b", "a b"),
        ("soft\u00adhyphen", "softhyphen"),
        ("bell\x07", "bell"),
        (CYRILLIC_PAYPAL, "PayPal"),
        ("\u039fpen", "open"),
        ("line\r\nend", "line\nend"),
        ("git branch  -d", "GIT branch -d"),
        ("caf\u00e9", "CAFE\u0301"),
        ("an e\u2011mail", "an e-mail"),
        ("ports 1\u20135", "ports 1-5"),
        ("rm \u2212f", "rm -f"),
        ("run `ls \u2010l`", "run `ls -l`"),
        ("\u1d1b\u1d0f\u1d0b\u1d07\u0274", "token"),
        ("\u13da\u13aave", "SAVE"),
        ("\uabaa\u1d00ve", "save"),
        ("\u0570\u0585st", "HOST"),
        ("\u054d\u0555", "uo"),
        ("\u03ba\u03b9\u03c4", "kit"),
        ("\u0397\u0391\u0392\u0399\u03a4", "habit"),
        ("po\u2800rt", "port"),
        ("po\U00016fe4rt", "port"),
        ("\U0001d553\u24d0\u00aa", "baa"),
        ("\u0261\u0251te", "gate"),
        ("l\u0131sten", "listen"),
        ("\u0130ZM\u0130R", "izmir"),
        ("i\u0307n", "in"),
        ("\u2ca5\u2c9f\u2ca3y", "copy"),
        ("\ua4d1\ua4f3\ua4e3\ua4d4", "port"),
        ("\U0001f17f\U0001f17e\U0001f181\U0001f163", "port"),
        ("port \u0666\u0664\u0663\u0662", "port 6432"),
        ("port \u096c\u096a\u0969\u0968", "port 6432"),
    ],
)
def test_spellings_of_one_statement_have_one_hash(one: str, other: str) -> None:
    assert value_hash(one, "") == value_hash(other, "")
    assert value_hash("t", one) == value_hash("t", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use node 20", "use node 22"),
        ("git branch -d", "git branch -D"),
        ("grep --Color=always", "grep --color=always"),
        ("set `PATH`", "set `path`"),
        ("run `a  b`", "run `a b`"),
        ("```\nX\n```", "```\nx\n```"),
        ("~~~\nX\n~~~", "~~~\nx\n~~~"),
        ("```\nnever closed X", "```\nnever closed x"),
        ("```\n  indented\n```", "```\nindented\n```"),
        ("wait 5 \u00b5s", "wait 5 ms"),
        ("caf\u00e9", "cafe"),
        ("do", "do not"),
        ("rm \u2212f", "rm -F"),
        ("the angle \u03b1", "the angle a"),
        ("the \u03b1\u03b2 filter", "the ab filter"),
        ("\u03bb", "l"),
        ("\u057f\u0578\u0582\u0576", "\u057f\u0561\u0576"),
        ("\u13e3\u13b3\u13a9", "\u13e3\u13e4\u13a9"),
        ("port 10", "port lO"),
        ("port \u0666\u0664\u0663\u0662", "port 6433"),
        ("\ua4d1\ua4f3", "\ua4d1\ua4f4"),
        ("\u2c87\u2c89", "\u2c87\u2c8f"),
        ("modern", "modem"),
    ],
)
def test_other_statements_have_other_hashes(one: str, other: str) -> None:
    assert value_hash("t", one) != value_hash("t", other)


def test_code_may_be_spelled_with_marks_that_nobody_sees() -> None:
    assert value_hash("t", "`a\u200bb`") == value_hash("t", "`ab`")


def test_text_moved_from_title_to_body_is_another_value() -> None:
    assert value_hash("ab", "c") != value_hash("a", "bc")


@pytest.mark.parametrize("text", ["A\u0345", "A\u1fd3", "\u03b1\u1fe7b"])
def test_letters_that_folding_takes_apart_have_one_spelling(text: str) -> None:
    once = spelled_once(text)

    assert spelled_once(once) == once


@given(st.text())
def test_the_one_spelling_of_the_one_spelling_is_itself(text: str) -> None:
    once = spelled_once(text)

    assert spelled_once(once) == once


@given(st.text(), st.text(), st.text(), st.text())
def test_only_the_same_lists_of_fields_give_the_same_bytes(a: str, b: str, c: str, d: str) -> None:
    assert (encode_fields(a, b) == encode_fields(c, d)) == ((a, b) == (c, d))


def test_absent_empty_and_zero_are_three_things() -> None:
    encoded = {encode_fields(each) for each in (None, "", b"", 0)}

    assert len(encoded) == 4


def test_the_content_s_hash_tells_everything_apart() -> None:
    hashes = {
        content_hash("a", "b", NoteKind.NOTE),
        content_hash("A", "b", NoteKind.NOTE),
        content_hash("ab", "", NoteKind.NOTE),
        content_hash("a", "b ", NoteKind.NOTE),
        content_hash("a", "b", NoteKind.DEAD_END),
    }

    assert len(hashes) == 5


def test_every_format_character_of_unicode_counts_as_invisible() -> None:
    missed = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and not INVISIBLE_OR_CONTROL.fullmatch(chr(code))
    ]

    assert missed == []
