"""What can be stored and what cannot, with the limit in the refusal."""

import pytest

from graft.wire.errors import BadFieldError
from graft_memstore.errors import BadFieldsError
from graft_memstore.model import NewNote, ScopeFilter, Source, SourceKind
from graft_memstore.write.limits import (
    BATCH_NOTES_MAX,
    BODY_BYTES_MAX,
    KEYWORD_CHARS_MAX,
    KEYWORDS_MAX,
    SOURCES_MAX,
    TITLE_CHARS_MAX,
)
from graft_memstore.write.validate import (
    check_batch,
    check_keyword_filter,
    check_note,
    check_reason,
    check_request_id,
    check_scopes,
)


def refusals(note: NewNote) -> dict[str, str]:
    with pytest.raises(BadFieldsError) as refusal:
        check_note(note)
    return {each.field: each.description for each in refusal.value.violations}


@pytest.mark.parametrize(
    "title",
    ["x", "é" * TITLE_CHARS_MAX, "😀" * 600, "<s></s>", " padded ", "a\u200bb", "修复"],
)
def test_a_title_of_one_line_is_kept_as_it_is(title: str) -> None:
    assert check_note(NewNote(title=title)).title == title


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("", "is empty"),
        (" \t ", "is empty"),
        ("\u200b\ufeff", "is empty"),
        ("x" * (TITLE_CHARS_MAX + 1), "1,024 at most"),
        ("two\nlines", "U+000A at character 3"),
        ("bell\x07", "U+0007"),
        ("nul\x00", "U+0000"),
        ("escape \x1b[31m", "U+001B"),
    ],
)
def test_any_other_title_is_refused(title: str, told: str) -> None:
    assert told in refusals(NewNote(title=title))["note.title"]


def test_a_body_may_be_as_long_as_the_limit_in_bytes() -> None:
    longest = "é" * (BODY_BYTES_MAX // 2)

    assert check_note(NewNote(title="t", body=longest)).body == longest
    assert "1,048,576 at most" in refusals(NewNote(title="t", body=longest + "x"))["note.body"]


def test_a_body_may_hold_any_character_but_nul() -> None:
    body = "".join(chr(code) for code in range(1, 0x300)) + "\u200b\u2028😀"

    assert check_note(NewNote(title="t", body=body)).body == body
    assert "NUL at character 2" in refusals(NewNote(title="t", body="ab\0c"))["note.body"]


def test_keywords_are_trimmed_composed_and_kept_once() -> None:
    note = check_note(NewNote(title="t", keywords=(" caf\u00e9", "cafe\u0301 ", "Caf\u00e9")))

    assert note.keywords == ("caf\u00e9", "Caf\u00e9")


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ((" ",), "is empty"),
        (("x" * (KEYWORD_CHARS_MAX + 1),), "128 at most"),
        (("a\tb",), "U+0009"),
        (tuple(str(number) for number in range(KEYWORDS_MAX + 1)), "64 at most"),
        (("same",) * (KEYWORDS_MAX + 1), "64 at most"),
    ],
)
def test_keywords_beyond_a_limit_are_refused(keywords: tuple[str, ...], told: str) -> None:
    assert told in refusals(NewNote(title="t", keywords=keywords))["note.keywords"]


@pytest.mark.parametrize(
    "scope", ["user", "team:core", "project:github.com/owner/name", "project:/home/me/x y", "plain"]
)
def test_a_scope_is_kept_as_it_is(scope: str) -> None:
    assert check_note(NewNote(title="t", scope=scope)).scope == scope


def test_no_scope_means_user() -> None:
    assert check_note(NewNote(title="t", scope="")).scope == "user"


@pytest.mark.parametrize("scope", [" ", " user", "project:", "team: ", "a\nb", "x" * 1025])
def test_any_other_scope_is_refused(scope: str) -> None:
    assert "note.scope" in refusals(NewNote(title="t", scope=scope))


def test_sources_beyond_a_limit_are_refused() -> None:
    source = Source(kind=SourceKind.FILE, locator="a.py")

    assert (
        "64 at most"
        in refusals(NewNote(title="t", sources=(source,) * (SOURCES_MAX + 1)))["note.sources"]
    )
    empty = Source(kind=SourceKind.FILE, locator=" ")
    assert "empty locator" in refusals(NewNote(title="t", sources=(empty,)))["note.sources"]


def test_validity_must_not_end_before_it_begins() -> None:
    note = NewNote(title="t", valid_from_ms=5, valid_to_ms=5)

    assert refusals(note) == {"note.valid_to_ms": "is not after valid_from_ms"}


def test_every_field_that_is_wrong_is_named_at_once() -> None:
    note = NewNote(title="", body="\0", author="x" * 257, expires_at_ms=2**60)

    assert set(refusals(note)) == {
        "note.title",
        "note.body",
        "note.author",
        "note.expires_at_ms",
    }


def test_a_batch_names_the_note_that_is_wrong() -> None:
    with pytest.raises(BadFieldsError) as refusal:
        check_batch([NewNote(title="fine"), NewNote(title="")])

    assert [each.field for each in refusal.value.violations] == ["notes[1].title"]


@pytest.mark.parametrize("count", [0, BATCH_NOTES_MAX + 1])
def test_a_batch_has_a_size(count: int) -> None:
    with pytest.raises(BadFieldError, match="1 to 256"):
        check_batch([NewNote(title="t")] * count)


def test_a_batch_has_a_size_in_bytes() -> None:
    with pytest.raises(BadFieldError, match="16,777,216 at most"):
        check_batch([NewNote(title="t", body="x" * BODY_BYTES_MAX)] * 17)


@pytest.mark.parametrize("request_id", ["", "x", "1" * 31, "not-a-uuid-at-all-but-thirty-six-ch"])
def test_a_request_id_must_be_a_uuid(request_id: str) -> None:
    with pytest.raises(BadFieldError, match="no UUID"):
        check_request_id(request_id)


def test_a_request_id_has_one_form() -> None:
    one = check_request_id("6F9619FF-8B86-D011-B42D-00CF4FC964FF")

    assert one == check_request_id("6f9619ff8b86d011b42d00cf4fc964ff")


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1025, "\x1b[2J"])
def test_a_reason_must_say_something(reason: str) -> None:
    with pytest.raises(BadFieldError):
        check_reason(reason)


def test_a_read_must_say_where_it_looks() -> None:
    assert check_scopes(ScopeFilter(all=True)).all
    with pytest.raises(BadFieldError, match="names no scope"):
        check_scopes(ScopeFilter())
    with pytest.raises(BadFieldError, match="16 at most"):
        check_scopes(ScopeFilter(scopes=("user",) * 17))
    with pytest.raises(BadFieldError):
        check_scopes(ScopeFilter(scopes=("user", "")))


def test_a_filter_s_keywords_take_the_form_in_which_they_are_stored() -> None:
    assert check_keyword_filter([" cafe\u0301"]) == ("caf\u00e9",)
