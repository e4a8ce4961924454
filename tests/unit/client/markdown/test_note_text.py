"""What a note's file says, and what is read from files of people."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.client.markdown.notes import note, notes, texts

from graft_client.errors import InputError
from graft_client.limits import BODY_BYTES_MAX, KEYWORDS_MAX, TITLE_CHARS_MAX
from graft_client.markdown.front_matter import join, split
from graft_client.markdown.note_text import read_note, write_note
from graft_client.results import Note, Source

PLAIN = """---
title: {title}
---

body
"""


@settings(deadline=None)
@given(written=notes)
def test_a_note_s_file_reads_back_as_the_note(written: Note) -> None:
    read = read_note(write_note(written), "name")

    found = read.note
    assert (found.title, found.body) == (written.title, written.body)
    assert (found.kind, found.scope, found.author) == (
        *(written.kind, written.scope, written.author),
    )
    assert found.keywords == sorted(written.keywords)
    assert found.applies_to == sorted(written.applies_to)
    assert sorted(map(repr, found.sources)) == sorted(map(repr, written.sources))
    assert (found.valid_from, found.valid_to, found.expires_at) == (
        *(written.valid_from, written.valid_to, written.expires_at),
    )
    assert read.passed_over == ()


@settings(deadline=None)
@given(
    title=st.sampled_from(["no", "3.10", "null", "~", "2026-01-01", "0x1F", "- a", "a: b", "a #1"]),
    body=texts,
)
@example(title="---", body="---\n")
@example(title="\x85\u2028\ufeff", body="\r\n\r\n")
def test_a_title_that_yaml_takes_for_something_else_stays_a_text(title: str, body: str) -> None:
    written = note(title, body)

    for draft in (False, True):
        found = read_note(write_note(written), "name", draft=draft).note

        assert (found.title, found.body) == (title, body)


def test_the_file_is_what_a_person_would_write() -> None:
    written = note(
        "CI needs Node 20",
        "Node 18 lacks fetch.",
        kind="dead-end",
        keywords=("node", "ci"),
        scope="user",
        sources=(
            Source(kind="file", locator="a.py", project="github.com/o/n", fingerprint="git:0"),
            Source(kind="commit", locator="abc"),
        ),
        applies_to=("os:linux",),
    )

    assert write_note(written) == (
        "---\ntitle: CI needs Node 20\nkind: dead-end\nkeywords:\n- ci\n- node\nscope: user\n"
        "sources:\n- commit:abc\n- kind: file\n  locator: a.py\n  project: github.com/o/n\n"
        "  fingerprint: git:0\napplies_to:\n- os:linux\n---\n\nNode 18 lacks fetch.\n"
    )


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# A **bold** `x` [link](y)\n\nrest\n", "A bold x link", "rest"),
        ("\n\nTitle\n=====\nrest\n", "Title", "rest"),
        ("before\n\n## Second ##\n\nrest", "Second", "before\n\n## Second ##\n\nrest"),
        ("```\n# a comment\n```\n\n# Title\n", "Title", "```\n# a comment\n```\n\n# Title"),
        ("> # quoted\n\ntext", "name", "> # quoted\n\ntext"),
        ("- # in a list\n", "name", "- # in a list"),
        ("#\n\ntext", "name", "#\n\ntext"),
        ("no heading\n", "name", "no heading"),
        ("\ufeff# Windows\r\n\r\na\r\nb\r\n", "Windows", "a\nb"),
        ("---\n\na rule\n\n---\n\nand text", "name", "---\n\na rule\n\n---\n\nand text"),
        ("---\nnever closed: x\n", "name", "---\nnever closed: x"),
        ("---\ntags: a, b\n...\n# Title\ntext", "Title", "text"),
        ("---\r\ntitle: T\r\n---\r\na\r\nb\r\n", "T", "a\nb"),
    ],
)
def test_a_file_of_somebody_is_called_by_its_heading_or_its_name(
    text: str, title: str, body: str
) -> None:
    found = read_note(text, "name").note

    assert (found.title, found.body) == (title, body)


def test_a_head_of_another_program_is_read_as_far_as_a_note_has_it() -> None:
    text = (
        "---\ntitle: T\ntags: [a, '#b', a]\nkeywords: c, d\nlayout: post\nauthor:\ndate: 2024\n"
        "valid_from: 2026-01-31T09:30:00+09:00\nsources: url:https://x\nsupersedes: '00000000'\n"
        "---\nbody"
    )

    read = read_note(text, "name")

    assert read.note.keywords == ["c", "d", "a", "b"]
    assert [each.locator for each in read.note.sources] == ["https://x"]
    assert read.note.valid_from is not None
    assert (read.note.author, read.note.supersedes) == ("", "")
    assert read.passed_over == ("layout", "date", "supersedes")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("title: a: b", "line 2: the front matter is no YAML: mapping values"),
        ("title: [a]", "line 2: title must be one text"),
        ("a: 1\ntitle: T\na: 2", "line 4: a is there twice"),
        ("title: T\nkind: poem", "line 3: kind is 'poem'"),
        ("title: T\nvalid_to: 2026-01-01", "line 3: valid_to cannot be meant: '2026-01-01' is a"),
        ("title: T\nsources: [x]", "line 3: sources cannot be meant: 'x' is no source"),
        ("title: T\nsources: [{locator: x}]", "a source has kind and locator"),
        ("title: T\nkeywords: [{a: b}]", "line 3: keywords must be texts"),
        ("title: T\nkeywords: [[a]]", "line 3: keywords must be a text, or a list of texts"),
        ("? [a]\n: b", "line 2: a name of a field must be a text"),
        ("title: \x07", "the front matter is no YAML: unacceptable character"),
        ("a: " + "[" * 5_000, "the front matter is no YAML"),
        ("title: *a", "line 2: the front matter is no YAML: found undefined alias"),
    ],
)
def test_a_head_that_cannot_be_meant_is_refused_by_its_line(head: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        read_note(f"---\n{head}\n---\nbody", "name")

    assert words in refused.value.message


def test_a_head_that_does_not_end_is_refused_where_it_is_long_or_a_draft_s() -> None:
    with pytest.raises(InputError, match="no end within 262,144 characters"):
        read_note("---\n" + "a rule, and text\n" * 20_000, "name")
    with pytest.raises(InputError, match="put a line of --- above the note's text"):
        read_note("---\ntitle: T\nsources:\n-\n\ntext", "name", draft=True)


def test_values_that_refer_to_one_another_do_not_grow() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in ("ab", "bc", "cd"))

    with pytest.raises(InputError, match="b must be a text"):
        read_note(f"---\n{bomb}---\n", "name")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PLAIN.format(title="x" * (TITLE_CHARS_MAX + 1)), "1,025 characters, 1,024 at most"),
        ("x" * (BODY_BYTES_MAX + 1), "1,048,577 bytes, 1,048,576 at most"),
        (f"---\ntags: [{','.join('k' + str(n) for n in range(KEYWORDS_MAX + 1))}]\n---\n", "65"),
    ],
)
def test_what_is_too_long_is_refused_with_the_limit(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_note(text, "name")


def test_a_draft_s_title_is_taken_as_it_was_typed() -> None:
    typed = "pip: fails # with certificates"

    assert read_note(PLAIN.format(title=typed), "name", draft=True).note.title == typed
    assert read_note(PLAIN.format(title="'quoted: title'"), "n", draft=True).note.title == (
        "quoted: title"
    )


def test_a_draft_may_correct_a_note_and_knows_no_other_fields() -> None:
    draft = read_note("---\ntitle: T\nsupersedes: abc\nreason: R\n---\n", "n", draft=True).note

    assert (draft.supersedes, draft.reason, draft.title) == ("abc", "R", "T")
    with pytest.raises(InputError, match="line 3: keyword is no field of a note; the fields are"):
        read_note("---\ntitle: T\nkeyword: x\n---\n", "n", draft=True)


@given(head=st.dictionaries(texts, texts, min_size=1, max_size=3), body=texts)
@settings(deadline=None)
def test_what_was_put_together_is_taken_apart(head: dict[str, str], body: str) -> None:
    parts = split(join(head, body, remarks=["a remark: with [signs"]))

    assert {name: each.value for name, each in parts.fields.items()} == head
    assert (parts.body, parts.has_head) == (body, True)
