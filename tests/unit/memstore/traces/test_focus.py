"""The telling part of a paste: what failed, and what the person wrote about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.memstore.traces.printed_errors import PRINTED, Printed

from graft_memstore.signature import focus, signatures, understand

NOISE = [
    f"2031-05-06T07:08:{number % 60:02}.123Z  INFO loader: read part {number} of 90, all is well"
    for number in range(90)
]
RAISED = """Traceback (most recent call last):
  File "/srv/shop/night.py", line 14, in close_day
    ledger.close(day)
  File "/usr/lib/python3.12/site-packages/ledger/book.py", line 88, in close
    raise ClosedBookError("the book is closed for writing")
ledger.errors.ClosedBookError: the book is closed for writing"""


def paste(*parts: str) -> str:
    return "\n".join([*NOISE, *parts, *NOISE])


def test_a_long_paste_comes_down_to_its_error_and_where_it_arose() -> None:
    assert focus(paste(RAISED)) == (
        "ClosedBookError: the book is closed for writing in night.close_day"
    )


def test_what_the_person_wrote_before_and_behind_it_stays_and_comes_first() -> None:
    before = "Since the move to the new server the day is not closed any more."
    text = f"{before}\n\n{paste(RAISED)}\n\nWas soll ich jetzt tun?"

    assert focus(text).split("\n") == [
        "Since the move to the new server the day is not closed any more.",
        "Was soll ich jetzt tun?",
        "ClosedBookError: the book is closed for writing in night.close_day",
    ]


def test_the_command_that_led_to_the_error_stays() -> None:
    text = paste("ann@box7:~/shop$ ./close-day --force", RAISED)

    assert focus(text).split("\n")[-1] == "./close-day --force"


def test_hashes_and_addresses_are_left_out() -> None:
    told = focus(paste("error: object 5e0b3c7d3b8b7a1e0f2c9d4a at 0x7ffe12345678 cannot be read"))

    assert told == "object at cannot be read"


def test_of_chained_errors_the_cause_comes_first() -> None:
    text = paste(
        "java.lang.IllegalStateException: cannot start the shop",
        "\tat com.acme.shop.Main.start(Main.java:9)",
        "Caused by: com.acme.till.JammedException: drawer seven is stuck",
        "\tat com.acme.till.Drawer.open(Drawer.java:40)",
        "\t... 3 more",
    )

    assert focus(text).split("\n")[0] == "JammedException: drawer seven is stuck in Drawer.open"


def test_lines_next_to_the_error_of_a_short_paste_stay() -> None:
    text = (
        "From root@box7 Sun Oct 12 04:15:01 2031\n"
        "Subject: Cron <root@box7> sh /usr/local/sbin/close-day.sh\n\n"
        "/usr/local/sbin/close-day.sh: 22: [[: not found\n"
        "/usr/local/sbin/close-day.sh: 31: [[: not found\n"
        "12 files were left where they are because none of them could be read by anybody\n"
        "the next run is at 04:15 and will take them along, as it does on every other day"
    )

    assert "Subject: Cron <root@box7> sh /usr/local/sbin/close-day.sh" in focus(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Why is the day not closed?",
        "x" * 70_000,
        "\n".join(NOISE),
        "How do I keep `git push` from failing with non-fast-forward when two people push?",
        "error: externally-managed-environment",
        "Il deploy fallisce sempre di lunedì. " * 40,
    ],
)
def test_a_text_without_an_error_or_with_little_else_is_its_own_focus(text: str) -> None:
    assert focus(text) == text


@pytest.mark.parametrize("printed", PRINTED, ids=[each.tool for each in PRINTED])
def test_two_hundred_lines_of_noise_leave_no_word_in_the_focus(printed: Printed) -> None:
    told = focus(paste(printed.there))

    assert "all is well" not in told
    assert told


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=600))
def test_any_text_has_a_focus_that_is_no_longer(text: str) -> None:
    assert len(focus(text)) <= len(text)


def test_focus_and_signatures_of_one_reading_are_those_of_two() -> None:
    text = paste(RAISED)

    understood = understand(text)

    assert (understood.focus, understood.signatures) == (focus(text), signatures(text))
