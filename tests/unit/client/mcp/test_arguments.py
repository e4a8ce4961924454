"""What agents give: read where it can be meant, refused clearly where it cannot."""

from collections.abc import Callable

import pytest

from graft_client.errors import InputError
from graft_client.mcp.arguments import Arguments


def given(value: object) -> Arguments:
    return Arguments({"it": value}, ("it",))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (["a", "b"], ("a", "b")),
        ('["a","b"]', ("a", "b")),
        ("a", ("a",)),
        ("[draft] a", ("[draft] a",)),
        ("", ()),
        (None, ()),
        ([], ()),
    ],
)
def test_a_list_is_read_however_it_comes(value: object, read: tuple[str, ...]) -> None:
    assert given(value).texts("it") == read


@pytest.mark.parametrize("value", [[42], "[42]", 42, {"a": 1}, True, [["a"]], '["a", null]'])
def test_what_is_no_list_of_texts_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="give a list of texts"):
        given(value).texts("it")


@pytest.mark.parametrize(("value", "read"), [(5, 5), ("6", 6), (3.0, 3), ("4.0", 4), (None, 7)])
def test_a_number_is_read_as_text_too(value: object, read: int) -> None:
    assert given(value).number("it", 7, 10) == read


@pytest.mark.parametrize("value", [11, -1, 1.5, "many", "nan", "1e400", True, [5], 2**70])
def test_what_is_no_number_here_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="it is"):
        given(value).number("it", 7, 10)


@pytest.mark.parametrize(
    ("value", "read"), [(True, True), ("true", True), ("False", False), (1, True), (None, False)]
)
def test_a_flag_is_read_as_text_too(value: object, read: bool) -> None:
    assert given(value).flag("it") is read


def test_what_cannot_be_meant_is_refused() -> None:
    reads: list[Callable[[], object]] = [
        lambda: given("perhaps").flag("it"),
        lambda: given([True]).flag("it"),
        lambda: given({"a": 1}).text("it"),
        lambda: given(None).text("it"),
        lambda: given("c").choice("it", ("a", "b")),
        lambda: Arguments({"titel": "x"}, ("title",)),
    ]
    for read in reads:
        with pytest.raises(InputError):
            read()


def test_a_number_may_stand_for_a_text() -> None:
    assert given(6432).text("it") == "6432"
