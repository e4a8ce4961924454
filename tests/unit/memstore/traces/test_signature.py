"""An error is known again on another machine, and told from those that look like it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.memstore.traces.printed_errors import PRINTED, Printed

from graft_memstore.agreement import EXACT, LOOSE_MIN, agreement, strength
from graft_memstore.signature import SIGNATURES_MAX, Kind, signatures

EVERY_TOOL = pytest.mark.parametrize("printed", PRINTED, ids=[each.tool for each in PRINTED])
NOTE = 7
NOISE = [
    f"2031-05-06T07:08:{number % 60:02}.123Z  INFO loader: read part {number} of 90, all is well"
    for number in range(90)
]


def score(question: str, note: str) -> float:
    held = {each.digest: {NOTE: each.traits} for each in signatures(note, titled=True)}
    return agreement(signatures(question), held).get(NOTE, 0.0)


@EVERY_TOOL
def test_the_same_error_from_another_machine_is_exact_either_way(printed: Printed) -> None:
    assert score(printed.there, printed.here) == EXACT
    assert score(printed.here, printed.there) == EXACT


@EVERY_TOOL
def test_an_error_that_looks_alike_is_not_exact(printed: Printed) -> None:
    assert score(printed.other, printed.here) < EXACT
    assert score(printed.other, printed.there) < EXACT


@EVERY_TOOL
def test_two_hundred_lines_around_an_error_do_not_hide_it(printed: Printed) -> None:
    paste = "\n".join(["Why does the nightly job stop?", *NOISE, printed.there, *NOISE])

    assert score(paste, printed.here) == EXACT


@EVERY_TOOL
def test_windows_line_ends_change_nothing(printed: Printed) -> None:
    assert score(printed.there.replace("\n", "\r\n"), printed.here) == EXACT


@pytest.mark.parametrize(
    "prefix",
    [
        "2031-05-06T07:08:09.1234567Z ",
        "[2031-05-06 07:08:09,123: ERROR/ForkPoolWorker-2] ",
        "May  6 07:08:09 box-7 shopd[4711]: ",
        "07:08:09.123 ",
        "shop-worker-1  | ",
        "#14 33.07 ",
        "[pod/shop-7c9d/app] ",
        "I0506 07:08:09.123456       1 run.go:77] ",
        "> ",
    ],
)
def test_a_prefix_on_every_line_changes_nothing(prefix: str) -> None:
    for printed in PRINTED:
        if "\x1b" in printed.here or printed.tool.startswith(("npm", "docker", "git", "pip")):
            continue
        paste = "\n".join(prefix + line for line in printed.here.split("\n"))

        assert score(paste, printed.here) == EXACT, printed.tool


def test_a_message_cited_in_a_sentence_is_known_again() -> None:
    note = (
        "Ledger export stops at midnight\n"
        "It says `ledger.errors.ClosedBookError: the book of 2031-01 is closed for writing` then."
    )
    paste = 'Traceback (most recent call last):\n  File "/x/post.py", line 3, in post\n'
    paste += "ledger.errors.ClosedBookError: the book of 2031-02 is closed for writing"

    assert score(paste, note) == EXACT


def test_a_title_that_begins_with_the_message_is_a_hint() -> None:
    note = "No tariff for relation north-south found: run the import first\nIt fills the table."
    paste = "ERROR:  No tariff for relation north-south found"

    assert LOOSE_MIN <= score(paste, note) < EXACT


def test_a_type_or_a_code_that_a_note_only_names_is_a_hint() -> None:
    paste = "shop.errors.BasketLockedError: basket 7 belongs to till 3"

    assert strength(score(paste, "BasketLockedError means two tills\nUnlock it.")) == 0.5
    assert strength(score("a.ts(1,2): error TS2742: It cannot be named.", "TS2742 in pnpm")) == 0.5


def test_a_common_type_alone_is_no_hint() -> None:
    assert score("ValueError: no such till", "ValueError everywhere\nAsk Ann.") == 0.0


def test_what_a_failed_build_says_at_its_end_is_no_error_of_its_own() -> None:
    for line in (
        "make: *** [Makefile:9: all] Error 2",
        "##[error]Process completed with exit code 1.",
        "error: could not compile `shop` (lib) due to 1 previous error",
        "npm ERR! A complete log of this run can be found in: /root/.npm/_logs/1.log",
        "collect2: error: ld returned 1 exit status",
        "error: failed to push some refs to 'github.com:a/b.git'",
        'ERROR: process "/bin/sh -c make" did not complete successfully: exit code: 2',
    ):
        assert signatures(line) == (), line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How do I rotate the signing key?",
        "Deploys go out on Tuesdays.\nAnn has the list.",
        "Traceback (most recent call last):",
        "Caused by:",
        "npm ERR! code",
    ],
)
def test_a_text_without_an_error_has_none(text: str) -> None:
    assert signatures(text) == ()


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=400)
PIECES = (
    *("Error: ", "\n", "  at a.b(C.java:1)", "Caused by: ", "\x1b[0m", "\r", "'", "`", '"', "/a/b"),
    *("npm ERR! code E1\n", "Traceback (most recent call last):\n", "error[E1]: x", "\ud800", "\0"),
    *('  File "x", line 1, in f\n', "panicked at ", "thread 'a' ", "goroutine 1\n", "0x", "%", "{"),
)


@given(text=st.one_of(ANY_TEXT, st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
@example(text="\ud800Error: \ud800\ud800 \ud800 x\0y")
def test_any_text_gives_a_bounded_number_of_distinct_signatures(text: str) -> None:
    found = signatures(text)

    assert len(found) <= SIGNATURES_MAX
    assert len({each.digest for each in found}) == len(found)
    assert all(-(2**63) <= each.digest < 2**63 for each in found)
    assert signatures(text) == found


UNITS = (
    *("a", "a.", "a: ", "Error: ", "'", "`", '"', "/a", "\\", "[", "(", "\x1b[", "\x1b]8;;", "0a"),
    *("1.2.", "at a.b(", 'File "', "\n", "\r", "a\r", "a.b.FooError: x y z w\n  at a.B.c(D:1)\n"),
    *("Caused by: a.FooError: x\n", "npm ERR! code EXX\n", "thread 'x' panicked at ", "\\n    at "),
    *('  File "x.py", line 1, in f\n', "Traceback (most recent call last):\n", "imports a: "),
    *("$ a ", 'error="\\', "FAILED! => {", "undefined reference to ", "! [rejected] ", "a | "),
)


@pytest.mark.parametrize("unit", UNITS)
def test_a_mebibyte_of_anything_ends(unit: str) -> None:
    size = 1024 * 1024
    text = (unit * (size // len(unit) + 1))[:size]

    assert len(signatures(f"{text}\nerror: cannot find the till\n{text}")) <= SIGNATURES_MAX


def test_an_error_at_the_end_of_a_mebibyte_is_found() -> None:
    printed = PRINTED[0]
    log = "\n".join(NOISE * 200)

    assert score(f"{log}\n{printed.there}", printed.here) == EXACT
    assert score(printed.there, f"{printed.here}\n{log}") == EXACT


def test_place_and_message_are_told_apart_by_kind() -> None:
    kinds = {each.kind for each in signatures(PRINTED[0].here)}

    assert {Kind.PLACE, Kind.MESSAGE} <= kinds
