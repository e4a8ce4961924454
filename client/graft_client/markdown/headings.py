"""What a Markdown file without a title is about: its first heading, else its file's name."""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

LOOKED_AT_CHARS = 64 << 10
"""A heading is looked for in so much of a file's beginning."""

_WORDS = frozenset({"text", "code_inline", "html_inline", "text_special"})
_BREAKS = frozenset({"softbreak", "hardbreak"})


def title_and_body(text: str, name: str) -> tuple[str, str]:
    """Give a title for *text* and what remains of it.

    A heading that the text begins with is not said twice: it goes. Without any heading the title
    is *name*.
    """
    tokens = MarkdownIt("commonmark").parse(text[:LOOKED_AT_CHARS])
    place = next((n for n, each in enumerate(tokens) if _is_heading(each)), None)
    title = "" if place is None else _words(tokens[place + 1].children or ())
    if place is None or not title:
        return name, _without_blank_ends(text)
    lines = text.split("\n")
    begin, end = tokens[place].map or (0, 0)
    if any(line.strip() for line in lines[:begin]):
        return title, _without_blank_ends(text)
    return title, _without_blank_ends("\n".join(lines[end:]))


def _is_heading(token: Token) -> bool:
    """Tell a heading of the file itself from one in a list or a quotation."""
    return token.type == "heading_open" and token.level == 0


def _words(tokens: Sequence[Token]) -> str:
    """Write the words of a heading without its marks."""
    words = (
        " " if each.type in _BREAKS else each.content
        for each in tokens
        if each.type in _BREAKS or each.type in _WORDS
    )
    return "".join(words).strip()


def _without_blank_ends(text: str) -> str:
    lines = text.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    return "\n".join(lines)
