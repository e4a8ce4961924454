"""A note as a person reads it: its Markdown as it stands, or set for a terminal."""

from io import StringIO

from graft_client.cli.output import Output, Style, printable
from graft_client.cli.words import write_facts
from graft_client.results import Note

RENDERED_CHARS_MAX = 128 << 10
"""A longer body is shown as it stands: setting it would keep its reader waiting for seconds."""

WIDTH_MAX = 100
_INDENT = " " * 4
_MARGIN = (0, 0, 0, len(_INDENT))
_CODE_THEME = "ansi_dark"  # the terminal's own colours


def markdown_of(note: Note) -> str:
    """Give title and body as Markdown, to the letter."""
    end = "" if not note.body or note.body.endswith("\n") else "\n"
    return f"# {note.title}\n" + (f"\n{note.body}{end}" if note.body else "")


def render(note: Note, *, columns: int, color: bool) -> str:
    """Set a note for a terminal: what it says is set in, and nothing of it steers the terminal."""
    # 100 ms that nothing else is worth.
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    screen = StringIO()
    console = Console(
        file=screen,
        width=min(columns, WIDTH_MAX),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(Padding(Text(printable(note.title), style="bold"), _MARGIN))
    console.print(Text(_facts(note), style="dim"), end="")
    if note.body:
        body = printable(note.body, multiline=True)
        console.print()
        if len(body) > RENDERED_CHARS_MAX:
            screen.writelines(f"{_INDENT}{line}\n" for line in body.split("\n"))
        else:
            # A link's address is shown, not hidden behind its words.
            markdown = Markdown(body, code_theme=_CODE_THEME, hyperlinks=False)
            console.print(Padding(markdown, _MARGIN))
    return screen.getvalue()


def _facts(note: Note) -> str:
    lines = StringIO()
    write_facts(Output(Style(), data=lines), note)
    return lines.getvalue()
