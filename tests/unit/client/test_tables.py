"""Tables: whatever stands in them, no line is wider than the terminal, and nothing is lost."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from graft_client.cli.output import printable
from graft_client.cli.tables import print_table

HEADERS = ("id", "saved", "scope", "title")
ROW = ("7f3a9c21", "2026-12-03 06:40", "project:github.com/owner/name", "the quay crane is loud")

cells = st.text(max_size=30).map(printable)


def shown(headers: tuple[str, ...], rows: list[tuple[str, ...]], width: int) -> list[str]:
    screen = io.StringIO()
    print_table(screen, headers, rows, width=width, color=False)
    return screen.getvalue().split("\n")


@settings(deadline=None)
@given(
    rows=st.integers(1, 6).flatmap(
        lambda columns: st.lists(st.tuples(*[cells] * columns), min_size=1, max_size=4)
    ),
    width=st.integers(20, 60),
)
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, ...]], width: int) -> None:
    headers = tuple(f"column {n}" for n in range(len(rows[0])))

    lines = shown(headers, rows, width)

    assert max(map(cell_len, lines)) <= width


def test_where_there_is_room_rows_stand_side_by_side() -> None:
    lines = [line.rstrip() for line in shown(HEADERS, [ROW], 100)]

    assert lines == [
        "id        saved             scope                          title",
        "7f3a9c21  2026-12-03 06:40  project:github.com/owner/name  the quay crane is loud",
        "",
    ]


def test_where_there_is_none_every_value_has_its_line_and_ids_stay_whole() -> None:
    lines = [line.rstrip() for line in shown(HEADERS, [ROW, ROW], 30)]

    assert lines[:6] == [
        "id     7f3a9c21",
        "saved  2026-12-03 06:40",
        "scope  project:github.com/owne",
        "       r/name",
        "title  the quay crane is loud",
        "",
    ]
    assert lines[6:11] == lines[:5]


def test_a_column_that_holds_nothing_is_left_out() -> None:
    lines = shown((*HEADERS, "applies to"), [(*ROW, "")], 100)

    assert "applies to" not in lines[0]
    assert shown(("a", "b"), [], 40)[0].rstrip() == "a  b"
