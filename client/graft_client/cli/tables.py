"""Tables for a terminal of any width: rows side by side where there is room, else one by one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.table import Table

SHORT_CELLS = 16
"""A column whose longest value is no wider stays on one line: an id, a time, a number."""

LONG_CELLS_MIN = 12
"""Any other column may be as narrow as this before its values are broken to pieces."""

_GAP = 2
_HEIGHT = 25  # of no importance, but without one rich takes 80 columns for a dumb terminal's


def print_table(
    screen: TextIO,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    color: bool,
) -> None:
    """Print *rows*, no line of them wider than *width*; columns that hold nothing are left out."""
    from rich.console import Console  # noqa: PLC0415 - 50 ms that only tables are worth

    filled = [n for n in range(len(headers)) if not rows or any(row[n] for row in rows)]
    headers = [headers[n] for n in filled]
    rows = [[row[n] for n in filled] for row in rows]
    widths = _widths(headers, rows)
    needed = sum(each if each <= SHORT_CELLS else LONG_CELLS_MIN for each in widths)
    fits = needed + _GAP * (len(widths) - 1) <= width
    console = Console(
        file=screen,
        width=width,
        height=_HEIGHT,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
    )
    console.print(_side_by_side(headers, rows, widths) if fits else _one_by_one(headers, rows))


def _widths(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len  # noqa: PLC0415

    return [max(map(cell_len, column)) for column in zip(headers, *rows, strict=True)]


def _side_by_side(
    headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> "Table":
    from rich.text import Text  # noqa: PLC0415

    table = _table(show_header=True)
    for header, width in zip(headers, widths, strict=True):
        table.add_column(header, overflow="fold", no_wrap=width <= SHORT_CELLS)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _one_by_one(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> "Table":
    """Put every value on a line of its own behind its column's name; an empty line ends a row."""
    from rich.text import Text  # noqa: PLC0415

    table = _table(show_header=False)
    table.add_column(style="bold", overflow="fold", max_width=SHORT_CELLS)
    table.add_column(overflow="fold")
    for number, row in enumerate(rows):
        if number:
            table.add_row()
        for header, value in zip(headers, row, strict=True):
            if value:
                table.add_row(Text(header), Text(value))
    return table


def _table(*, show_header: bool) -> "Table":
    from rich.table import Table  # noqa: PLC0415

    return Table(
        box=None,
        pad_edge=False,
        padding=(0, _GAP, 0, 0),
        header_style="bold",
        show_edge=False,
        show_header=show_header,
    )
