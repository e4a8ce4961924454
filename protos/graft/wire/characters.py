"""Which characters nobody sees, which a single line may not hold, and what is no scope."""

import re

# The format characters (category Cf) and the rest of those that Unicode calls ignorable by
# default: zero-width joiners and marks, direction marks, variation selectors, fillers, tags.
_INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_CONTROL = "\x00-\x1f\x7f-\x9f"

INVISIBLE_OR_CONTROL = re.compile(f"[{_INVISIBLE}{_CONTROL}]+")
"""Characters that take no room on a screen."""

_BLANKS = {0x2800: " ", 0x16FE4: " "}
"""Characters that take room and show nothing: a pattern of Braille without dots, a filler."""

NOT_IN_LINE = re.compile(f"[{_CONTROL}\u2028\u2029]")
"""Characters that end a line or drive a terminal."""

NOT_IN_TEXT = re.compile("\x00")
"""NUL: SQLite's own text functions, terminals and C programs stop at it."""

NOT_IN_REASON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but for tab and line feed."""


_EMPTY_SCOPE_KIND = re.compile(r"(project|team):\s*")


def is_scope_shaped(text: str) -> bool:
    """Tell whether *text* names a scope: something to see, no space around it, no kind alone."""
    return not (is_blank(text) or text != text.strip() or _EMPTY_SCOPE_KIND.fullmatch(text))


def is_blank(text: str) -> bool:
    """Tell whether nobody would see anything of *text*."""
    return not INVISIBLE_OR_CONTROL.sub("", text).translate(_BLANKS).strip()
